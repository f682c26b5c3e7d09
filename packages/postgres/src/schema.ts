/** The first version of the schema. Times are milliseconds since 1970, and columns mean what those of SQLite mean. */
import { COUNTERS } from '@millrace/sqlite/rows'
import { OTHER_OWNER } from './failure.ts'
import { CREATE_INBOX } from './inbox/schema.ts'
import { CREATE_FRAME } from './mailbox/mailbox.ts'
import { CREATE_PLACES } from './tables/places.ts'

const COUNTER_COLUMNS = COUNTERS.map((name) => `${name} bigint NOT NULL`).join(', ')

/**
 * The fence of every transaction: the next turn of this epoch, and no other. The key of `journal` lets only one transaction be that turn.
 *
 * @param counted given if the journal has the counters of lanes
 */
export function createTakeTurn(counted?: 'counted'): string {
  const [parameter, column, value] = counted === undefined ? ['', '', ''] : [', counters bigint[]', ', counted', ', counters']
  return `CREATE FUNCTION take_turn(
  next_turn bigint, mine bigint, turn_at bigint, seq bigint, event bigint, session bigint, first bigint, events bigint, bytes_so_far bigint, content bytea${parameter}
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO journal (turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed${column})
  SELECT next_turn, mine, turn_at, seq, event, session, first, events, bytes_so_far, content${value}
  FROM journal AS before WHERE before.turn = next_turn - 1 AND before.epoch = mine;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'turn % of epoch % does not follow the last one', next_turn, mine USING ERRCODE = '${OTHER_OWNER}';
  END IF;
END $$`
}

export const CREATE_TAKE_TURN = createTakeTurn()

/** Says which server this is, and which of its lives: another one may lack commits that were acknowledged. */
const SERVER_HISTORY = `CREATE FUNCTION server_history() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
  RETURN 'unknown';
END $$`

/**
 * Begins an epoch: a turn that only has the numbers. Without a former epoch, it follows any, and if the server has become another one, it skips
 * more numbers than a lost commit can have given. With one, it follows that alone, on the same server.
 *
 * @param also a statement that is run once the schema is claimed
 */
export const createClaim = (also: string): string => `CREATE FUNCTION claim(claimed_at bigint, former bigint, fresh_node bigint)
RETURNS TABLE (claimed_turn bigint, claimed_epoch bigint, claimed_node bigint) LANGUAGE plpgsql AS $$
DECLARE
  last journal;
  here text := server_history();
  moved boolean;
  skipped bigint;
  epochs bigint;
BEGIN
  SELECT * INTO last FROM journal ORDER BY turn DESC LIMIT 1;
  SELECT history <> here INTO moved FROM meta;
  IF former IS NOT NULL AND (moved OR last.epoch <> former) THEN
    RETURN;
  END IF;
  skipped := CASE WHEN moved THEN ${2 ** 20} ELSE 0 END;
  -- By a number that was drawn, since such a claim may be lost, too.
  epochs := CASE WHEN moved THEN ${2 ** 20} + fresh_node * ${2 ** 10} ELSE 0 END;
  -- The key waits for a turn that still goes on, and lets one transaction be the next.
  INSERT INTO journal (turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed)
  VALUES (
    last.turn + 1, last.epoch + 1 + epochs, greatest(claimed_at, last.at), last.next_seq + skipped, last.next_event + skipped,
    last.next_session + skipped, last.next_event + skipped, 0, last.bytes, ''
  );
  IF moved THEN
    UPDATE meta SET history = here, node = fresh_node;
  END IF;
  ${also}
  RETURN QUERY SELECT last.turn + 1, last.epoch + 1 + epochs, node FROM meta;
END $$`

export const CREATE_CLAIM = createClaim('')

/** Fails a transaction whose statement changed another number of rows than it must. */
const EXPECT_ROWS = `CREATE FUNCTION expect_rows(what text, changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> expected THEN
    RAISE EXCEPTION '%: % of % rows changed: the tables and the schema do not agree', what, changed, expected USING ERRCODE = 'MR002';
  END IF;
END $$`

