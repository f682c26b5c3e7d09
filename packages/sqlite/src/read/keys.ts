/**
 * Reads the holders of keys. Keys are bound as VALUES, not as JSON: a string that went through JSON would not always come back as
 * it is stored.
 */
import type { IdempotentHolder, KeyHolder, NameAndKey } from '@millrace/core/kernel'
import { isKept, type SqlValue } from '@millrace/sql'
import { type BatchedStatement, prepareBatched } from '../batchedStatement.ts'
import type { Database } from '../driver.ts'

type RawHolder = [index: number, seq: number, node: number, enqueuedAt: number]

type RawIdempotent = [...RawHolder, until: number | null]

/** Reads the idempotency keys that have not expired, or whose jobs live. Only expired keys cost a look at a job. */
export function prepareIdempotent(db: Database): (keys: readonly NameAndKey[], at: number) => IdempotentHolder[] {
  const byKey = prepareByKey(
    db,
    (wanted) => `WITH shared (at) AS (SELECT ?)
SELECT wanted.column1, held.seq, held.node, held.enqueued_at, CASE WHEN held.lapsed = 1 OR held.expires_at <= at THEN held.last END
FROM (VALUES ${wanted}) AS wanted
CROSS JOIN idempotency AS held ON held.name = wanted.column2 AND held.key = wanted.column3 CROSS JOIN shared
WHERE (held.lapsed = 0 AND held.expires_at > at) OR ${isKept('held')}`,
    1,
  )
  return (keys, at) =>
    (byKey.all(keys, [at]) as RawIdempotent[]).map(([index, seq, node, enqueuedAt, until]) => {
      const { name, key } = keys[index] as NameAndKey
      return { name, key, seq, node, enqueuedAt, until: until ?? undefined }
    })
}

/** Reads the unique keys of live jobs. */
export function prepareUnique(db: Database): (keys: readonly NameAndKey[]) => KeyHolder[] {
  const byKey = prepareByKey(
    db,
    (wanted) => `SELECT wanted.column1, job.seq, job.node, job.enqueued_at FROM (VALUES ${wanted}) AS wanted
CROSS JOIN unique_key AS held ON held.name = wanted.column2 AND held.key = wanted.column3 CROSS JOIN job ON job.seq = held.seq`,
    0,
  )
  return (keys) => holders(keys, byKey, [])
}

function prepareByKey(db: Database, sql: (wanted: string) => string, shared: number): BatchedStatement<NameAndKey> {
  return prepareBatched<NameAndKey>(db, { sql, shared, width: 3, bind: bindKey })
}

function bindKey({ name, key }: NameAndKey, values: SqlValue[], place: number, index: number): void {
  values[place] = index
  values[place + 1] = name
  values[place + 2] = key
}

/** Returns the holders with the keys as they were requested. */
function holders(keys: readonly NameAndKey[], byKey: BatchedStatement<NameAndKey>, shared: readonly SqlValue[]): KeyHolder[] {
  return (byKey.all(keys, shared) as RawHolder[]).map(([index, seq, node, enqueuedAt]) => {
    const { name, key } = keys[index] as NameAndKey
    return { name, key, seq, node, enqueuedAt }
  })
}
