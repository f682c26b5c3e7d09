/**
 * Which sessions are of other processes: they may live whatever becomes of the engine's, and have their leases to come back. A
 * version that does not know of them takes their jobs for lost when it opens the file; the fence holds all the same.
 */
import type { Migration } from './migration.ts'

const SQL = 'ALTER TABLE session ADD COLUMN remote INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1));'

export const remote: Migration = { id: 3, name: 'remote', sql: SQL, minReader: 2 }
