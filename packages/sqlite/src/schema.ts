/**
 * The tables of a file. They are STRICT, so that a value keeps the type that the engine gave it (`ANY`: JSON text stays text, bytes stay
 * bytes). NULL stands for the engine's 0 or undefined ("never", "none"), so that the partial indexes stay small. Checks mirror the lifecycle
 * of @millrace/core. The counters of a lane have no check: a wrong count must never stop a lane.
 */

const META = `
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
  created_at INTEGER NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT;
CREATE TABLE migration (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;`

const QUEUES = `
CREATE TABLE queue (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE queue_settings (
  queue INTEGER PRIMARY KEY REFERENCES queue (id),
  settings TEXT NOT NULL,
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  -- The token bucket: how long before it is full, at that time.
  missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL
) STRICT;
CREATE TABLE lane (
  id INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL REFERENCES queue (id),
  name TEXT NOT NULL,
  scheduled INTEGER NOT NULL, waiting INTEGER NOT NULL, active INTEGER NOT NULL, blocked INTEGER NOT NULL,
  completed INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  total_enqueued INTEGER NOT NULL, total_completed INTEGER NOT NULL, total_failed INTEGER NOT NULL, total_cancelled INTEGER NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)), retrying INTEGER NOT NULL DEFAULT 0 CHECK (retrying >= 0),
  -- The time of the last turn that has changed one of these, and the first event after it.
  used_at INTEGER NOT NULL, used_event INTEGER NOT NULL,
  UNIQUE (queue, name)
) STRICT;
CREATE TABLE pause_end (
  queue INTEGER NOT NULL REFERENCES queue (id), part TEXT NOT NULL CHECK (part IN ('queue', 'name', 'key')),
  -- The name or the key; empty for the whole queue.
  what TEXT NOT NULL, until INTEGER NOT NULL CHECK (until > 0), PRIMARY KEY (queue, part, what)
) STRICT, WITHOUT ROWID;`

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
  gate INTEGER CHECK (gate IS NULL OR state = 1),
  -- The queue, of a job in one that drops its oldest; 0: it was dropped.
  dropping INTEGER CHECK (dropping >= 0),
  CHECK ((state >= 4) = (finished_at IS NOT NULL)),
  CHECK (state <> 2 OR (run > 0 AND session IS NOT NULL AND started_at IS NOT NULL))
) STRICT;
-- Each ends in the row number by itself.
CREATE INDEX job_waiting ON job (lane, rank, run_at) WHERE state = 1 AND gate IS NULL;
CREATE INDEX job_parked ON job (gate, rank, run_at) WHERE gate IS NOT NULL;
-- Parked jobs by arrival: their gates are below zero.
CREATE INDEX job_strict ON job (gate) WHERE gate < 0;
CREATE INDEX job_arrival ON job (dropping) WHERE dropping IS NOT NULL AND state IN (0, 1);
CREATE INDEX job_scheduled ON job (run_at) WHERE state = 0;
CREATE INDEX job_retrying ON job (run_at) WHERE state = 0 AND run > uncounted;
CREATE INDEX job_expiry ON job (expires_at) WHERE expires_at IS NOT NULL AND state IN (0, 1, 3);
CREATE INDEX job_failed ON job (lane, finished_at) WHERE state = 5;
CREATE INDEX job_sourced ON job (node) WHERE node >= 67108864;`

/**
 * Finished and running jobs have no index on the job: each would cost every job two changes. One row for each turn lists the jobs that
 * finished in it; one row of the file lists those that ran at some event, and the journal has the later starts. See docs/decisions/0005.
 */
const ENDS = `
-- A hint: a job that was brought back or deleted since has another state, another finished_at, or no row.
CREATE TABLE finished (
  queue INTEGER NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6), turn INTEGER NOT NULL, lane INTEGER NOT NULL,
  at INTEGER NOT NULL, seqs BLOB NOT NULL,
  PRIMARY KEY (queue, state, turn, lane)
) STRICT, WITHOUT ROWID;
CREATE TABLE running (one INTEGER PRIMARY KEY CHECK (one = 1), event INTEGER NOT NULL, seqs BLOB NOT NULL) STRICT;
-- Finished jobs that have a keep of their own: a hint, as in finished. at + keep = until.
CREATE TABLE kept (
  queue INTEGER NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 6), turn INTEGER NOT NULL, lane INTEGER NOT NULL,
  until INTEGER NOT NULL, at INTEGER NOT NULL CHECK (at <= until), seqs BLOB NOT NULL,
  PRIMARY KEY (queue, state, turn, lane, until)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_until ON kept (queue, state, until);
