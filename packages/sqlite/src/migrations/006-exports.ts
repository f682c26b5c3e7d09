/**
 * Stores the position of each export of finished jobs: jobs after its cursor are kept for it. A version without this migration
 * prunes as if there were no exports, and the export then learns what it has missed.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE export (
  name TEXT PRIMARY KEY, cursor INTEGER NOT NULL CHECK (cursor >= 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

export const exports: Migration = { id: 6, name: 'exports', sql: SQL, minReader: 5 }
