/** Who holds a key. One look-up a key: a text that went through JSON would not always come back as it is stored. */
import type { KeyHolder, NameAndKey } from '@millrace/core'
import type { Database, Statement } from '../driver.ts'

type RawHolder = [seq: number, node: number, enqueuedAt: number]

/** Idempotency keys that have not run out. */
export function prepareIdempotent(db: Database): (keys: readonly NameAndKey[], at: number) => KeyHolder[] {
  const statement = db.prepare('SELECT seq, node, enqueued_at FROM idempotency WHERE name = ? AND key = ? AND expires_at > ?').raw()
  return (keys, at) => holders(keys, ({ name, key }) => statement.get(name, key, at))
}

/** Unique keys of live jobs. */
export function prepareUnique(db: Database): (keys: readonly NameAndKey[]) => KeyHolder[] {
  const statement: Statement = db
    .prepare(
      'SELECT job.seq, job.node, job.enqueued_at FROM unique_key CROSS JOIN job ON job.seq = unique_key.seq WHERE unique_key.name = ? AND unique_key.key = ?',
    )
    .raw()
  return (keys) => holders(keys, ({ name, key }) => statement.get(name, key))
}

function holders(keys: readonly NameAndKey[], find: (key: NameAndKey) => unknown): KeyHolder[] {
  const found: KeyHolder[] = []
  for (const wanted of keys) {
    const raw = find(wanted) as RawHolder | undefined
    if (raw !== undefined) found.push({ name: wanted.name, key: wanted.key, seq: raw[0], node: raw[1], enqueuedAt: raw[2] })
  }
  return found
}
