/**
 * Lets queues drop their oldest jobs: an index holds the jobs of such queues alone, by arrival. A version without this migration
 * rejects excess jobs instead.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- The queue, of a job in one that drops its oldest; 0: it was dropped.
ALTER TABLE job ADD COLUMN dropping INTEGER CHECK (dropping >= 0);
-- It ends in the row number by itself.
CREATE INDEX job_arrival ON job (dropping) WHERE dropping IS NOT NULL AND state IN (0, 1);`

export const dropOldest: Migration = { id: 11, name: 'drop-oldest', sql: SQL, minReader: 10 }
