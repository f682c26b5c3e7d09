/** Reads the runs of jobs, as `get`, lists and exports return them. */
import { type AttemptView, LIMITS } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import { ERROR_COLUMNS, isOwnRun, type RawAttempt, type RawLast, type RawLog, type RawSession, viewsOf, withLastRuns } from '@millrace/sql'
import type { Connection } from '../connection.ts'

const ENDED = `SELECT seq, run, attempt, started_at, ended_at, worker, ${ERROR_COLUMNS} FROM attempt WHERE seq = ANY ($1::bigint[]) ORDER BY seq, run`
const LOGS = `WITH shown AS (
  SELECT seq, run FROM attempt WHERE seq = ANY ($1::bigint[]) UNION SELECT seq, run FROM job WHERE seq = ANY ($1::bigint[])
)
SELECT log.seq, log.run, at, level, message, fields FROM shown
CROSS JOIN LATERAL (SELECT max(slot) AS slot FROM log AS own WHERE own.seq = shown.seq AND own.run = shown.run) AS last
JOIN log ON log.seq = shown.seq AND log.run = shown.run AND log.slot > last.slot - $2
ORDER BY log.seq, log.run, number`
const SESSIONS = 'SELECT id, worker FROM session WHERE id = ANY ($1::bigint[])'

export function prepareAttempts(connection: Connection): (rows: readonly JobRow[]) => AttemptView[][] {
  return (rows) => {
    if (rows.length === 0) return []
    const seqs = [...new Set(rows.map(({ seq }) => seq))]
    const owners = [...new Set(rows.filter(isOwnRun).map(({ sessionId }) => sessionId))]
    const [ended, logs, sessions] = connection.many([
      { text: ENDED, values: [seqs] },
      { text: LOGS, values: [seqs, LIMITS.logLinesPerRun] },
      { text: SESSIONS, values: [owners] },
    ]) as unknown as [RawAttempt[], RawLog[], RawSession[]]
    return viewsOf(rows, { ended, logs, sessions })
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
    const seqs = rows.map(({ seq }) => seq)
    return withLastRuns(rows, connection.all<RawLast>(sql, seqs))
  }
}
