/** The functions of a schema: each decides within one transaction what a client could decide only in several. */
import { COUNTERS } from '@millrace/sql'
import { OTHER_OWNER } from './failure.ts'

/** The fence of every transaction: the next turn of this epoch, and no other. The key of `journal` lets only one transaction be that turn. */
const TAKE_TURN = `CREATE FUNCTION take_turn(
  next_turn bigint, mine bigint, turn_at bigint, seq bigint, event bigint, session bigint, first bigint, events bigint,
  bytes_so_far bigint, content bytea, counters bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO journal (
    turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed, counted
  )
  SELECT next_turn, mine, turn_at, seq, event, session, first, events, bytes_so_far, content, counters
  FROM journal AS before WHERE before.turn = next_turn - 1 AND before.epoch = mine;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'turn % of epoch % does not follow the last one', next_turn, mine USING ERRCODE = '${OTHER_OWNER}';
  END IF;
END $$`

/** Fails a transaction whose statement changed another number of rows than it must. */
const EXPECT_ROWS = `CREATE FUNCTION expect_rows(what text, changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> expected THEN
    RAISE EXCEPTION '%: % of % rows changed: the tables and the schema do not agree', what, changed, expected USING ERRCODE = 'MR002';
  END IF;
END $$`

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
 * Counters are folded, also for a move, which copies lanes.
 */
const CLAIM = `CREATE FUNCTION claim(claimed_at bigint, former bigint, fresh_node bigint)
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
  PERFORM fold_counters();
  RETURN QUERY SELECT last.turn + 1, last.epoch + 1 + epochs, node FROM meta;
END $$`

/**
 * The counters of lanes stand in the journal's row of the turn that has changed them, and are folded into their lanes now and then. A row that
 * is changed in every turn leaves a dead version each time, which stays while any transaction of the server stays open.
 *
 * `counted` has the ids of lanes, then the first counter of each, and so on.
 */
const COLUMNS = ['id', ...COUNTERS]
const slices = COLUMNS.map((_name, place) => `counted[${place} * lanes + 1 : ${place + 1} * lanes]`).join(', ')

/** The counters of lanes that were not folded yet, and the last use of each, which is the turn of its row. */
const UNFOLDED = `CREATE VIEW unfolded AS SELECT DISTINCT ON (id) each.*, journal.at AS used_at, journal.next_event AS used_event FROM journal
CROSS JOIN LATERAL (SELECT cardinality(counted) / ${COLUMNS.length} AS lanes) AS size
CROSS JOIN LATERAL unnest(${slices}) AS each (${COLUMNS.join(', ')})
WHERE turn > (SELECT counted_to FROM running) ORDER BY id, turn DESC`

const FOLD = `CREATE FUNCTION fold_counters() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed bigint;
  expected bigint;
BEGIN
  WITH latest AS MATERIALIZED (SELECT * FROM unfolded), folded AS (
    UPDATE lane SET ${[...COUNTERS, 'used_at', 'used_event'].map((name) => `${name} = latest.${name}`).join(', ')} FROM latest WHERE lane.id = latest.id RETURNING 1
  )
  SELECT (SELECT count(*) FROM folded), (SELECT count(*) FROM latest) INTO changed, expected;
  PERFORM expect_rows('count lanes', changed, expected);
  UPDATE running SET counted_to = (SELECT max(turn) FROM journal);
END $$`

/**
 * Names the schema, its database and its server: a copy of the schema elsewhere has another id. Everybody gets the same answer, whatever rights
 * the caller has: the function runs with those of the schema's owner.
 */
const SCHEMA_ID = `CREATE FUNCTION schema_id() RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  place text := (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || (SELECT oid FROM pg_namespace WHERE nspname = current_schema());
BEGIN
  RETURN (SELECT system_identifier FROM pg_control_system()) || '/' || place;
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN 'unknown/' || place;
END $$`

export const CREATE_FUNCTIONS: readonly string[] = [TAKE_TURN, EXPECT_ROWS, UNFOLDED, FOLD, SERVER_HISTORY, SCHEMA_ID, CLAIM]
