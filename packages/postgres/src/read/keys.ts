/** Reads the holders of keys. */
import type { IdempotentHolder, KeyHolder, NameAndKey } from '@millrace/core/kernel'
import { isKept } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'

type RawHolder = [place: number, seq: number, node: number, enqueuedAt: number, until?: number | null]

const ASKED = 'unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (name, key, place)'

/** Reads the idempotency keys that have not expired, or whose jobs live. Only expired keys cost a look at a job. */
export function prepareIdempotent(connection: Connection): (keys: readonly NameAndKey[], at: number) => IdempotentHolder[] {
  const sql = `SELECT asked.place, held.seq, held.node, held.enqueued_at, CASE WHEN held.lapsed = 1 OR held.expires_at <= $3 THEN held.last END
FROM ${ASKED} JOIN idempotency AS held ON held.name = asked.name AND held.key = asked.key
WHERE (held.lapsed = 0 AND held.expires_at > $3) OR ${isKept('held')} ORDER BY asked.place`
  return (keys, at) =>
    connection.all<RawHolder>(sql, ...columnsOf(keys), at).map((raw) => ({ ...holderOf(raw, keys), until: raw[4] ?? undefined }))
}

/** Reads the unique keys of live jobs. */
export function prepareUnique(connection: Connection): (keys: readonly NameAndKey[]) => KeyHolder[] {
  const sql = `SELECT asked.place, job.seq, job.node, job.enqueued_at FROM ${ASKED}
JOIN unique_key AS held ON held.name = asked.name AND held.key = asked.key JOIN job ON job.seq = held.seq ORDER BY asked.place`
  return (keys) => connection.all<RawHolder>(sql, ...columnsOf(keys)).map((raw) => holderOf(raw, keys))
}

function columnsOf(keys: readonly NameAndKey[]): Value[] {
  return [keys.map(({ name }) => name), keys.map(({ key }) => key)]
}

/** Returns the holder with the key as it was requested. */
function holderOf([place, seq, node, enqueuedAt]: RawHolder, keys: readonly NameAndKey[]): KeyHolder {
  const { name, key } = keys[place - 1] as NameAndKey
  return { name, key, seq, node, enqueuedAt }
}
