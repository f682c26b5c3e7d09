/** What does it cost that jobs wait for one another? Their whole lives with the writes, in memory: created, handed out, completed. */

import {
  type Command,
  type CommandOf,
  DEFAULT_RETENTION,
  decide,
  dispatch,
  Effects,
  elapse,
  gather,
  loadTables,
  type Settings,
  tellChildren,
} from '@millrace/core'
import { systemCalendar } from '@millrace/engine'
import { openStore } from '@millrace/sqlite'
import type { Bench } from 'tinybench'
import { attaching } from './decisions.ts'

const JOBS = 200
const KEEP_NONE = { ageMs: 0, count: 0 }
const SETTINGS: Settings = { recovery: 'immediate', retention: { ...DEFAULT_RETENTION, completed: KEEP_NONE }, calendar: systemCalendar }
const JOB = { name: 'noop', data: '{"n":1}' }

export function flows(bench: Bench): void {
  const plain: Command = { op: 'enqueue', jobs: Array.from({ length: JOBS }, () => JOB) }
  const chain = flowOf((place) => (place === 0 ? [] : [place - 1]))
  const fan = flowOf((place) => (place === 0 ? [] : [0]))
  const batch = flowOf((place) => (place === JOBS - 1 ? Array.from({ length: JOBS - 1 }, (_, parent) => parent) : []))
  const live = makeEngine()
  bench.add(`${JOBS} plain jobs`, () => live(plain))
  bench.add(`${JOBS} jobs: one, and the others once that has ended`, () => live(fan))
  bench.add(`${JOBS} jobs: a batch with its callback`, () => live(batch))
  bench.add(`${JOBS} jobs: each after the one before`, () => live(chain))
}

function flowOf(parents: (place: number) => readonly number[]): CommandOf<'flow'> {
  const nodes = Array.from({ length: JOBS }, (_, place) => ({
    ref: `${place}`,
    job: JOB,
    parents: parents(place),
    onFailure: 'continue' as const,
  }))
  return { op: 'flow', nodes }
}

/** Takes turns until everything has completed. */
function makeEngine(): (command: Command) => void {
  const now = { wall: 1_795_000_000_000, mono: 1_000 }
  const store = openStore({ file: ':memory:', durability: 'normal', random: () => 0.5, now: now.wall, host: 'here', pid: 1 })
  const tables = loadTables(store, new Set(), now)
  const turn = (commands: readonly Command[]): Effects => {
    const effects = new Effects(now.wall)
    const requests = commands.map((command, id) => ({ id, command }))
    const facts = gather(store, tables, requests, now, undefined)
    const context = { tables, facts, effects, now, random: () => 0.5, settings: SETTINGS, refusing: undefined }
    tellChildren(context)
    for (const { id, command } of requests) decide(context, command, { connection: 1, request: id })
    elapse(context)
    dispatch(context)
    tables.nextEvent += effects.events.length
    const { nextSeq, nextEvent, nextSession } = tables
    const running = () => tables.running().map(({ seq }) => seq)
    if (!effects.empty) store.write(effects, { at: now.wall, mono: now.mono, nextSeq, nextEvent, nextSession, running })
    effects.clear()
    for (const granted of effects.grants) granted.data = undefined
    return effects
  }
  turn([attaching()])
  return (command) => {
    let completed = 0
    for (let mail = [command]; completed < JOBS; ) {
      const { grants } = turn(mail)
      completed += grants.length
      mail = grants.map(({ seq, run }): Command => ({ op: 'complete', seq, run, output: null }))
    }
    while (tables.running().length > 0 || tables.flowWork)
      turn(tables.running().map(({ seq, run }) => ({ op: 'complete', seq, run, output: null })))
  }
}
