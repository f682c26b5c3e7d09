/** Adds a pause of all queues, future ones included. A version without this migration would start jobs that must not start. */
import type { Migration } from './migration.ts'

const SQL = 'ALTER TABLE meta ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));'

export const paused: Migration = { id: 13, name: 'paused', sql: SQL, minReader: 13 }
