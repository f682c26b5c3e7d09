/** Reads the runs of jobs, as `get`, lists and exports return them. */
import { type AttemptView, LIMITS, type RunError } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import {
  ERROR_COLUMNS,
  errorFrom,
  isOwnRun,
  lastRunFrom,
  type RawAttempt,
  type RawError,
  type RawLast,
  type RawLog,
  type RawSession,
  viewsOf,
} from '@millrace/sqlite/rows'
import type { Connection } from '../connection.ts'

const ENDED = `SELECT seq, run, attempt, started_at, ended_at, worker, ${ERROR_COLUMNS} FROM attempt WHERE seq = ANY ($1::bigint[]) ORDER BY seq, run`
const LOGS = 'SELECT seq, run, at, level, message, fields FROM log WHERE seq = ANY ($1::bigint[]) ORDER BY seq, run, number'
const SESSIONS = 'SELECT id, worker FROM session WHERE id = ANY ($1::bigint[])'

export function prepareAttempts(connection: Connection): (rows: readonly JobRow[]) => AttemptView[][] {
  return (rows) => {
    if (rows.length === 0) return []
    const seqs = [...new Set(rows.map(({ seq }) => seq))]
    const owners = [...new Set(rows.filter(isOwnRun).map(({ sessionId }) => sessionId))]
    const [ended, logs, sessions] = connection.many([
      { text: ENDED, values: [seqs] },
      { text: LOGS, values: [seqs] },
      { text: SESSIONS, values: [owners] },
    ]) as unknown as [RawAttempt[], RawLog[], RawSession[]]
    return viewsOf(rows, { ended, logs, sessions })
  }
}

/** Returns the error of the last run that failed. */
export function prepareLastError(connection: Connection): (seq: number) => RunError | undefined {
  const sql = `SELECT ${ERROR_COLUMNS} FROM attempt WHERE seq = $1 AND error_name <> '' ORDER BY run DESC LIMIT 1`
  return (seq) => {
    const raw = connection.get<RawError>(sql, seq)
    return raw === undefined ? undefined : errorFrom(raw)
  }
}

export function prepareWithLastRuns(connection: Connection): (rows: readonly JobRow[]) => JobRow[] {
  const sql = `SELECT job.seq, session.worker, last.run, last.started_at, last.ended_at, last.worker, last.error_name,
  left(last.error_message, ${LIMITS.lastErrorLength})
FROM job LEFT JOIN session ON job.state IN (2, 4) AND session.id = job.session
LEFT JOIN LATERAL (
  SELECT * FROM attempt WHERE job.state NOT IN (2, 4) AND attempt.seq = job.seq ORDER BY run DESC LIMIT 1
) AS last ON true
WHERE job.seq = ANY ($1::bigint[])`
  return (rows) => {
    if (rows.length === 0) return []
    const found = new Map(
      connection
        .all<RawLast>(
          sql,
          rows.map(({ seq }) => seq),
        )
        .map((raw) => [raw[0], raw]),
    )
    return rows.map((row) => ({ ...row, lastRun: lastRunFrom(row, found.get(row.seq)) }))
  }
}
