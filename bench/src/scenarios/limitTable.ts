/** The table of the limit: what a hand-written better-sqlite3 loop needs of a job. */
import Database from 'better-sqlite3'
import type { Durability } from '../measurement.ts'

/** Jobs per transaction. */
export const BATCH = 1_000

const TABLE = `CREATE TABLE job (
  id INTEGER PRIMARY KEY, name TEXT, state INTEGER, priority INTEGER, run_at INTEGER, run INTEGER,
  enqueued_at INTEGER, started_at INTEGER, finished_at INTEGER, data TEXT)`

export interface LimitTable {
  readonly db: Database.Database
  /** Calls `work` for 1 to `jobs`, in transactions of `BATCH`. */
  batches(jobs: number, work: (first: number, last: number) => void): void
  transaction(first: number, last: number, work: (id: number) => void): void
  /** Holds that so many jobs are in that state, and closes. */
  close(state: number, jobs: number): void
}

export function openLimitTable(file: string, durability: Durability, waitingIndex: boolean): LimitTable {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  db.exec(TABLE)
  if (waitingIndex) db.exec('CREATE INDEX job_waiting ON job (name, priority, run_at) WHERE state = 0')
  return {
    db,
    batches: (jobs, work) => {
      for (let first = 1; first <= jobs; first += BATCH) work(first, Math.min(first + BATCH - 1, jobs))
    },
    transaction: (first, last, work) =>
      db.transaction(() => {
        for (let id = first; id <= last; id++) work(id)
      })(),
    close: (state, jobs) => {
      const found = db.prepare('SELECT count(*) FROM job WHERE state = ?').pluck().get(state)
      if (found !== jobs) throw new Error(`the limit brought ${String(found)} of ${jobs} jobs to state ${state}`)
      db.close()
    },
  }
}

export function prepareInsert(db: Database.Database): (id: number, data: string) => void {
  const insert = db.prepare('INSERT INTO job (id, name, state, priority, run_at, run, enqueued_at, data) VALUES (?, ?, 0, 0, ?, 0, ?, ?)')
  return (id, data) => {
    const now = Date.now()
    insert.run(id, 'noop', now, now, data)
  }
}
