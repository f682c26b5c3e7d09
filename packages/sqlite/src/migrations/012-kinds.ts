/**
 * Events of queues, schedules and workers. A version that does not know of them could not read the journal. Which sessions have been told
 * as attached and not as gone is kept, so that each is told once.
 */
import type { Migration } from './migration.ts'

const SQL = `
ALTER TABLE session ADD COLUMN presence TEXT NOT NULL DEFAULT 'gone' CHECK (presence IN ('here', 'draining', 'gone'));
CREATE INDEX session_present ON session (presence) WHERE presence <> 'gone';`

export const kinds: Migration = { id: 12, name: 'kinds', sql: SQL, minReader: 12 }
