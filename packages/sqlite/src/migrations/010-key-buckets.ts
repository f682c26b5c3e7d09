/** Rates for each concurrency key. A version that does not know of them would start more than they allow. */
import type { Migration } from './migration.ts'

const SQL = `
-- The token bucket of a key: how long before it is full, at that time. A full one has no row.
CREATE TABLE key_bucket (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL,
  PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;`

export const keyBuckets: Migration = { id: 10, name: 'key-buckets', sql: SQL, minReader: 10 }
