/** Reads what time alone triggers: jobs that become due or expire, and when the next one does. */
import type { Deadlines, JobRow } from '@millrace/core/kernel'
import { ROW_COLUMNS } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { readBounded } from './bounded.ts'
import { prepareFireAt } from './schedules.ts'

/** The limit for one slice's payloads; the next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export type ReadTimed = (at: number, limit: number) => JobRow[]

export function prepareDue(db: Database): ReadTimed {
  const statement = db.prepare(`SELECT ${ROW_COLUMNS} FROM job WHERE job.state = 0 AND job.run_at <= ? ORDER BY job.run_at, job.seq`).raw()
  return (at, limit) => readBounded(statement, [at], limit, SLICE_BYTES).rows
}

export function prepareExpired(db: Database): ReadTimed {
  const statement = db
    .prepare(
      `SELECT ${ROW_COLUMNS} FROM job WHERE job.state IN (0, 1, 3) AND job.expires_at IS NOT NULL AND job.expires_at <= ? ORDER BY job.expires_at, job.seq`,
    )
    .raw()
  return (at, limit) => readBounded(statement, [at], limit, SLICE_BYTES).rows
}

export function prepareDeadlines(db: Database): () => Deadlines {
  const fireAt = prepareFireAt(db)
  const statement = db
    .prepare(
      `SELECT (SELECT min(run_at) FROM job WHERE state = 0),
(SELECT min(expires_at) FROM job WHERE state IN (0, 1, 3) AND expires_at IS NOT NULL)`,
    )
    .raw()
  return () => {
    const [dueAt, expiresAt] = statement.get() as [number | null, number | null]
    return { dueAt: dueAt ?? 0, expiresAt: expiresAt ?? 0, ...fireAt() }
  }
}
