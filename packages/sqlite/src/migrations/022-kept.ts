/**
 * Finds finished jobs that have a `keep` of their own by the time until which they are kept, and counts them: they are not among the
 * newest jobs of their queue. A version without this migration would neither list nor delete them. On the way down they go back to the
 * batches of their queue, and `keep` is taken from their policies.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- A hint, as in finished. at + keep = until.
CREATE TABLE kept (
  queue INTEGER NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6), turn INTEGER NOT NULL, lane INTEGER NOT NULL,
  until INTEGER NOT NULL, at INTEGER NOT NULL CHECK (at <= until), seqs BLOB NOT NULL,
  PRIMARY KEY (queue, state, turn, lane, until)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_until ON kept (queue, state, until);
-- A queue with none has no row.
CREATE TABLE kept_count (
  queue INTEGER PRIMARY KEY, completed INTEGER NOT NULL CHECK (completed >= 0), failed INTEGER NOT NULL CHECK (failed >= 0),
  cancelled INTEGER NOT NULL CHECK (cancelled >= 0)
) STRICT;`

/** A turn has at least one event for each of its batches, and the number of each event is that of no other turn. */
const DOWN = `
INSERT INTO finished (queue, state, turn, lane, at, seqs)
SELECT queue, state, turn + 1 - row_number() OVER (PARTITION BY queue, state, turn, lane ORDER BY until) - EXISTS (
  SELECT 1 FROM finished AS own WHERE (own.queue, own.state, own.turn, own.lane) = (kept.queue, kept.state, kept.turn, kept.lane)
), lane, at, seqs FROM kept;
DROP TABLE kept;
DROP TABLE kept_count;
UPDATE job SET policy = json_remove(policy, '$.keep') WHERE instr(policy, '"keep":') > 0 AND json_valid(policy);`

export const kept: Migration = { id: 22, name: 'kept', sql: SQL, down: DOWN, minReader: 22 }
