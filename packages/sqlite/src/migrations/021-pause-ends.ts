/** Stores when timed pauses end. A version without this migration keeps them paused until they are resumed. */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE pause_end (
  queue INTEGER NOT NULL REFERENCES queue (id), part TEXT NOT NULL CHECK (part IN ('queue', 'name', 'key')),
  -- The name or the key; empty for the whole queue.
  what TEXT NOT NULL, until INTEGER NOT NULL CHECK (until > 0), PRIMARY KEY (queue, part, what)
) STRICT, WITHOUT ROWID;`

const DOWN = 'DROP TABLE pause_end'

export const pauseEnds: Migration = { id: 21, name: 'pause-ends', sql: SQL, down: DOWN, minReader: 18 }