/** Statements that create the schema in the search path. */
export const CREATE_SCHEMA: readonly string[] = [
  `CREATE TABLE meta (
  one smallint PRIMARY KEY CHECK (one = 1), node bigint NOT NULL, schema_version bigint NOT NULL, min_reader bigint NOT NULL,
  created_at bigint NOT NULL, paused smallint NOT NULL DEFAULT 0, said_from bigint NOT NULL DEFAULT 1, inbox_number bigint NOT NULL,
  history text NOT NULL
)`,
  `CREATE TABLE journal (
  turn bigint PRIMARY KEY, epoch bigint NOT NULL, at bigint NOT NULL, next_seq bigint NOT NULL, next_event bigint NOT NULL,
  next_session bigint NOT NULL, first_event bigint NOT NULL, count bigint NOT NULL, bytes bigint NOT NULL, packed bytea NOT NULL
)`,
  'CREATE UNIQUE INDEX journal_event ON journal (first_event) WHERE count > 0',
  // The address and the process of the owner, by which others find it. It decides nothing.
  `CREATE TABLE owner (
  one smallint PRIMARY KEY CHECK (one = 1), epoch bigint NOT NULL, since timestamptz NOT NULL, host text NOT NULL, boot text NOT NULL,
  pid bigint NOT NULL, library text NOT NULL, protocol_min bigint NOT NULL, protocol_max bigint NOT NULL, url text NOT NULL, secret text NOT NULL
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
  id bigint PRIMARY KEY, queue bigint NOT NULL, name text NOT NULL, ${COUNTER_COLUMNS}, paused smallint NOT NULL DEFAULT 0, UNIQUE (queue, name)
) WITH (fillfactor = 50)`,
  `CREATE TABLE queue_settings (
  queue bigint PRIMARY KEY, settings text NOT NULL, paused smallint NOT NULL, missing_ms float8 NOT NULL, missing_at bigint NOT NULL
)`,
  'CREATE TABLE gate (id bigint PRIMARY KEY, lane bigint NOT NULL, key text NOT NULL, parked bigint NOT NULL, UNIQUE (lane, key))',
  'CREATE TABLE paused_key (queue bigint NOT NULL, key text NOT NULL, PRIMARY KEY (queue, key))',
  `CREATE TABLE key_bucket (
  queue bigint NOT NULL, key text NOT NULL, missing_ms float8 NOT NULL, missing_at bigint NOT NULL, PRIMARY KEY (queue, key)
)`,
  'CREATE TABLE key_turn (queue bigint NOT NULL, key text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (queue, key))',
  `CREATE TABLE session (
  id bigint PRIMARY KEY, uuid text NOT NULL, worker text NOT NULL, host text NOT NULL, pid bigint NOT NULL, attached_at bigint NOT NULL,
  remote smallint NOT NULL, presence text NOT NULL DEFAULT 'gone' CHECK (presence IN ('here', 'draining', 'gone'))
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
  `CREATE TABLE finished (
  queue bigint NOT NULL, state smallint NOT NULL CHECK (state BETWEEN 4 AND 6), turn bigint NOT NULL, lane bigint NOT NULL, at bigint NOT NULL,
  seqs bytea NOT NULL, PRIMARY KEY (queue, state, turn, lane)
)`,
  'CREATE TABLE running (one smallint PRIMARY KEY CHECK (one = 1), event bigint NOT NULL, seqs bytea NOT NULL)',
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
  'CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3)',
  `CREATE TABLE flow_end (
  seq bigint PRIMARY KEY, ref text NOT NULL, state smallint NOT NULL, output text, output_bytes bytea, error_name text, error_message text,
  error_code text, error_cause text
)`,
  'CREATE TABLE flow_gone (child bigint PRIMARY KEY)',
  CREATE_FRAME,
  CREATE_TAKE_TURN,
  SERVER_HISTORY,
  CREATE_CLAIM,
  EXPECT_ROWS,
  ...CREATE_INBOX,
]
