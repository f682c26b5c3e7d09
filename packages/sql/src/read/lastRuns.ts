/** Makes rows into the last run of each job of a page. */
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

/** @param last the rows of the jobs that are there, in any order */
export function withLastRuns(rows: readonly JobRow[], last: readonly RawLast[]): JobRow[] {
  const found = new Map(last.map((raw) => [raw[0], raw]))
  return rows.map((row) => ({ ...row, lastRun: lastRunFrom(row, found.get(row.seq)) }))
}

function lastRunFrom(row: JobRow, raw: RawLast | undefined): LastRunView | null {
  if (row.dropped) return lastRunOf(droppedAttempt(row))
  const [, ownWorker, run = null, startedAt, endedAt, worker, name, message] = raw ?? ([row.seq, null] as unknown as RawLast)
  if (isOwnRun(row)) return { run: row.run, startedAt: row.startedAt, endedAt: row.finishedAt, worker: ownWorker ?? '' }
  if (run === null) return null
  // A run that was given back or snoozed has no error.
  return { run, startedAt, endedAt, worker, ...(name !== '' && { error: { name, message: message.slice(0, LIMITS.lastErrorLength) } }) }
}
