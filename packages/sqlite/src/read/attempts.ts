/** Reads the runs of jobs, as `get` and exports return them. */
import { type AttemptView, LIMITS } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import { ERROR_COLUMNS, isOwnRun, type RawAttempt, type RawLog, type RawSession, viewsOf } from '@millrace/sql'
import type { Database, Statement } from '../driver.ts'

const LISTED = 'FROM json_each(?) AS wanted CROSS JOIN'

/** Each statement reads for all of the jobs at once, and only for those that may have rows in its table. */
export function prepareAttempts(db: Database): (rows: readonly JobRow[]) => AttemptView[][] {
  const ended = db
    .prepare(
      `SELECT seq, run, attempt, started_at, ended_at, worker, ${ERROR_COLUMNS}
${LISTED} attempt ON attempt.seq = wanted.value ORDER BY seq, run`,
    )
    .raw()
  const logs = db
    .prepare(
      `WITH wanted (seq) AS MATERIALIZED (SELECT value FROM json_each(?)), shown (seq, run) AS (
  SELECT attempt.seq, attempt.run FROM wanted CROSS JOIN attempt ON attempt.seq = wanted.seq
  UNION SELECT job.seq, job.run FROM wanted CROSS JOIN job ON job.seq = wanted.seq
)
SELECT log.seq, log.run, at, level, message, fields FROM shown CROSS JOIN log ON log.seq = shown.seq AND log.run = shown.run
AND slot > (SELECT max(slot) FROM log AS own WHERE own.seq = shown.seq AND own.run = shown.run) - ${LIMITS.logLinesPerRun}
ORDER BY log.seq, log.run, number`,
    )
    .raw()
  const sessions = db.prepare(`SELECT session.id, worker ${LISTED} session ON session.id = wanted.value`).raw()
  const read = <Raw>(statement: Statement, numbers: ReadonlySet<number>): Raw[] =>
    numbers.size === 0 ? [] : (statement.all(JSON.stringify([...numbers])) as Raw[])
  const numbersOf = (rows: readonly JobRow[], number: (row: JobRow) => number) => new Set(rows.map(number))

  return (rows) => {
    // Includes jobs at their first run: such a job may have expired before, or have been held by its parents, and was brought back.
    const seqs = numbersOf(rows, seqOf)
    return viewsOf(rows, {
      ended: read<RawAttempt>(ended, seqs),
      logs: read<RawLog>(logs, seqs),
      sessions: read<RawSession>(sessions, numbersOf(rows.filter(isOwnRun), sessionOf)),
    })
  }
}

function seqOf({ seq }: JobRow): number {
  return seq
}

function sessionOf({ sessionId }: JobRow): number {
  return sessionId
}
