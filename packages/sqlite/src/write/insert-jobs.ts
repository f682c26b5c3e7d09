/** Creates the rows of new jobs, in their state at the end of the turn. */
import type { Job } from '@millrace/core/kernel'
import { dataOf, extrasText, orNull, ROW_WIDTH, type SortedJobs, type SqlValue } from '@millrace/sql'
import { type BatchedStatement, prepareBatched } from '../batchedStatement.ts'
import type { Database } from '../driver.ts'
import { bindJob, JOB_COLUMNS } from '../tables/job.ts'
import { expectChanges } from './expect.ts'

/** The columns of a job with the usual settings: all others are NULL. */
const PLAIN_COLUMNS = 'seq, node, lane, state, rank, weight, run_at, run, uncounted, enqueued_at, cancel_requested, data'
/** The columns that keys, tags, a ttl and the like add. */
const KEYED_COLUMNS = 'policy, extras, expires_at'

/**
 * `node` is the file's own, and not a bound value. The turn's time is bound once for each row: a value that all rows share would
 * need a join, which took a tenth of the insert of 50 rows and a third of that of one.
 */
export function prepareInsertJobs(db: Database, node: number): (jobs: SortedJobs) => void {
  const plainWaiting = `column1, ${node}, column2, 1, 0, 1, column3, 0, 0, column3, 0, column4`
  const plainActive = `column1, ${node}, column2, 2, 0, 1, column3, 1, 0, column3, 0, column4`
  const waiting = prepareBatched<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS})
SELECT ${plainWaiting} FROM (VALUES ${values})`,
    shared: 0,
    width: 4,
    bind: bindPlain,
  })
  const active = prepareBatched<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS}, session, started_at)
SELECT ${plainActive}, column5, column3 FROM (VALUES ${values})`,
    shared: 0,
    width: 5,
    bind: (job, values, place) => {
      bindPlain(job, values, place)
      values[place + 4] = job.sessionId
    },
  })
  const keyedWaiting = prepareBatched<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS}, ${KEYED_COLUMNS}, gate)
SELECT ${plainWaiting}, column5, column6, column7, column8 FROM (VALUES ${values})`,
    shared: 0,
    width: 8,
    bind: (job, values, place) => {
      bindKeyed(job, values, place)
      values[place + 7] = job.parked?.id ?? null
    },
  })
  const keyedActive = prepareBatched<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS}, ${KEYED_COLUMNS}, session, started_at)
SELECT ${plainActive}, column5, column6, column7, column8, column3 FROM (VALUES ${values})`,
    shared: 0,
    width: 8,
    bind: (job, values, place) => {
      bindKeyed(job, values, place)
      values[place + 7] = job.sessionId
    },
  })
  const any = prepareBatched<Job>(db, {
    sql: (values) => `INSERT INTO job (${JOB_COLUMNS}) VALUES ${values}`,
    shared: 0,
    width: ROW_WIDTH,
    bind: bindJob,
  })

  return (sorted) => {
    const insert = (jobs: readonly Job[], statement: BatchedStatement<Job>) => {
      if (jobs.length > 0) expectChanges('insert jobs', statement.run(jobs, []), jobs.length)
    }
    insert(sorted.plainWaiting, waiting)
    insert(sorted.plainActive, active)
    insert(sorted.keyedWaiting, keyedWaiting)
    insert(sorted.keyedActive, keyedActive)
    insert(sorted.inserted, any)
  }
}

/** Binds a plain job, whose times are all the turn's. */
function bindPlain(job: Job, values: SqlValue[], place: number): void {
  values[place] = job.seq
  values[place + 1] = job.lane.id
  values[place + 2] = job.enqueuedAt
  values[place + 3] = dataOf(job)
}

function bindKeyed(job: Job, values: SqlValue[], place: number): void {
  bindPlain(job, values, place)
  values[place + 4] = job.policy.text
  values[place + 5] = extrasText(job.extras)
  values[place + 6] = orNull(job.expiresAt)
}
