/** Whole lives of jobs with the writes, in memory and without threads: created, handed out, completed. */
import {
  type Command,
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
import { attaching } from './decisions.ts'

export const JOBS = 200
const KEEP_NONE = { ageMs: 0, count: 0 }
const SETTINGS: Settings = { recovery: 'immediate', retention: { ...DEFAULT_RETENTION, completed: KEEP_NONE }, calendar: systemCalendar }
export const JOB = { name: 'noop', data: '{"n":1}' }

/** Takes turns until everything has completed. `before`: what the engine is told first. */
export function makeEngine(...before: readonly Command[]): (command: Command) => void {
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
  turn([attaching(), ...before])
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
