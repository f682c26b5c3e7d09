/** Runs that ended well, and nothing else about their jobs: most without an output, which makes them alike but for the row number. */
import type { Job } from '@millrace/core'
import type { Database } from '../driver.ts'
import { prepareLadder } from '../ladder.ts'
import { expectChanges } from './expect.ts'

export function prepareCompleteJobs(db: Database): (silent: readonly Job[], withOutput: readonly Job[], at: number) => void {
  const silently = prepareLadder<Job>(db, {
    sql: (seqs) => `UPDATE job SET state = 4, finished_at = ?, output = NULL WHERE job.seq IN (${seqs}) AND +job.state = 2`,
    shared: 1,
    width: 1,
    bind: (job, values, place) => {
      values[place] = job.seq
    },
  })
  const saying = prepareLadder<Job>(db, {
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
    if (silent.length > 0) expectChanges('complete jobs', silently.run(silent, [at]), silent.length)
    if (withOutput.length > 0) expectChanges('complete jobs with outputs', saying.run(withOutput, [at]), withOutput.length)
  }
}
