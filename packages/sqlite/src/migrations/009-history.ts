/**
 * Stores what queues have done over time, and the kinds of failures. A version without this migration leaves them unchanged: its
 * work counts towards the last minute that was noted before.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- A queue's totals before the first turn of a minute, or of an hour, that counted something. step: 0 minute, 1 hour.
CREATE TABLE history (
  queue INTEGER NOT NULL, step INTEGER NOT NULL CHECK (step IN (0, 1)), at INTEGER NOT NULL,
  enqueued INTEGER NOT NULL, completed INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  PRIMARY KEY (queue, step, at)
) STRICT, WITHOUT ROWID;
-- A kind of failure, with the last job that failed so: its message is in that job's attempt, and nowhere else.
CREATE TABLE failure (
  lane INTEGER NOT NULL, fingerprint INTEGER NOT NULL, error TEXT NOT NULL, count INTEGER NOT NULL CHECK (count > 0),
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, seq INTEGER NOT NULL, run INTEGER NOT NULL,
  PRIMARY KEY (lane, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX failure_last ON failure (last_at);`

export const history: Migration = { id: 9, name: 'history', sql: SQL, minReader: 8 }
