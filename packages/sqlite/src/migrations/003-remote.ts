/**
 * Marks the sessions of other processes: they may outlive the engine's own, and have their leases to come back. A version without
 * this migration takes their jobs for lost when it opens the file; the fence still holds.
 */
import type { Migration } from './migration.ts'

const SQL = 'ALTER TABLE session ADD COLUMN remote INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1));'

export const remote: Migration = { id: 3, name: 'remote', sql: SQL, minReader: 2 }
