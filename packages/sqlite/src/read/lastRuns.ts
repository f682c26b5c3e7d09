/** Reads the last run of each job of a page, with one statement for all of them. */
import { LIMITS } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import { type RawLast, withLastRuns } from '@millrace/sql'
import type { Database } from '../driver.ts'

export type WithLastRuns = (rows: readonly JobRow[]) => JobRow[]

export function prepareWithLastRuns(db: Database): WithLastRuns {
  const last = db
    .prepare(
      `SELECT job.seq, session.worker, attempt.run, attempt.started_at, ended_at, attempt.worker, error_name,
  substr(error_message, 1, ${LIMITS.lastErrorLength})
FROM json_each(?) AS wanted CROSS JOIN job ON job.seq = wanted.value
LEFT JOIN session ON job.state IN (2, 4) AND session.id = job.session
LEFT JOIN attempt ON job.state NOT IN (2, 4) AND attempt.seq = job.seq
  AND attempt.run = (SELECT max(each.run) FROM attempt AS each WHERE each.seq = job.seq)`,
    )
    .raw()
  return (rows) => withLastRuns(rows, last.all(JSON.stringify(rows.map(({ seq }) => seq))) as RawLast[])
}
