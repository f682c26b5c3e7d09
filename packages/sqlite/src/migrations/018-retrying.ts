/**
 * Counts the scheduled jobs that wait for another attempt, by job name. A version without this migration would not count them; it could
 * not read the tags either.
 */
import type { Migration } from './migration.ts'

const SQL = `
ALTER TABLE lane ADD COLUMN retrying INTEGER NOT NULL DEFAULT 0 CHECK (retrying >= 0);
UPDATE lane SET retrying = counted.jobs
FROM (SELECT lane, count(*) AS jobs FROM job WHERE state = 0 AND run > uncounted GROUP BY lane) AS counted
WHERE counted.lane = lane.id;`

const DOWN = 'ALTER TABLE lane DROP COLUMN retrying'

export const retrying: Migration = { id: 18, name: 'retrying', sql: SQL, down: DOWN, minReader: 18 }
