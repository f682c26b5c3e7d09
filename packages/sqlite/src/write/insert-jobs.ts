/** Creates the rows of new jobs, in their state at the end of the turn. */
import { type Job, type JobExtras, StoreFailure } from '@millrace/core'
import type { Database, SqlValue } from '../driver.ts'
import { type Ladder, prepareLadder } from '../ladder.ts'
import { expectChanges } from './expect.ts'
import type { SortedJobs } from './sort.ts'

const COLUMNS =
  'seq, node, lane, state, rank, weight, run_at, run, uncounted, session, enqueued_at, started_at, finished_at, expires_at, cancel_requested, policy, extras, data, checkpoint, progress, output, gate, dropping'

/** Of a job with the usual settings: all else of its row is NULL. */
const PLAIN_COLUMNS = 'seq, node, lane, state, rank, weight, run_at, run, uncounted, enqueued_at, cancel_requested, data'
/** What keys, tags, a ttl and the like add. */
const KEYED_COLUMNS = 'policy, extras, expires_at'

/**
 * `node` is the file's own, and no value to be bound. The turn's time is, once for each row: one that all rows share would be a join,
 * which took a tenth of the insert of 50 rows and a third of that of one.
 */
export function prepareInsertJobs(db: Database, node: number): (jobs: SortedJobs) => void {
  const plainWaiting = `column1, ${node}, column2, 1, 0, 1, column3, 0, 0, column3, 0, column4`
  const plainActive = `column1, ${node}, column2, 2, 0, 1, column3, 1, 0, column3, 0, column4`
  const waiting = prepareLadder<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS})
SELECT ${plainWaiting} FROM (VALUES ${values})`,
    shared: 0,
    width: 4,
    bind: bindPlain,
  })
  const active = prepareLadder<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS}, session, started_at)
SELECT ${plainActive}, column5, column3 FROM (VALUES ${values})`,
    shared: 0,
    width: 5,
    bind: (job, values, place) => {
      bindPlain(job, values, place)
      values[place + 4] = job.sessionId
    },
  })
  const keyedWaiting = prepareLadder<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS}, ${KEYED_COLUMNS}, gate)
SELECT ${plainWaiting}, column5, column6, column7, column8 FROM (VALUES ${values})`,
    shared: 0,
    width: 8,
    bind: (job, values, place) => {
      bindKeyed(job, values, place)
      values[place + 7] = job.parked?.id ?? null
    },
  })
  const keyedActive = prepareLadder<Job>(db, {
    sql: (values) => `INSERT INTO job (${PLAIN_COLUMNS}, ${KEYED_COLUMNS}, session, started_at)
SELECT ${plainActive}, column5, column6, column7, column8, column3 FROM (VALUES ${values})`,
    shared: 0,
    width: 8,
    bind: (job, values, place) => {
      bindKeyed(job, values, place)
      values[place + 7] = job.sessionId
    },
  })
  const any = prepareLadder<Job>(db, {
    sql: (values) => `INSERT INTO job (${COLUMNS}) VALUES ${values}`,
    shared: 0,
    width: 23,
    bind: bindRow,
  })

  return (sorted) => {
    const insert = (jobs: readonly Job[], statement: Ladder<Job>) => {
      if (jobs.length > 0) expectChanges('insert jobs', statement.run(jobs, []), jobs.length)
    }
    insert(sorted.plainWaiting, waiting)
    insert(sorted.plainActive, active)
    insert(sorted.keyedWaiting, keyedWaiting)
    insert(sorted.keyedActive, keyedActive)
    insert(sorted.inserted, any)
  }
}

/** Its times are all the turn's. */
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

function bindRow(job: Job, values: SqlValue[], place: number): void {
  let next = place
  values[next++] = job.seq
  values[next++] = job.node
  values[next++] = job.lane.id
  values[next++] = job.state
  values[next++] = 0 - job.priority
  values[next++] = job.weight
  values[next++] = job.runAt
  values[next++] = job.run
  values[next++] = job.uncounted
  values[next++] = orNull(job.sessionId)
  values[next++] = job.enqueuedAt
  values[next++] = orNull(job.startedAt)
  values[next++] = orNull(job.finishedAt)
  values[next++] = orNull(job.expiresAt)
  values[next++] = job.cancelRequested ? 1 : 0
  values[next++] = job.policy.text
  values[next++] = extrasText(job.extras)
  values[next++] = dataOf(job)
  values[next++] = job.checkpoint
  values[next++] = job.progress
  values[next++] = job.output
  values[next++] = job.parked?.id ?? null
  values[next++] = droppingOf(job)
}

/** In the index of jobs by arrival where its queue drops its oldest; 0 once it was dropped. */
export function droppingOf({ dropped, lane: { queue } }: Job): number | null {
  if (dropped) return 0
  return queue.settings.onFull === undefined ? null : queue.id
}

/** The engine's 0 for "never" and "none". */
export function orNull(value: number): number | null {
  return value === 0 ? null : value
}

export function extrasText(extras: JobExtras | undefined): string | null {
  return extras === undefined ? null : JSON.stringify(extras)
}

/** A payload leaves memory once it is handed out: by then its row must be there. */
export function dataOf({ data, seq }: Job): SqlValue {
  if (data === undefined) throw new StoreFailure('broken', 'statement', `the payload of job ${seq} left memory before it was written`)
  return data
}