-- A queue with none has no row.
CREATE TABLE kept_count (
  queue INTEGER PRIMARY KEY, completed INTEGER NOT NULL CHECK (completed >= 0), failed INTEGER NOT NULL CHECK (failed >= 0),
  cancelled INTEGER NOT NULL CHECK (cancelled >= 0)
) STRICT;
CREATE TABLE export (
  name TEXT PRIMARY KEY, cursor INTEGER NOT NULL CHECK (cursor >= 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

const KEYS = `
CREATE TABLE idempotency (
  name TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, node INTEGER NOT NULL, enqueued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Jobs from seq to this row keep the key past its time while one of them lives; NULL: time alone ends it.
  last INTEGER CHECK (last >= seq),
  -- Its time is over: expires_at says when it is looked at again.
  lapsed INTEGER NOT NULL DEFAULT 0 CHECK (lapsed IN (0, 1)),
  PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE TABLE unique_key (
  name TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
-- Jobs that a limit on their key holds back wait outside their lanes, behind a gate.
CREATE TABLE gate (
  id INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL REFERENCES lane (id),
  key TEXT NOT NULL,
  parked INTEGER NOT NULL,
  UNIQUE (lane, key)
) STRICT;
CREATE TABLE paused_key (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
-- The token bucket of a key: how long before it is full, at that time. A full one has no row.
CREATE TABLE key_bucket (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, missing_ms REAL NOT NULL, missing_at INTEGER NOT NULL,
  PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
-- In queues that keep an order: the job that has its key's turn, until it is final.
CREATE TABLE key_turn (
  queue INTEGER NOT NULL REFERENCES queue (id), key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
-- By blocks of 4,096 jobs, so that a turn's new tags are on a few pages instead of one page per tag.
CREATE TABLE tag (
  block INTEGER NOT NULL CHECK (block = seq >> 12), tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (block, tag, seq)
) STRICT, WITHOUT ROWID;`

const RUNS = `
CREATE TABLE session (
  id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, worker TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
  attached_at INTEGER NOT NULL,
  -- Of another process: it may outlive the engine's own, and has its lease to come back.
  remote INTEGER NOT NULL DEFAULT 0 CHECK (remote IN (0, 1)),
  -- Those that were reported as attached and not yet as gone are stored, so that each is reported once.
  presence TEXT NOT NULL DEFAULT 'gone' CHECK (presence IN ('here', 'draining', 'gone')),
  -- Its process, so that the next owner sees that it is dead; empty if its client gives none.
  process TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX session_present ON session (presence) WHERE presence <> 'gone';
-- The rows of attempts, log lines and results may be large: in a table without row ids, one over 1,002 bytes takes a page of its own.
CREATE TABLE attempt (
  seq INTEGER NOT NULL, run INTEGER NOT NULL, attempt INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
  worker TEXT NOT NULL, error_name TEXT NOT NULL, error_message TEXT NOT NULL, error_stack TEXT,
  error_code TEXT,
  -- JSON: [{ name, message, code? }], the nearest first.
  error_cause TEXT,
  PRIMARY KEY (seq, run)
) STRICT;
CREATE TABLE log (
  seq INTEGER NOT NULL, run INTEGER NOT NULL, slot INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL,
  level TEXT NOT NULL, message TEXT NOT NULL, fields TEXT,
  PRIMARY KEY (seq, run, slot)
) STRICT;
-- Results of durable calls.
CREATE TABLE step (
  seq INTEGER NOT NULL, number INTEGER NOT NULL, asked INTEGER NOT NULL, name TEXT NOT NULL,
  -- 0 step, 1 sleep, 2 message, 3 join, 4 change
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),
  run INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, value ANY,
  error_name TEXT NOT NULL, error_message TEXT NOT NULL, error_stack TEXT, error_code TEXT, error_cause TEXT,
  PRIMARY KEY (seq, number)
) STRICT;
-- Messages that no wait has taken yet.
CREATE TABLE message (
  seq INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, sender TEXT, value ANY NOT NULL,
  PRIMARY KEY (seq, number)
) STRICT;
CREATE TABLE definition (
  name TEXT PRIMARY KEY, defaults TEXT NOT NULL,
  -- The session, the worker and the host that have said it, and when.
  session TEXT NOT NULL, worker TEXT NOT NULL, host TEXT NOT NULL, said_at INTEGER NOT NULL,
  -- Jobs in rows before this one were enqueued when nothing was known of the name.
  first_seq INTEGER NOT NULL,
  -- Jobs of the name in rows before this one have yet to take the defaults; 0: none.
  settling INTEGER NOT NULL CHECK (settling >= 0)
) STRICT, WITHOUT ROWID;`

const JOURNAL = `
CREATE TABLE journal (
  first_event INTEGER PRIMARY KEY, at INTEGER NOT NULL, count INTEGER NOT NULL CHECK (count > 0), packed BLOB NOT NULL,
  -- As in meta, after the turn: the larger of both is so.
  next_seq INTEGER NOT NULL, next_session INTEGER NOT NULL,
  -- Bytes of all rows up to this one, those that are gone included.
  bytes INTEGER NOT NULL
) STRICT;
-- The position of each producer's journal.
CREATE TABLE source (
  uuid TEXT PRIMARY KEY, mark INTEGER NOT NULL CHECK (mark > 0), moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

const SCHEDULES = `
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
CREATE INDEX schedule_held ON schedule (held) WHERE held = 1;`

/** Only jobs of flows have rows here. */
const FLOWS = `
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
-- Jobs whose children are to be told, from behind one of them on. The modes are those of flowModes.ts.
CREATE TABLE flow_due (
  parent INTEGER PRIMARY KEY, after INTEGER NOT NULL, mode INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 4)
) STRICT;
CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3, 4);
-- What is left of a job whose row is gone, for as long as an edge leads to it.
CREATE TABLE flow_end (
  seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, state INTEGER NOT NULL CHECK (state BETWEEN 4 AND 7),
  output ANY, error_name TEXT, error_message TEXT, error_code TEXT, error_cause TEXT
) STRICT;
-- Jobs whose rows are gone, and whose edges follow.
CREATE TABLE flow_gone (child INTEGER PRIMARY KEY) STRICT;`

const HISTORY = `
-- A queue's totals before the first turn of a minute, or of an hour, that counted something. step: 0 minute, 1 hour.
CREATE TABLE history (
  queue INTEGER NOT NULL, step INTEGER NOT NULL CHECK (step IN (0, 1)), at INTEGER NOT NULL,
  enqueued INTEGER NOT NULL, completed INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  PRIMARY KEY (queue, step, at)
) STRICT, WITHOUT ROWID;
-- A kind of failure, with the last job that failed so: its message is in that job's attempt, and nowhere else.
CREATE TABLE failure (
  lane INTEGER NOT NULL, fingerprint INTEGER NOT NULL, error TEXT NOT NULL, count INTEGER NOT NULL CHECK (count > 0),
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, seq INTEGER NOT NULL, run INTEGER NOT NULL,
  -- The count before the first failure of an hour: [hour since 1970, count, hour, count, ...].
  hours TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (lane, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX failure_last ON failure (last_at);`

export const SCHEMA = [META, QUEUES, JOBS, ENDS, KEYS, RUNS, JOURNAL, SCHEDULES, FLOWS, HISTORY].join('\n')
