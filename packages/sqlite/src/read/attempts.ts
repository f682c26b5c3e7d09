/** Reads the runs of jobs, as `get` and exports return them. */
import { type AttemptView, LIMITS, type RunError } from '@millrace/core'
import type { JobRow, Questions } from '@millrace/core/kernel'
import {
  ERROR_COLUMNS,
  errorFrom,
  isOwnRun,
  numberedLineFrom,
  type RawAttempt,
  type RawError,
  type RawLog,
  type RawNumberedLog,
  type RawSession,
  viewsOf,
} from '@millrace/sql'
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

/** Returns a page of the lines of one run. A run has at most `LIMITS.logLinesKept`: they are put in order as they are read. */
export function prepareLogLines(db: Database): Questions['logLines'] {
  const select = 'SELECT seq, run, at, level, message, fields, number FROM log WHERE seq = ? AND run = ?'
  const oldest = db.prepare(`${select} AND number > ? ORDER BY number LIMIT ?`).raw()
  const newest = db.prepare(`${select} AND number < ? ORDER BY number DESC LIMIT ?`).raw()
  return (seq, run, query) => {
    const raws = (query.newest ? newest : oldest).all(seq, run, query.after, query.limit) as RawNumberedLog[]
    return raws.map(numberedLineFrom)
  }
}

/** Returns the error of the last run that failed. */
export function prepareLastError(db: Database): (seq: number) => RunError | undefined {
  const statement = db.prepare(`SELECT ${ERROR_COLUMNS} FROM attempt WHERE seq = ? AND error_name <> '' ORDER BY run DESC LIMIT 1`).raw()
  return (seq) => {
    const raw = statement.get(seq) as RawError | undefined
    return raw === undefined ? undefined : errorFrom(raw)
  }
}

function seqOf({ seq }: JobRow): number {
  return seq
}

function sessionOf({ sessionId }: JobRow): number {
  return sessionId
}
