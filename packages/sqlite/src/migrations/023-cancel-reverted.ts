/**
 * A job may live again while its tree is being cancelled: mode 4 of flow_due. A version without this migration does not know it. On the way
 * down its tree is cancelled, and may hear of the job only afterwards.
 */
import type { Migration } from './migration.ts'

const tableWith = (modes: number, back: string) => `
CREATE TABLE flow_due_before AS SELECT parent, after, mode FROM flow_due;
DROP TABLE flow_due;
CREATE TABLE flow_due (
  parent INTEGER PRIMARY KEY, after INTEGER NOT NULL, mode INTEGER NOT NULL CHECK (mode BETWEEN 0 AND ${modes})
) STRICT;
CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (${back});
INSERT INTO flow_due (parent, after, mode) SELECT parent, after, CASE WHEN mode > ${modes} THEN 2 ELSE mode END FROM flow_due_before;
DROP TABLE flow_due_before;`

export const cancelReverted: Migration = {
  id: 23,
  name: 'cancel-reverted',
  sql: tableWith(4, '1, 3, 4'),
  down: tableWith(3, '1, 3'),
  minReader: 23,
}
