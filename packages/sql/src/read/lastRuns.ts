/** Makes a row into the last run of a job of a page. */
import { type LastRunView, LIMITS } from '@millrace/core'
import { droppedAttempt, type JobRow, lastRunOf } from '@millrace/core/kernel'
import { isOwnRun } from './attempts.ts'

export type RawLast = [
  seq: number,
  ownWorker: string | null,
  run: number | null,
  startedAt: number,
  endedAt: number,
  worker: string,
  errorName: string,
  errorMessage: string,
]

export function lastRunFrom(row: JobRow, raw: RawLast | undefined): LastRunView | null {
  if (row.dropped) return lastRunOf(droppedAttempt(row))
  const [, ownWorker, run = null, startedAt, endedAt, worker, name, message] = raw ?? ([row.seq, null] as unknown as RawLast)
  if (isOwnRun(row)) return { run: row.run, startedAt: row.startedAt, endedAt: row.finishedAt, worker: ownWorker ?? '' }
  if (run === null) return null
  // A run that was given back or snoozed has no error.
  return { run, startedAt, endedAt, worker, ...(name !== '' && { error: { name, message: message.slice(0, LIMITS.lastErrorLength) } }) }
}
