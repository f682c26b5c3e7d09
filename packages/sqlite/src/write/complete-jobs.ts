/** Runs that ended well, and nothing else about their jobs. 50 rows at a time 400k rows per second, one by one 210k. */
import type { Job } from '@millrace/core'
import type { Database } from '../driver.ts'
import { prepareLadder } from '../ladder.ts'
import { expectChanges } from './expect.ts'

export function prepareCompleteJobs(db: Database): (jobs: readonly Job[], at: number) => void {
  const ladder = prepareLadder<Job>(db, {
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
  return (jobs, at) => {
    if (jobs.length > 0) expectChanges('complete jobs', ladder.run(jobs, [at]), jobs.length)
  }
}
