/** Turns as the actor takes them, over any store and without threads. */
import {
  type Command,
  decide,
  dispatch,
  Effects,
  elapse,
  gather,
  loadTables,
  type Request,
  type Retention,
  type Store,
  type Tables,
  tellChildren,
} from '@millrace/core'
import { systemCalendar } from '@millrace/engine/internal'

export const JOBS = 200
const NOW = { wall: 1_795_000_000_000, mono: 1_000 }

export interface Turns {
  readonly tables: Tables
  take(commands: readonly Command[]): Effects
}

/** A worker for `JOBS` jobs at once is there already. */
export function makeTurns(openStore: (now: number) => Store, retention: Retention): Turns {
  const store = openStore(NOW.wall)
  const tables = loadTables(store, new Set(), NOW)
  const settings = { recovery: 'immediate', retention, calendar: systemCalendar } as const
  const take = (commands: readonly Command[]): Effects => {
    const effects = new Effects(NOW.wall)
    const requests = commands.map((command, id): Request => ({ id, command }))
    const facts = gather(store, tables, requests, NOW, undefined)
    const turn = { tables, facts, effects, now: NOW, heardMono: NOW.mono, random: () => 0.5, settings, refusing: undefined }
    tellChildren(turn)
    for (const { id, command } of requests) decide(turn, command, { connection: 1, request: id })
    elapse(turn)
    dispatch(turn)
    tables.nextEvent += effects.events.length
    const { nextSeq, nextEvent, nextSession } = tables
    const running = () => tables.running().map(({ seq }) => seq)
    if (!effects.empty) store.write(effects, { at: NOW.wall, mono: NOW.mono, nextSeq, nextEvent, nextSession, running })
    effects.clear()
    for (const granted of effects.grants) granted.data = undefined
    return effects
  }
  take([attaching()])
  return { tables, take }
}

function attaching(): Command {
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
