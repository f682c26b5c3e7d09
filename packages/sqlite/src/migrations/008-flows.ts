/**
 * Stores flows: which jobs wait for which, what each has learned, and which jobs are still to be notified. Only jobs of flows
 * have rows here. An older version would release none of them, and would prune jobs that others wait for.
 */
import type { Migration } from './migration.ts'

const SQL = `
-- A job that waits for others: those of them that live and those that have failed, as far as it was told.
CREATE TABLE flow_gate (
  seq INTEGER PRIMARY KEY, pending INTEGER NOT NULL CHECK (pending >= 0), failed INTEGER NOT NULL CHECK (failed >= 0),
  -- 0 closed, 1 open, 2 shut
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2)
) STRICT;
-- told: 0 that the parent lives, else its final state, or 7: deleted before it had one.
CREATE TABLE flow_edge (
  parent INTEGER NOT NULL, child INTEGER NOT NULL, place INTEGER NOT NULL,
  told INTEGER NOT NULL CHECK (told = 0 OR told BETWEEN 4 AND 7),
  PRIMARY KEY (parent, child)
) STRICT, WITHOUT ROWID;
CREATE INDEX flow_edge_child ON flow_edge (child, place);
-- Jobs whose children are to be told, from behind one of them on. mode: 0 tell, 1 back, 2 cancel, 3 retry.
CREATE TABLE flow_due (
  parent INTEGER PRIMARY KEY, after INTEGER NOT NULL, mode INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 3)
) STRICT;
CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3);
-- What is left of a job whose row is gone, for as long as an edge leads to it.
CREATE TABLE flow_end (
  seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 7),
  output ANY, error_name TEXT, error_message TEXT
) STRICT;
-- Jobs whose rows are gone, and whose edges follow.
CREATE TABLE flow_gone (child INTEGER PRIMARY KEY) STRICT;`

export const flows: Migration = { id: 8, name: 'flows', sql: SQL, minReader: 8 }
