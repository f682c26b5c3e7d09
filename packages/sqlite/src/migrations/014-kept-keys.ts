/**
 * Lets idempotency keys hold as long as their job, whatever their time. A version without this migration forgets a key when its
 * time is over.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- Jobs from seq to this row keep the key past its time while one of them lives; NULL: time alone ends it.
ALTER TABLE idempotency ADD COLUMN last INTEGER CHECK (last >= seq);
-- Its time is over: expires_at says when it is looked at again.
ALTER TABLE idempotency ADD COLUMN lapsed INTEGER NOT NULL DEFAULT 0 CHECK (lapsed IN (0, 1));
-- Debounce, throttle and flows have names of their own; how far a flow reaches is not in its key's row.
UPDATE idempotency SET last = seq WHERE substr(name, 1, 1) <> '#';`

export const keptKeys: Migration = { id: 14, name: 'kept-keys', sql: SQL, minReader: 13 }
