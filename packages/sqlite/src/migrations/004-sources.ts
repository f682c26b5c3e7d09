/**
 * Stores producers' journals: the position of each, in one row, and a map from the ids that they create to the rows of their
 * jobs. Such a job has a `node` that no file has, so no other job pays for the index. A version without this migration would
 * return wrong ids.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE source (
  uuid TEXT PRIMARY KEY, mark INTEGER NOT NULL CHECK (mark > 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX job_sourced ON job (node) WHERE node >= 67108864;`

export const sources: Migration = { id: 4, name: 'sources', sql: SQL, minReader: 4 }
