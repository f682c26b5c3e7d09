/** Creates the rows of new jobs, in their state at the end of the turn. */
import { type Job, type JobExtras, StoreFailure } from '@millrace/core'
import type { Database, SqlValue } from '../driver.ts'
import { expectChanges } from './expect.ts'
import { prepareLadder } from './ladder.ts'
import type { SortedJobs } from './sort.ts'

const COLUMNS =
  'seq, node, lane, state, rank, weight, run_at, run, uncounted, session, enqueued_at, started_at, finished_at, expires_at, cancel_requested, policy, extras, data, checkpoint, progress, output'

export function prepareInsertJobs(db: Database): (jobs: SortedJobs, node: number, at: number) => void {
  const waiting = prepareLadder<Job>(db, {
    sql: (values) => `WITH shared (node, at) AS (SELECT ?, ?)
INSERT INTO job (${COLUMNS})
SELECT new.column1, node, new.column2, 1, 0, 1, at, 0, 0, NULL, at, NULL, NULL, NULL, 0, NULL, NULL, new.column3, NULL, NULL, NULL
FROM shared, (VALUES ${values}) AS new`,
    shared: 2,
    width: 3,
    bind: (job, values, place) => {
      values[place] = job.seq
      values[place + 1] = job.lane.id
      values[place + 2] = dataOf(job)
    },
  })
  const active = prepareLadder<Job>(db, {
    sql: (values) => `WITH shared (node, at) AS (SELECT ?, ?)
INSERT INTO job (${COLUMNS})
SELECT new.column1, node, new.column2, 2, 0, 1, at, 1, 0, new.column3, at, at, NULL, NULL, 0, NULL, NULL, new.column4, NULL, NULL, NULL
FROM shared, (VALUES ${values}) AS new`,
    shared: 2,
    width: 4,
    bind: (job, values, place) => {
      values[place] = job.seq
      values[place + 1] = job.lane.id
      values[place + 2] = job.sessionId
      values[place + 3] = dataOf(job)
    },
  })
  const one = db.prepare(`INSERT INTO job (${COLUMNS}) VALUES (${Array(21).fill('?').join(', ')})`)
  const row: SqlValue[] = Array(21).fill(null)

  return ({ plainWaiting, plainActive, inserted }, node, at) => {
    const shared = [node, at]
    if (plainWaiting.length > 0) expectChanges('insert waiting jobs', waiting.run(plainWaiting, shared), plainWaiting.length)
    if (plainActive.length > 0) expectChanges('insert active jobs', active.run(plainActive, shared), plainActive.length)
    for (const job of inserted) {
      bindRow(job, row)
      one.run(row)
    }
  }
}

function bindRow(job: Job, row: SqlValue[]): void {
  row[0] = job.seq
  row[1] = job.node
  row[2] = job.lane.id
  row[3] = job.state
  row[4] = 0 - job.priority
  row[5] = job.weight
  row[6] = job.runAt
  row[7] = job.run
  row[8] = job.uncounted
  row[9] = orNull(job.sessionId)
  row[10] = job.enqueuedAt
  row[11] = orNull(job.startedAt)
  row[12] = orNull(job.finishedAt)
  row[13] = orNull(job.expiresAt)
  row[14] = job.cancelRequested ? 1 : 0
  row[15] = job.policy.text
  row[16] = extrasText(job.extras)
  row[17] = dataOf(job)
  row[18] = job.checkpoint
  row[19] = job.progress
  row[20] = job.output
}

/** The engine's 0 for "never" and "none". */
export function orNull(value: number): number | null {
  return value === 0 ? null : value
}

function extrasText(extras: JobExtras | undefined): string | null {
  return extras === undefined ? null : JSON.stringify(extras)
}

/** A payload leaves memory once it is handed out: by then its row must be there. */
export function dataOf({ data, seq }: Job): SqlValue {
  if (data === undefined) throw new StoreFailure('broken', 'statement', `the payload of job ${seq} left memory before it was written`)
  return data
}
