/** Writes the runs that failed, or that logged and did not complete, and the log lines of handlers. Bounded per job. */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import { errorValues } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareRuns(db: Database): (effects: Effects) => void {
  const attempt = db.prepare(
    `INSERT OR REPLACE INTO attempt
(seq, run, attempt, started_at, ended_at, worker, error_name, error_message, error_stack, error_code, error_cause)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const trimAttempts = db.prepare(
    'DELETE FROM attempt WHERE seq = ? AND run <= (SELECT run FROM attempt WHERE seq = ? ORDER BY run DESC LIMIT 1 OFFSET ?)',
  )
  // Line n stands in slot n. In stores of before, in slot n % 100.
  const log = db.prepare('INSERT OR REPLACE INTO log (seq, run, slot, number, at, level, message, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const drop = db.prepare('DELETE FROM log WHERE seq = ? AND run = ? AND slot = ?')
  const trimLogs = db.prepare('DELETE FROM log WHERE seq = ? AND run <= ?')

  return ({ runs, logs }) => {
    for (const { seq, run, attempt: number, startedAt, endedAt, worker, error } of runs) {
      attempt.run(seq, run, number, startedAt, endedAt, worker, ...errorValues(error))
      if (run > LIMITS.attemptsPerJob) trimAttempts.run(seq, seq, LIMITS.attemptsPerJob)
    }
    for (const { seq, run, number, gone, line } of logs) {
      log.run(seq, run, number, number, line.at, line.level, line.message, line.fields ?? null)
      if (gone >= 0) drop.run(seq, run, gone)
      // A run begins to log: the lines of runs long past have lost the attempts that they belong to.
      if (number === 0 && run > LIMITS.attemptsPerJob) trimLogs.run(seq, run - LIMITS.attemptsPerJob)
    }
  }
}
