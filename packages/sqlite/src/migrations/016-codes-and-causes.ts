/** Stores the codes of errors and their causes in a form for programs. A version without this migration stores none. */
import type { Migration } from './migration.ts'

const SQL = `
ALTER TABLE attempt ADD COLUMN error_code TEXT;
-- JSON: [{ name, message, code? }], the nearest first.
ALTER TABLE attempt ADD COLUMN error_cause TEXT;
ALTER TABLE flow_end ADD COLUMN error_code TEXT;
ALTER TABLE flow_end ADD COLUMN error_cause TEXT;`

const DOWN = `
ALTER TABLE flow_end DROP COLUMN error_cause;
ALTER TABLE flow_end DROP COLUMN error_code;
ALTER TABLE attempt DROP COLUMN error_cause;
ALTER TABLE attempt DROP COLUMN error_code;`

export const codesAndCauses: Migration = { id: 16, name: 'codes-and-causes', sql: SQL, down: DOWN, minReader: 15 }
