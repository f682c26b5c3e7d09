/** Every migration, in order. */
import { CREATE_SCHEMA } from '../schema.ts'
import { COUNT_IN_JOURNAL, COUNT_IN_LANES } from './counters.ts'
import type { Migration } from './migration.ts'
import { NAME_SCHEMA, UNNAME_SCHEMA } from './schemaId.ts'
import { COUNT_NO_TRIES, COUNT_TRIES } from './tries.ts'

/** A version without this migration keeps timed pauses until they are resumed. */
const PAUSE_END = `CREATE TABLE pause_end (
  queue bigint NOT NULL, part text NOT NULL CHECK (part IN ('queue', 'name', 'key')), what text NOT NULL,
  until bigint NOT NULL CHECK (until > 0), PRIMARY KEY (queue, part, what)
)`

/** Finished jobs that have a `keep` of their own, by the time until which they are kept: a hint, as in finished. */
const KEPT = [
  `CREATE TABLE kept (
  queue bigint NOT NULL, state smallint NOT NULL CHECK (state BETWEEN 4 AND 6), turn bigint NOT NULL, lane bigint NOT NULL,
  until bigint NOT NULL, at bigint NOT NULL CHECK (at <= until), seqs bytea NOT NULL, PRIMARY KEY (queue, state, turn, lane, until)
)`,
  'CREATE INDEX kept_until ON kept (queue, state, until, turn, lane)',
  `CREATE TABLE kept_count (
  queue bigint PRIMARY KEY, completed bigint NOT NULL CHECK (completed >= 0), failed bigint NOT NULL CHECK (failed >= 0),
  cancelled bigint NOT NULL CHECK (cancelled >= 0)
)`,
]

/** They go back to the batches of their queue. A turn has at least one event for each of its batches, with a number of its own. */
const NOT_KEPT = [
  `INSERT INTO finished (queue, state, turn, lane, at, seqs)
SELECT queue, state, turn + 1 - row_number() OVER (PARTITION BY queue, state, turn, lane ORDER BY until) - EXISTS (
  SELECT 1 FROM finished AS own WHERE (own.queue, own.state, own.turn, own.lane) = (kept.queue, kept.state, kept.turn, kept.lane)
)::int, lane, at, seqs FROM kept`,
  'DROP TABLE kept',
  'DROP TABLE kept_count',
  `UPDATE job SET policy = regexp_replace(policy, ',"keep":\\d+', '') WHERE policy LIKE '%"keep":%'`,
]

/** A job may live again while its tree is being cancelled: mode 4. */
const CANCEL_REVERTED = ['DROP INDEX flow_due_back', 'CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3, 4)']

/** Its tree is cancelled, and may hear of the job only afterwards. */
const NOT_REVERTED = [
  'UPDATE flow_due SET mode = 2 WHERE mode = 4',
  'DROP INDEX flow_due_back',
  'CREATE INDEX flow_due_back ON flow_due (parent) WHERE mode IN (1, 3)',
]

const NOTE_PROCESS = "ALTER TABLE session ADD COLUMN process text NOT NULL DEFAULT ''"
const NOTE_NO_PROCESS = 'ALTER TABLE session DROP COLUMN process'

export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: 'initial', up: CREATE_SCHEMA, minReader: 1 },
  { id: 2, name: 'pause-ends', up: [PAUSE_END], down: ['DROP TABLE pause_end'], minReader: 1 },
  { id: 3, name: 'kept', up: KEPT, down: NOT_KEPT, minReader: 3 },
  { id: 4, name: 'cancel-reverted', up: CANCEL_REVERTED, down: NOT_REVERTED, minReader: 4 },
  { id: 5, name: 'counted', up: COUNT_IN_JOURNAL, down: COUNT_IN_LANES, minReader: 5 },
  { id: 6, name: 'schema-id', up: NAME_SCHEMA, down: UNNAME_SCHEMA, minReader: 6 },
  { id: 7, name: 'tries', up: COUNT_TRIES, down: COUNT_NO_TRIES, minReader: 7 },
  // A version without this migration notes no process: its sessions have their leases.
  { id: 8, name: 'session-process', up: [NOTE_PROCESS], down: [NOTE_NO_PROCESS], minReader: 7 },
]

export const SCHEMA_VERSION = (MIGRATIONS.at(-1) as Migration).id
