/**
 * Stores schedules: one row each, with the job that it enqueues, its next tick and the last. A version without this migration
 * fires none. A version with it resumes them where it finds them.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  name TEXT NOT NULL, options TEXT NOT NULL, data ANY,
  anchor INTEGER NOT NULL,
  next_at INTEGER, fire_at INTEGER, last_at INTEGER,
  held INTEGER NOT NULL CHECK (held IN (0, 1)), paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  behind INTEGER NOT NULL, fired INTEGER NOT NULL, skipped INTEGER NOT NULL,
  job_seq INTEGER, job_node INTEGER, job_enqueued_at INTEGER,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  CHECK ((next_at IS NULL) = (fire_at IS NULL)),
  CHECK (fire_at >= next_at)
) STRICT;
CREATE INDEX schedule_due ON schedule (fire_at) WHERE fire_at IS NOT NULL AND paused = 0 AND held = 0;
CREATE INDEX schedule_held ON schedule (held) WHERE held = 1;`

export const schedules: Migration = { id: 7, name: 'schedules', sql: SQL, minReader: 5 }
