/** Writes the runs that failed, or that logged and did not complete, and the log lines of handlers. Bounded per job. */
import { fingerprintOf, LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import { ERROR_COLUMNS, errorValues } from '@millrace/sql'
import type { Batch } from './batch.ts'

const RUN = `attempt, started_at, ended_at, worker, ${ERROR_COLUMNS}, fingerprint`
const ATTEMPT = `INSERT INTO attempt (seq, run, ${RUN}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (seq, run) DO UPDATE SET ${assignments(RUN)}`
const TRIM_ATTEMPTS =
  'DELETE FROM attempt WHERE seq = $1 AND run <= (SELECT run FROM attempt WHERE seq = $1 ORDER BY run DESC LIMIT 1 OFFSET $2)'
const LINE = 'number, at, level, message, fields'
const LOG = `INSERT INTO log (seq, run, slot, ${LINE}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (seq, run, slot) DO UPDATE SET ${assignments(LINE)}`
const DROP_LOG = 'DELETE FROM log WHERE seq = $1 AND run = $2 AND slot = $3'
const TRIM_LOGS = 'DELETE FROM log WHERE seq = $1 AND run <= $2'

export function writeRuns(batch: Batch, { runs, logs }: Effects): void {
  for (const { seq, run, attempt, startedAt, endedAt, worker, error } of runs) {
    const values = errorValues(error)
    const [name, message] = values
    const fingerprint = error === undefined ? null : fingerprintOf({ ...error, name, message })
    batch.add(ATTEMPT, seq, run, attempt, startedAt, endedAt, worker, ...values, fingerprint)
    if (run > LIMITS.attemptsPerJob) batch.add(TRIM_ATTEMPTS, seq, LIMITS.attemptsPerJob)
  }
  for (const { seq, run, number, gone, line } of logs) {
    batch.add(LOG, seq, run, number, number, line.at, line.level, line.message, line.fields ?? null)
    if (gone >= 0) batch.add(DROP_LOG, seq, run, gone)
    // A run begins to log: the lines of runs long past have lost the attempts that they belong to.
    if (number === 0 && run > LIMITS.attemptsPerJob) batch.add(TRIM_LOGS, seq, run - LIMITS.attemptsPerJob)
  }
}

function assignments(names: string): string {
  return names
    .split(', ')
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')
}
