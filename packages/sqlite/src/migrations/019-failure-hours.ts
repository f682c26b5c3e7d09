/**
 * Stores in which hours each kind of failures occurred. A version without this migration leaves them unchanged: the failures that it counts
 * belong to the last hour that was noted before. So do those of before, in the hour of the last.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- A kind's count before the first failure of an hour: [hour since 1970, count, hour, count, ...].
ALTER TABLE failure ADD COLUMN hours TEXT NOT NULL DEFAULT '[]';
UPDATE failure SET hours = json_array(last_at / 3600000, count);`

const DOWN = 'ALTER TABLE failure DROP COLUMN hours'

export const failureHours: Migration = { id: 19, name: 'failure-hours', sql: SQL, down: DOWN, minReader: 18 }
