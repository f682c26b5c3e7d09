/**
 * Stores the settings of queues, and the jobs that a limit on their key holds back: those wait outside their lanes, in an index
 * of their own. A version without this migration would start them.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE queue_settings (
  queue INTEGER PRIMARY KEY REFERENCES queue (id),
  settings TEXT NOT NULL,
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  -- The token bucket: how long before it is full, at that time.
  missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL
) STRICT;
CREATE TABLE gate (
  id INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL REFERENCES lane (id),
  key TEXT NOT NULL,
  parked INTEGER NOT NULL,
  UNIQUE (lane, key)
) STRICT;
CREATE TABLE paused_key (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
ALTER TABLE lane ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));
ALTER TABLE job ADD COLUMN gate INTEGER CHECK (gate IS NULL OR state = 1);
DROP INDEX job_waiting;
CREATE INDEX job_waiting ON job (lane, rank, run_at) WHERE state = 1 AND gate IS NULL;
CREATE INDEX job_parked ON job (gate, rank, run_at) WHERE gate IS NOT NULL;`

export const queues: Migration = { id: 5, name: 'queues', sql: SQL, minReader: 5 }
