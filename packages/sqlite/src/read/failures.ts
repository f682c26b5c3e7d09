/** Reads failures by their kind, last seen first. Their messages come from the last job that failed this way, as long as it exists. */
import type { FailureRow } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

type RawFailure = [
  laneId: number,
  fingerprint: number,
  error: string,
  count: number,
  firstAt: number,
  lastAt: number,
  seq: number | null,
  node: number,
  enqueuedAt: number,
  message: string | null,
]

export function prepareFailures(db: Database): (laneIds: readonly number[] | undefined, limit: number) => FailureRow[] {
  const prepare = (filter: string) =>
    db
      .prepare(
        `SELECT failure.lane, fingerprint, error, count, first_at, last_at, job.seq, job.node, job.enqueued_at, error_message
FROM failure INDEXED BY failure_last LEFT JOIN job ON job.seq = failure.seq
LEFT JOIN attempt ON attempt.seq = job.seq AND attempt.run = failure.run
${filter} ORDER BY last_at DESC LIMIT ?`,
      )
      .raw()
  const all = prepare('')
  const some = prepare('WHERE failure.lane IN (SELECT value FROM json_each(?))')
  return (laneIds, limit) =>
    ((laneIds === undefined ? all.all(limit) : some.all(JSON.stringify(laneIds), limit)) as RawFailure[]).map(rowFrom)
}

function rowFrom([laneId, fingerprint, error, count, firstAt, lastAt, seq, node, enqueuedAt, message]: RawFailure): FailureRow {
  const job = seq === null ? undefined : { seq, node, enqueuedAt }
  return { laneId, fingerprint, error, count, firstAt, lastAt, job, message: message ?? undefined }
}
