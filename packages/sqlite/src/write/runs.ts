/** Writes the runs that failed, or that logged and did not complete, and the log lines of handlers. Bounded per job. */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { errorValues } from '../read/runError.ts'

export function prepareRuns(db: Database): (effects: Effects) => void {
  const attempt = db.prepare(
    `INSERT OR REPLACE INTO attempt
(seq, run, attempt, started_at, ended_at, worker, error_name, error_message, error_stack, error_code, error_cause)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const trimAttempts = db.prepare(
    'DELETE FROM attempt WHERE seq = ? AND run <= (SELECT run FROM attempt WHERE seq = ? ORDER BY run DESC LIMIT 1 OFFSET ?)',
  )
  // A ring: line n stands in slot n % LIMITS.logLinesPerRun and replaces the line before it there.
  const log = db.prepare('INSERT OR REPLACE INTO log (seq, run, slot, number, at, level, message, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const trimLogs = db.prepare('DELETE FROM log WHERE seq = ? AND run <= ?')

  return ({ runs, logs }) => {
    for (const { seq, run, attempt: number, startedAt, endedAt, worker, error } of runs) {
      attempt.run(seq, run, number, startedAt, endedAt, worker, ...errorValues(error))
      if (run > LIMITS.attemptsPerJob) trimAttempts.run(seq, seq, LIMITS.attemptsPerJob)
    }
    for (const { seq, run, slot, number, line } of logs) {
      log.run(seq, run, slot, number, line.at, line.level, line.message, line.fields ?? null)
      // A run begins to log: the lines of runs long past have lost the attempts that they belong to.
      if (number === 0 && run > LIMITS.attemptsPerJob) trimLogs.run(seq, run - LIMITS.attemptsPerJob)
    }
  }
}
