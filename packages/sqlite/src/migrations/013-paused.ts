/** A pause of all queues, those of later included. A version that does not know of it would start what is not to start. */
import type { Migration } from './migration.ts'

const SQL = 'ALTER TABLE meta ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));'

export const paused: Migration = { id: 13, name: 'paused', sql: SQL, minReader: 13 }
