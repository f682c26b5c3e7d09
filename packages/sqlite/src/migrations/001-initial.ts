/**
 * The first schema. Its tables are STRICT, so that a value keeps the type that the engine gave it (`ANY`: JSON text stays text,
 * bytes stay bytes). NULL stands for the engine's 0 or undefined ("never", "none"), so that the partial indexes stay small.
 * Checks mirror the lifecycle of @millrace/core. The counters of a lane have no check: a wrong count must never stop a lane.
 */
import type { Migration } from './migration.ts'

const META = `
CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL,
  -- NULL in a copy: who opens it first draws another.
  node INTEGER CHECK (node BETWEEN 1 AND 67108863),
  next_seq INTEGER NOT NULL CHECK (next_seq BETWEEN 1 AND 281474976710656),
  next_event INTEGER NOT NULL,
  next_session INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  journal_bytes INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  min_reader INTEGER NOT NULL CHECK (min_reader <= schema_version),
  created_at INTEGER NOT NULL
) STRICT;`

const LANES = `
CREATE TABLE queue (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE lane (
  id INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL REFERENCES queue (id),
  name TEXT NOT NULL,
  scheduled INTEGER NOT NULL, waiting INTEGER NOT NULL, active INTEGER NOT NULL, blocked INTEGER NOT NULL,
  completed INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  total_enqueued INTEGER NOT NULL, total_completed INTEGER NOT NULL, total_failed INTEGER NOT NULL, total_cancelled INTEGER NOT NULL,
  UNIQUE (queue, name)
) STRICT;`

const JOBS = `
CREATE TABLE job (
  seq INTEGER PRIMARY KEY,
  node INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  -- 0 scheduled, 1 waiting, 2 active, 3 blocked, 4 completed, 5 failed, 6 cancelled
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
  -- The priority with its sign turned: lower runs first, as in the index.
  rank INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  run INTEGER NOT NULL,
  uncounted INTEGER NOT NULL CHECK (uncounted BETWEEN 0 AND run),
  session INTEGER,
  enqueued_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  expires_at INTEGER,
  cancel_requested INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
  policy TEXT,
  extras TEXT,
  data ANY,
  checkpoint ANY,
  progress TEXT,
  output ANY,
  CHECK ((state >= 4) = (finished_at IS NOT NULL)),
  CHECK (state <> 2 OR (run > 0 AND session IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
-- Each ends in the row number by itself.
CREATE INDEX job_waiting ON job (lane, rank, run_at) WHERE state = 1;
CREATE INDEX job_scheduled ON job (run_at) WHERE state = 0;
CREATE INDEX job_active ON job (state) WHERE state = 2;
CREATE INDEX job_expiry ON job (expires_at) WHERE expires_at IS NOT NULL AND state IN (0, 1, 3);
CREATE INDEX job_finished ON job (lane, state, finished_at) WHERE finished_at IS NOT NULL;`

const KEYS = `
CREATE TABLE idempotency (
  name TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, node INTEGER NOT NULL, enqueued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE TABLE unique_key (
  name TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE tag (tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tag, seq)) STRICT, WITHOUT ROWID;`

const RUNS = `
CREATE TABLE session (
  id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, worker TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, attached_at INTEGER NOT NULL
) STRICT;
CREATE TABLE attempt (
  seq INTEGER NOT NULL, run INTEGER NOT NULL, attempt INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
  worker TEXT NOT NULL, error_name TEXT NOT NULL, error_message TEXT NOT NULL, error_stack TEXT,
  PRIMARY KEY (seq, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE log (
  seq INTEGER NOT NULL, run INTEGER NOT NULL, slot INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL,
  level TEXT NOT NULL, message TEXT NOT NULL, fields TEXT,
  PRIMARY KEY (seq, run, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE definition (name TEXT PRIMARY KEY, defaults TEXT NOT NULL) STRICT, WITHOUT ROWID;`

const JOURNAL = `
CREATE TABLE journal (
  first_event INTEGER PRIMARY KEY, at INTEGER NOT NULL, count INTEGER NOT NULL CHECK (count > 0), packed BLOB NOT NULL
) STRICT;`

export const initial: Migration = {
  id: 1,
  name: 'initial',
  sql: [META, LANES, JOBS, KEYS, RUNS, JOURNAL].join('\n'),
  minReader: 1,
}
