/**
 * Lets jobs that were enqueued before their name was defined take the values of the definition, and stores who sent it. A version
 * without this migration would not note which fields a caller has stated.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- The session, the worker and the host that have said it, and when: unknown of what was said before this version.
ALTER TABLE definition ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE definition ADD COLUMN worker TEXT NOT NULL DEFAULT '';
ALTER TABLE definition ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE definition ADD COLUMN said_at INTEGER NOT NULL DEFAULT 0;
-- Jobs in rows before this one were enqueued when nothing was known of the name.
ALTER TABLE definition ADD COLUMN first_seq INTEGER NOT NULL DEFAULT 1;
-- Jobs of the name in rows before this one have yet to take the defaults; 0: none.
ALTER TABLE definition ADD COLUMN settling INTEGER NOT NULL DEFAULT 0 CHECK (settling >= 0);
-- Of jobs in rows before this one nobody knows which fields their callers have stated: they stay as they are.
ALTER TABLE meta ADD COLUMN said_from INTEGER NOT NULL DEFAULT 1;
UPDATE meta SET said_from = (SELECT coalesce(max(seq), 0) + 1 FROM job);`

export const definitions: Migration = { id: 15, name: 'definitions', sql: SQL, minReader: 15 }
