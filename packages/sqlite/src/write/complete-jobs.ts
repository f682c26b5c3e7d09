/** Writes runs that ended well and changed nothing else about their jobs. Most have no output, so they differ only in the row number. */
import type { Job } from '@millrace/core/kernel'
import { prepareBatched } from '../batchedStatement.ts'
import { prepareByRow } from '../by-row.ts'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareCompleteJobs(db: Database): (silent: readonly Job[], withOutput: readonly Job[], at: number) => void {
  const silently = prepareByRow(db, (rows) => `UPDATE job SET state = 4, finished_at = ?, output = NULL WHERE +state = 2 AND ${rows}`, 1)
  const saying = prepareBatched<Job>(db, {
    sql: (values) => `WITH shared (at) AS (SELECT ?)
UPDATE job SET state = 4, finished_at = at, output = completed.column2
FROM shared, (VALUES ${values}) AS completed
WHERE job.seq = completed.column1 AND +job.state = 2`,
    shared: 1,
    width: 2,
    bind: (job, values, place) => {
      values[place] = job.seq
      values[place + 1] = job.output
    },
  })
  return (silent, withOutput, at) => {
    const seqs = silent.map((job) => job.seq)
    if (seqs.length > 0) expectChanges('complete jobs', silently.run(seqs, [at]), seqs.length)
    if (withOutput.length > 0) expectChanges('complete jobs with outputs', saying.run(withOutput, [at]), withOutput.length)
  }
}
