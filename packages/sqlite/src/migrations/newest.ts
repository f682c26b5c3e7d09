/** The schema of this version: all migrations applied. Written by `vitest -u`, and held by schema.test.ts. */
export const NEWEST = `CREATE TABLE attempt (
  seq INTEGER NOT NULL, run INTEGER NOT NULL, attempt INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
  worker TEXT NOT NULL, error_name TEXT NOT NULL, error_message TEXT NOT NULL, error_stack TEXT, error_code TEXT, error_cause TEXT,
  PRIMARY KEY (seq, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE definition (name TEXT PRIMARY KEY, defaults TEXT NOT NULL, session TEXT NOT NULL DEFAULT '', worker TEXT NOT NULL DEFAULT '', host TEXT NOT NULL DEFAULT '', said_at INTEGER NOT NULL DEFAULT 0, first_seq INTEGER NOT NULL DEFAULT 1, settling INTEGER NOT NULL DEFAULT 0 CHECK (settling >= 0)) STRICT, WITHOUT ROWID;

CREATE TABLE export (
  name TEXT PRIMARY KEY, cursor INTEGER NOT NULL CHECK (cursor >= 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE failure (
  lane INTEGER NOT NULL, fingerprint INTEGER NOT NULL, error TEXT NOT NULL, count INTEGER NOT NULL CHECK (count > 0),
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, seq INTEGER NOT NULL, run INTEGER NOT NULL, hours TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (lane, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE INDEX failure_last ON failure (last_at);

CREATE TABLE finished (
  queue INTEGER NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6), turn INTEGER NOT NULL, lane INTEGER NOT NULL,
  at INTEGER NOT NULL, seqs BLOB NOT NULL,
  PRIMARY KEY (queue, state, turn, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE flow_due (
  parent INTEGER PRIMARY KEY, after INTEGER NOT NULL, mode INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 4)
) STRICT;

CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3, 4);

CREATE TABLE flow_edge (
  parent INTEGER NOT NULL, child INTEGER NOT NULL, place INTEGER NOT NULL,
  told INTEGER NOT NULL CHECK (told = 0 OR told BETWEEN 4 AND 7),
  PRIMARY KEY (parent, child)
) STRICT, WITHOUT ROWID;

CREATE INDEX flow_edge_child ON flow_edge (child, place);

CREATE TABLE flow_end (
  seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 7),
  output ANY, error_name TEXT, error_message TEXT
, error_code TEXT, error_cause TEXT) STRICT;

CREATE TABLE flow_gate (
  seq INTEGER PRIMARY KEY, pending INTEGER NOT NULL CHECK (pending >= 0), failed INTEGER NOT NULL CHECK (failed >= 0),
  -- 0 closed, 1 open, 2 shut
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2)
) STRICT;

CREATE TABLE flow_gone (child INTEGER PRIMARY KEY) STRICT;

CREATE TABLE gate (
  id INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL REFERENCES lane (id),
  key TEXT NOT NULL,
  parked INTEGER NOT NULL,
  UNIQUE (lane, key)
) STRICT;

CREATE TABLE history (
  queue INTEGER NOT NULL, step INTEGER NOT NULL CHECK (step IN (0, 1)), at INTEGER NOT NULL,
  enqueued INTEGER NOT NULL, completed INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  PRIMARY KEY (queue, step, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  name TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, node INTEGER NOT NULL, enqueued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, last INTEGER CHECK (last >= seq), lapsed INTEGER NOT NULL DEFAULT 0 CHECK (lapsed IN (0, 1)),
  PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_expiry ON idempotency (expires_at);

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
  output ANY, gate INTEGER CHECK (gate IS NULL OR state = 1), dropping INTEGER CHECK (dropping >= 0),
  CHECK ((state >= 4) = (finished_at IS NOT NULL)),
  CHECK (state <> 2 OR (run > 0 AND session IS NOT NULL AND started_at IS NOT NULL))
) STRICT;

CREATE INDEX job_arrival ON job (dropping) WHERE dropping IS NOT NULL AND state IN (0, 1);

CREATE INDEX job_expiry ON job (expires_at) WHERE expires_at IS NOT NULL AND state IN (0, 1, 3);

CREATE INDEX job_failed ON job (lane, finished_at) WHERE state = 5;

CREATE INDEX job_parked ON job (gate, rank, run_at) WHERE gate IS NOT NULL;

CREATE INDEX job_retrying ON job (run_at) WHERE state = 0 AND run > uncounted;

CREATE INDEX job_scheduled ON job (run_at) WHERE state = 0;

CREATE INDEX job_sourced ON job (node) WHERE node >= 67108864;

CREATE INDEX job_strict ON job (gate) WHERE gate < 0;

CREATE INDEX job_waiting ON job (lane, rank, run_at) WHERE state = 1 AND gate IS NULL;

CREATE TABLE journal (
  first_event INTEGER PRIMARY KEY, at INTEGER NOT NULL, count INTEGER NOT NULL CHECK (count > 0), packed BLOB NOT NULL
, next_seq INTEGER NOT NULL DEFAULT 1, next_session INTEGER NOT NULL DEFAULT 1, bytes INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE kept (
  queue INTEGER NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6), turn INTEGER NOT NULL, lane INTEGER NOT NULL,
  until INTEGER NOT NULL, at INTEGER NOT NULL CHECK (at <= until), seqs BLOB NOT NULL,
  PRIMARY KEY (queue, state, turn, lane, until)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_until ON kept (queue, state, until);

CREATE TABLE kept_count (
  queue INTEGER PRIMARY KEY, completed INTEGER NOT NULL CHECK (completed >= 0), failed INTEGER NOT NULL CHECK (failed >= 0),
  cancelled INTEGER NOT NULL CHECK (cancelled >= 0)
) STRICT;

CREATE TABLE key_bucket (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL,
  PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_turn (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE lane (
  id INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL REFERENCES queue (id),
  name TEXT NOT NULL,
  scheduled INTEGER NOT NULL, waiting INTEGER NOT NULL, active INTEGER NOT NULL, blocked INTEGER NOT NULL,
  completed INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  total_enqueued INTEGER NOT NULL, total_completed INTEGER NOT NULL, total_failed INTEGER NOT NULL, total_cancelled INTEGER NOT NULL, paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)), retrying INTEGER NOT NULL DEFAULT 0 CHECK (retrying >= 0),
  UNIQUE (queue, name)
) STRICT;

CREATE TABLE log (
  seq INTEGER NOT NULL, run INTEGER NOT NULL, slot INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL,
  level TEXT NOT NULL, message TEXT NOT NULL, fields TEXT,
  PRIMARY KEY (seq, run, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL,
  -- NULL in a copy: who opens it first draws another.
  node INTEGER CHECK (node BETWEEN 1 AND 67108863),
  next_seq INTEGER NOT NULL CHECK (next_seq BETWEEN 1 AND 281474976710656),
  next_event INTEGER NOT NULL,
  next_session INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  min_reader INTEGER NOT NULL CHECK (min_reader <= schema_version),
  created_at INTEGER NOT NULL
, paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)), said_from INTEGER NOT NULL DEFAULT 1) STRICT;

CREATE TABLE migration (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;

CREATE TABLE pause_end (
  queue INTEGER NOT NULL REFERENCES queue (id), part TEXT NOT NULL CHECK (part IN ('queue', 'name', 'key')),
  -- The name or the key; empty for the whole queue.
  what TEXT NOT NULL, until INTEGER NOT NULL CHECK (until > 0), PRIMARY KEY (queue, part, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE paused_key (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE queue_settings (
  queue INTEGER PRIMARY KEY REFERENCES queue (id),
  settings TEXT NOT NULL,
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  -- The token bucket: how long before it is full, at that time.
  missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL
) STRICT;

CREATE TABLE running (
  one INTEGER PRIMARY KEY CHECK (one = 1), event INTEGER NOT NULL, seqs BLOB NOT NULL
) STRICT;

CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  name TEXT NOT NULL, options TEXT NOT NULL, data ANY,
  anchor INTEGER NOT NULL,
  next_at INTEGER, fire_at INTEGER, last_at INTEGER,
  held INTEGER NOT NULL CHECK (held IN (0, 1)), paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  behind INTEGER NOT NULL, fired INTEGER NOT NULL, skipped INTEGER NOT NULL,
  job_seq INTEGER, job_node INTEGER, job_enqueued_at INTEGER,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  CHECK ((next_at IS NULL) = (fire_at IS NULL)),
  CHECK (fire_at >= next_at)
) STRICT;

CREATE INDEX schedule_due ON schedule (fire_at) WHERE fire_at IS NOT NULL AND paused = 0 AND held = 0;

CREATE INDEX schedule_held ON schedule (held) WHERE held = 1;

CREATE TABLE session (
  id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, worker TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, attached_at INTEGER NOT NULL
, remote INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1)), presence TEXT NOT NULL DEFAULT 'gone' CHECK (presence IN ('here', 'draining', 'gone')), process TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX session_present ON session (presence) WHERE presence <> 'gone';

CREATE TABLE source (
  uuid TEXT PRIMARY KEY, mark INTEGER NOT NULL CHECK (mark > 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE "tag" (
  block INTEGER NOT NULL CHECK (block = seq >> 12), tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (block, tag, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE unique_key (
  name TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
`
