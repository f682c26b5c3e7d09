/**
 * Finds the jobs that wait for another attempt, by their due time. They are few among many scheduled jobs, and a list of them would look at
 * all. A version without this migration keeps the index, and does not use it.
 */
import type { Migration } from './migration.ts'

const SQL = `
CREATE INDEX job_retrying ON job (run_at) WHERE state = 0 AND run > uncounted;`

const DOWN = 'DROP INDEX job_retrying'

export const retryingByDue: Migration = { id: 20, name: 'retrying-by-due', sql: SQL, down: DOWN, minReader: 18 }
