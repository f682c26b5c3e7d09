/** What does it cost to decide the life of a job (enqueued, handed out, completed), without disk or threads? */
import {
  type Command,
  DEFAULT_RETENTION,
  decide,
  dispatch,
  Effects,
  elapse,
  encodeData,
  gather,
  loadTables,
  mayMove,
  newJobFrom,
  type Request,
  type Settings,
  tellChildren,
} from '@millrace/core'
import { systemCalendar } from '@millrace/engine'
import type { Bench } from 'tinybench'
import { payloadOf } from '../payload.ts'
import { emptyStore } from './emptyStore.ts'

const MAX_BYTES = 2 ** 20
const JOBS = 200
const SETTINGS: Settings = { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar }

export function decisions(bench: Bench): void {
  bench.add('a transition held against the lifecycle', () => void mayMove('complete', 2, 4))

  const turn = makeTurns()
  turn([attaching()])
  const job = newJobFrom('noop', encodeData('data', payloadOf(1), MAX_BYTES), undefined, undefined)
  const enqueues = Array.from({ length: JOBS }, (): Command => ({ op: 'enqueue', jobs: [job] }))
  bench.add(`${JOBS} jobs: a turn that enqueues and hands out, one that completes`, () => {
    const granted = turn(enqueues).grants
    if (granted.length !== JOBS) throw new Error(`${granted.length} of ${JOBS} jobs were handed out`)
    turn(granted.map(({ seq, run }): Command => ({ op: 'complete', seq, run, output: null })))
  })
}

/** As the actor takes them. */
function makeTurns(): (commands: readonly Command[]) => Effects {
  const now = { wall: 1_795_000_000_000, mono: 1_000 }
  const tables = loadTables(emptyStore, new Set(), now)
  return (commands) => {
    const effects = new Effects(now.wall)
    const requests = commands.map((command, id): Request => ({ id, command }))
    const facts = gather(emptyStore, tables, requests, now, undefined)
    const turn = { tables, facts, effects, now, random: () => 0.5, settings: SETTINGS, refusing: undefined }
    tellChildren(turn)
    for (const { id, command } of requests) decide(turn, command, { connection: 1, request: id })
    elapse(turn)
    dispatch(turn)
    tables.nextEvent += effects.events.length
    effects.clear()
    for (const granted of effects.grants) granted.data = undefined
    return effects
  }
}

export function attaching(): Command {
  return {
    op: 'attach',
    session: {
      uuid: 'bench',
      worker: 'bench',
      host: 'here',
      pid: 1,
      local: true,
      handlers: [{ name: 'noop', defaults: {} }],
      minConcurrency: JOBS,
      maxConcurrency: JOBS,
      abortGrace: 30_000,
    },
    held: [],
  }
}
