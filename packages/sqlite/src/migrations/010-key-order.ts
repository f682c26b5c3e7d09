/**
 * Adds rates and a strict order for each concurrency key. A version without this migration would start more jobs than they allow,
 * and out of their order.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- The token bucket of a key: how long before it is full, at that time. A full one has no row.
CREATE TABLE key_bucket (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL,
  PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
-- In queues that keep an order: the job that has its key's turn, until it is final.
CREATE TABLE key_turn (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
-- Parked jobs by arrival: their gates are below zero. It ends in the row number by itself.
CREATE INDEX job_strict ON job (gate) WHERE gate < 0;`

export const keyOrder: Migration = { id: 10, name: 'key-order', sql: SQL, minReader: 10 }
