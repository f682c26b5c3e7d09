/**
 * The counters of lanes stand in the journal's row of the turn that has changed them, and are folded into their lanes now and then. A row that
 * is changed in every turn leaves a dead version each time, which stays while any transaction of the server stays open.
 */
import { COUNTERS } from '@millrace/sqlite/rows'
import { CREATE_CLAIM, CREATE_TAKE_TURN, createClaim, createTakeTurn } from '../schema.ts'

/** `counted` has the ids of lanes, then the first counter of each, and so on. */
const COLUMNS = ['id', ...COUNTERS]
const slices = COLUMNS.map((_name, place) => `counted[${place} * lanes + 1 : ${place + 1} * lanes]`).join(', ')

/** The counters of lanes that were not folded yet. */
const CREATE_UNFOLDED = `CREATE VIEW unfolded AS SELECT DISTINCT ON (id) each.* FROM journal
CROSS JOIN LATERAL (SELECT cardinality(counted) / ${COLUMNS.length} AS lanes) AS size
CROSS JOIN LATERAL unnest(${slices}) AS each (${COLUMNS.join(', ')})
WHERE turn > (SELECT counted_to FROM running) ORDER BY id, turn DESC`

const CREATE_FOLD = `CREATE FUNCTION fold_counters() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed bigint;
  expected bigint;
BEGIN
  WITH latest AS MATERIALIZED (SELECT * FROM unfolded), folded AS (
    UPDATE lane SET ${COUNTERS.map((name) => `${name} = latest.${name}`).join(', ')} FROM latest WHERE lane.id = latest.id RETURNING 1
  )
  SELECT (SELECT count(*) FROM folded), (SELECT count(*) FROM latest) INTO changed, expected;
  PERFORM expect_rows('count lanes', changed, expected);
  UPDATE running SET counted_to = (SELECT max(turn) FROM journal);
END $$`

const DROP_CLAIM = 'DROP FUNCTION claim(bigint, bigint, bigint)'
const OF_A_TURN = Array(10).fill('bigint').fill('bytea', 9)

export const COUNT_IN_JOURNAL: readonly string[] = [
  "ALTER TABLE journal ADD COLUMN counted bigint[] NOT NULL DEFAULT '{}'",
  'ALTER TABLE running ADD COLUMN counted_to bigint NOT NULL DEFAULT 0',
  'UPDATE running SET counted_to = (SELECT max(turn) FROM journal)',
  CREATE_UNFOLDED,
  CREATE_FOLD,
  `DROP FUNCTION take_turn(${OF_A_TURN.join(', ')})`,
  createTakeTurn('counted'),
  DROP_CLAIM,
  // Also for a move, which copies lanes.
  createClaim('PERFORM fold_counters();'),
]

export const COUNT_IN_LANES: readonly string[] = [
  'SELECT fold_counters()',
  DROP_CLAIM,
  CREATE_CLAIM,
  `DROP FUNCTION take_turn(${[...OF_A_TURN, 'bigint[]'].join(', ')})`,
  CREATE_TAKE_TURN,
  'DROP FUNCTION fold_counters()',
  'DROP VIEW unfolded',
  'ALTER TABLE running DROP COLUMN counted_to',
  'ALTER TABLE journal DROP COLUMN counted',
]
