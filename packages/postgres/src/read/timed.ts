/** Reads what time alone triggers: jobs that become due or expire, and when the next one does. */
import type { Deadlines, JobRow } from '@millrace/core/kernel'
import { MAY_FIRE } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { PAYLOAD_BYTES } from '../tables/job.ts'
import { readBounded } from './bounded.ts'

/** The limit for one slice's payloads; the next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export type ReadTimed = (at: number, limit: number) => JobRow[]

function prepareTimed(connection: Connection, table: string, time: string): ReadTimed {
  const sql = `SELECT job.seq, ${PAYLOAD_BYTES} FROM (SELECT seq, ${time} AS at FROM ${table} WHERE ${time} <= $1 ORDER BY ${time}, seq LIMIT $2) AS place
JOIN job ON job.seq = place.seq ORDER BY place.at, place.seq`
  return (at, limit) => readBounded(connection, sql, [at], { limit, bytes: SLICE_BYTES }).rows
}

export const prepareDue = (connection: Connection) => prepareTimed(connection, 'scheduled', 'run_at')
export const prepareExpired = (connection: Connection) => prepareTimed(connection, 'expiry', 'expires_at')

export function prepareDeadlines(connection: Connection): () => Deadlines {
  const sql = `SELECT (SELECT min(run_at) FROM scheduled), (SELECT min(expires_at) FROM expiry), (SELECT min(fire_at) FROM schedule WHERE ${MAY_FIRE})`
  return () => {
    const [dueAt, expiresAt, fireAt] = connection.get<(number | null)[]>(sql) ?? []
    return { dueAt: dueAt ?? 0, expiresAt: expiresAt ?? 0, fireAt: fireAt ?? 0 }
  }
}
