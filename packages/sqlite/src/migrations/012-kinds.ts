/**
 * Adds events of queues, schedules and workers. A version without this migration could not read the journal. The sessions that
 * were reported as attached and not yet as gone are stored, so that each is reported once.
 */
import type { Migration } from './migration.ts'

const SQL = `
ALTER TABLE session ADD COLUMN presence TEXT NOT NULL DEFAULT 'gone' CHECK (presence IN ('here', 'draining', 'gone'));
CREATE INDEX session_present ON session (presence) WHERE presence <> 'gone';`

export const kinds: Migration = { id: 12, name: 'kinds', sql: SQL, minReader: 12 }
