/**
 * How far each export of finished jobs has come: what is behind its cursor is kept for it. A version that does not know of them prunes as
 * if there were none, and the export is told what it has missed.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE TABLE export (
  name TEXT PRIMARY KEY, cursor INTEGER NOT NULL CHECK (cursor >= 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

export const exports: Migration = { id: 6, name: 'exports', sql: SQL, minReader: 5 }
