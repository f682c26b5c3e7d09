/** The tables of a schema. Times are milliseconds since 1970, and columns mean what those of SQLite mean. */
import { COUNTERS } from '@millrace/sql'
import { CREATE_FUNCTIONS } from './functions.ts'
import { CREATE_INBOX } from './inbox/schema.ts'
import { CREATE_FRAME } from './mailbox/mailbox.ts'
import { CREATE_PLACES } from './tables/places.ts'

const COUNTER_COLUMNS = COUNTERS.map((name) => `${name} bigint NOT NULL`).join(', ')

/** Statements that create the schema in the search path. */
export const CREATE_SCHEMA: readonly string[] = [
  `CREATE TABLE meta (
  one smallint PRIMARY KEY CHECK (one = 1), node bigint NOT NULL, schema_version bigint NOT NULL, min_reader bigint NOT NULL,
  created_at bigint NOT NULL, paused smallint NOT NULL DEFAULT 0, inbox_number bigint NOT NULL,
  history text NOT NULL
)`,
  `CREATE TABLE journal (
  turn bigint PRIMARY KEY, epoch bigint NOT NULL, at bigint NOT NULL, next_seq bigint NOT NULL, next_event bigint NOT NULL,
  next_session bigint NOT NULL, first_event bigint NOT NULL, count bigint NOT NULL, bytes bigint NOT NULL, packed bytea NOT NULL,
  counted bigint[] NOT NULL DEFAULT '{}'
)`,
  'CREATE UNIQUE INDEX journal_event ON journal (first_event) WHERE count > 0',
  // The address and the process of the owner, by which others find it. It decides nothing.
  `CREATE TABLE owner (
  one smallint PRIMARY KEY CHECK (one = 1), epoch bigint NOT NULL, since timestamptz NOT NULL, host text NOT NULL, boot text NOT NULL,
  pid bigint NOT NULL, library text NOT NULL, protocol_min bigint NOT NULL, protocol_max bigint NOT NULL, url text NOT NULL, secret text NOT NULL,
  schema_id text NOT NULL
)`,
  `CREATE TABLE job (
  seq bigint PRIMARY KEY, node bigint NOT NULL, lane bigint NOT NULL, state smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
  rank bigint NOT NULL, weight bigint NOT NULL, run_at bigint NOT NULL, run bigint NOT NULL,
  uncounted bigint NOT NULL CHECK (uncounted BETWEEN 0 AND run), session bigint, enqueued_at bigint NOT NULL, started_at bigint,
  finished_at bigint, expires_at bigint, cancel_requested smallint NOT NULL CHECK (cancel_requested IN (0, 1)), policy text, extras text,
  data text, checkpoint text, progress text, output text, gate bigint CHECK (gate IS NULL OR state = 1), dropping bigint CHECK (dropping >= 0),
  data_bytes bytea, checkpoint_bytes bytea, output_bytes bytea,
  CHECK ((state >= 4) = (finished_at IS NOT NULL)),
  CHECK (state <> 2 OR (run > 0 AND session IS NOT NULL AND started_at IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)`,
  // The number in a producer's journal never changes.
  'CREATE INDEX job_sourced ON job (node) WHERE node >= 67108864',
  ...CREATE_PLACES,
  'CREATE TABLE queue (id bigint PRIMARY KEY, name text NOT NULL UNIQUE)',
  `CREATE TABLE lane (
  id bigint PRIMARY KEY, queue bigint NOT NULL, name text NOT NULL, ${COUNTER_COLUMNS}, paused smallint NOT NULL DEFAULT 0,
  used_at bigint NOT NULL, used_event bigint NOT NULL, UNIQUE (queue, name)
) WITH (fillfactor = 50)`,
  `CREATE TABLE queue_settings (
  queue bigint PRIMARY KEY, settings text NOT NULL, paused smallint NOT NULL, missing_ms float8 NOT NULL, missing_at bigint NOT NULL
)`,
  'CREATE TABLE gate (id bigint PRIMARY KEY, lane bigint NOT NULL, key text NOT NULL, parked bigint NOT NULL, UNIQUE (lane, key))',
  `CREATE TABLE pause_end (
  queue bigint NOT NULL, part text NOT NULL CHECK (part IN ('queue', 'name', 'key')), what text NOT NULL,
  until bigint NOT NULL CHECK (until > 0), PRIMARY KEY (queue, part, what)
)`,
  'CREATE TABLE paused_key (queue bigint NOT NULL, key text NOT NULL, PRIMARY KEY (queue, key))',
  `CREATE TABLE key_bucket (
  queue bigint NOT NULL, key text NOT NULL, missing_ms float8 NOT NULL, missing_at bigint NOT NULL, PRIMARY KEY (queue, key)
)`,
  'CREATE TABLE key_turn (queue bigint NOT NULL, key text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (queue, key))',
  `CREATE TABLE session (
  id bigint PRIMARY KEY, uuid text NOT NULL, worker text NOT NULL, host text NOT NULL, pid bigint NOT NULL, attached_at bigint NOT NULL,
  remote smallint NOT NULL, presence text NOT NULL DEFAULT 'gone' CHECK (presence IN ('here', 'draining', 'gone')),
  process text NOT NULL DEFAULT ''
)`,
  "CREATE INDEX session_present ON session (id) WHERE presence <> 'gone'",
  `CREATE TABLE definition (
  name text PRIMARY KEY, defaults text NOT NULL, session text NOT NULL, worker text NOT NULL, host text NOT NULL, said_at bigint NOT NULL,
  first_seq bigint NOT NULL, settling bigint NOT NULL CHECK (settling >= 0)
)`,
  `CREATE TABLE attempt (
  seq bigint NOT NULL, run bigint NOT NULL, attempt bigint NOT NULL, started_at bigint NOT NULL, ended_at bigint NOT NULL, worker text NOT NULL,
  error_name text NOT NULL, error_message text NOT NULL, error_stack text, error_code text, error_cause text, fingerprint bigint,
  PRIMARY KEY (seq, run)
)`,
  `CREATE TABLE log (
  seq bigint NOT NULL, run bigint NOT NULL, slot bigint NOT NULL, number bigint NOT NULL, at bigint NOT NULL, level text NOT NULL,
  message text NOT NULL, fields text, PRIMARY KEY (seq, run, slot)
)`,
  `CREATE TABLE step (
  seq bigint NOT NULL, number bigint NOT NULL, asked bigint NOT NULL, name text NOT NULL, kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 4),
  run bigint NOT NULL, started_at bigint NOT NULL, ended_at bigint NOT NULL, value text, value_bytes bytea,
  error_name text NOT NULL, error_message text NOT NULL, error_stack text, error_code text, error_cause text, PRIMARY KEY (seq, number)
)`,
  // Messages that no wait has taken yet.
  `CREATE TABLE message (
  seq bigint NOT NULL, number bigint NOT NULL, name text NOT NULL, at bigint NOT NULL, sender text, value text, value_bytes bytea,
  PRIMARY KEY (seq, number)
)`,
  `CREATE TABLE finished (
  queue bigint NOT NULL, state smallint NOT NULL CHECK (state BETWEEN 4 AND 6), turn bigint NOT NULL, lane bigint NOT NULL, at bigint NOT NULL,
  seqs bytea NOT NULL, PRIMARY KEY (queue, state, turn, lane)
)`,
  'CREATE TABLE running (one smallint PRIMARY KEY CHECK (one = 1), event bigint NOT NULL, seqs bytea NOT NULL, counted_to bigint NOT NULL DEFAULT 0)',
  // Finished jobs that have a `keep` of their own, by the time until which they are kept: a hint, as in finished.
  `CREATE TABLE kept (
  queue bigint NOT NULL, state smallint NOT NULL CHECK (state BETWEEN 4 AND 6), turn bigint NOT NULL, lane bigint NOT NULL,
  until bigint NOT NULL, at bigint NOT NULL CHECK (at <= until), seqs bytea NOT NULL, PRIMARY KEY (queue, state, turn, lane, until)
)`,
  'CREATE INDEX kept_until ON kept (queue, state, until, turn, lane)',
  `CREATE TABLE kept_count (
  queue bigint PRIMARY KEY, completed bigint NOT NULL CHECK (completed >= 0), failed bigint NOT NULL CHECK (failed >= 0),
  cancelled bigint NOT NULL CHECK (cancelled >= 0)
)`,
  `CREATE TABLE idempotency (
  name text NOT NULL, key text NOT NULL, seq bigint NOT NULL, node bigint NOT NULL, enqueued_at bigint NOT NULL, expires_at bigint NOT NULL,
  last bigint CHECK (last >= seq), lapsed smallint NOT NULL DEFAULT 0, PRIMARY KEY (name, key)
)`,
  'CREATE INDEX idempotency_expiry ON idempotency (expires_at)',
  'CREATE TABLE unique_key (name text NOT NULL, key text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (name, key))',
  'CREATE TABLE tag (tag text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (tag, seq))',
  'CREATE TABLE source (uuid text PRIMARY KEY, mark bigint NOT NULL CHECK (mark > 0), moved_at bigint NOT NULL)',
  `CREATE TABLE export (name text COLLATE "C" PRIMARY KEY, cursor bigint NOT NULL CHECK (cursor >= 0), moved_at bigint NOT NULL)`,
  `CREATE TABLE schedule (
  id text COLLATE "C" PRIMARY KEY, spec text NOT NULL, name text NOT NULL, options text NOT NULL, data text, anchor bigint NOT NULL,
  next_at bigint, fire_at bigint CHECK (fire_at >= next_at), last_at bigint, held smallint NOT NULL, paused smallint NOT NULL,
  behind bigint NOT NULL, fired bigint NOT NULL, skipped bigint NOT NULL, job_seq bigint, job_node bigint, job_enqueued_at bigint,
  created_at bigint NOT NULL, updated_at bigint NOT NULL, data_bytes bytea, CHECK ((next_at IS NULL) = (fire_at IS NULL))
)`,
  'CREATE INDEX schedule_due ON schedule (fire_at) WHERE fire_at IS NOT NULL AND paused = 0 AND held = 0',
  'CREATE INDEX schedule_held ON schedule (id) WHERE held = 1',
  `CREATE TABLE history (
  queue bigint NOT NULL, step smallint NOT NULL, at bigint NOT NULL, enqueued bigint NOT NULL, completed bigint NOT NULL, failed bigint NOT NULL,
  cancelled bigint NOT NULL, PRIMARY KEY (queue, step, at)
)`,
  `CREATE TABLE failure (
  lane bigint NOT NULL, fingerprint bigint NOT NULL, error text NOT NULL, count bigint NOT NULL, first_at bigint NOT NULL, last_at bigint NOT NULL,
  seq bigint NOT NULL, run bigint NOT NULL, hours text NOT NULL, PRIMARY KEY (lane, fingerprint)
)`,
  `CREATE TABLE flow_gate (
  seq bigint PRIMARY KEY, pending bigint NOT NULL CHECK (pending >= 0), failed bigint NOT NULL CHECK (failed >= 0), state smallint NOT NULL
)`,
  `CREATE TABLE flow_edge (
  parent bigint NOT NULL, child bigint NOT NULL, place bigint NOT NULL, told smallint NOT NULL, PRIMARY KEY (parent, child)
)`,
  'CREATE INDEX flow_edge_child ON flow_edge (child, place)',
  'CREATE TABLE flow_due (parent bigint PRIMARY KEY, after bigint NOT NULL, mode smallint NOT NULL)',
  'CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3, 4)',
  `CREATE TABLE flow_end (
  seq bigint PRIMARY KEY, ref text NOT NULL, state smallint NOT NULL, output text, output_bytes bytea, error_name text, error_message text,
  error_code text, error_cause text
)`,
  'CREATE TABLE flow_gone (child bigint PRIMARY KEY)',
  CREATE_FRAME,
  ...CREATE_FUNCTIONS,
  ...CREATE_INBOX,
]
