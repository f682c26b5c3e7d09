/** Whole lives of jobs with the writes, in memory and without threads: created, handed out, completed. */
import { type Command, DEFAULT_RETENTION } from '@millrace/core'
import { openStore } from '@millrace/sqlite'
import { JOBS, makeTurns } from './turns.ts'

const RETENTION = { ...DEFAULT_RETENTION, completed: { ageMs: 0, count: 0 } }
export const JOB = { name: 'noop', data: '{"n":1}' }

/** Takes turns until everything has completed. `before`: what the engine is told first. */
export function makeLives(...before: readonly Command[]): (command: Command) => void {
  const { tables, take } = makeTurns(
    (now) => openStore({ file: ':memory:', durability: 'normal', random: () => 0.5, now, host: 'here', pid: 1 }),
    RETENTION,
  )
  take(before)
  return (command) => {
    let completed = 0
    for (let mail = [command]; completed < JOBS; ) {
      const { grants } = take(mail)
      completed += grants.length
      mail = grants.map(({ seq, run }): Command => ({ op: 'complete', seq, run, output: null }))
    }
    while (tables.running().length > 0 || tables.flowWork)
      take(tables.running().map(({ seq, run }) => ({ op: 'complete', seq, run, output: null })))
  }
}
