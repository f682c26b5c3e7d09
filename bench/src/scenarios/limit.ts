/**
 * The limit: what a hand-written better-sqlite3 loop does that inserts a job, sets it running and sets it done, row by row, in
 * transactions of 1,000, with nothing else: no index, no queue, no fences, no answers to anybody.
 */
import Database from 'better-sqlite3'
import { PAYLOAD } from '../payload.ts'
import type { Scenario } from '../scenario.ts'

const BATCH = 1_000

export const limit: Scenario = async ({ file, durability, jobs }) => {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  db.exec(
    'CREATE TABLE job (id INTEGER PRIMARY KEY, name TEXT, state INTEGER, run INTEGER, enqueued_at INTEGER, started_at INTEGER, finished_at INTEGER, data TEXT)',
  )
  const insert = db.prepare('INSERT INTO job (id, name, state, run, enqueued_at, data) VALUES (?, ?, 0, 0, ?, ?)')
  const start = db.prepare('UPDATE job SET state = 1, run = run + 1, started_at = ? WHERE id = ?')
  const finish = db.prepare('UPDATE job SET state = 2, finished_at = ? WHERE id = ? AND run = 1')
  const begin = performance.now()
  for (let first = 1; first <= jobs; first += BATCH) {
    const last = Math.min(first + BATCH - 1, jobs)
    const each = (work: (id: number) => void) =>
      db.transaction(() => {
        for (let id = first; id <= last; id++) work(id)
      })()
    each((id) => insert.run(id, 'noop', Date.now(), JSON.stringify(PAYLOAD)))
    each((id) => start.run(Date.now(), id))
    each((id) => finish.run(Date.now(), id))
  }
  const seconds = (performance.now() - begin) / 1_000
  const done = db.prepare('SELECT count(*) FROM job WHERE state = 2').pluck().get()
  if (done !== jobs) throw new Error(`the limit finished ${String(done)} of ${jobs} jobs`)
  db.close()
  return { jobsPerSecond: jobs / seconds }
}
