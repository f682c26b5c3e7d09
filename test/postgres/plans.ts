/** How Postgres would run a statement, in a schema with many jobs. */
import type pg from 'pg'
import { planSettings, setUpOf } from '../../packages/postgres/src/settings.ts'

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** Statements that fill the tables that grow with jobs, for ROWS jobs, of which half have ended. */
const FILL: readonly string[] = [
  `INSERT INTO queue SELECT id, 'queue' || id FROM generate_series(1, 10) AS id`,
  `INSERT INTO job (seq, node, lane, state, rank, weight, run_at, run, uncounted, session, enqueued_at, started_at, finished_at, expires_at, cancel_requested, data, gate, dropping)
SELECT seq, CASE WHEN seq % 100 = 0 THEN 67108864 + seq ELSE 1 END, 1 + seq % 10, state, 0, 1, seq, 1, 0, CASE WHEN state >= 2 THEN seq % 100 END, seq,
CASE WHEN state >= 2 THEN seq END, CASE WHEN state >= 4 THEN seq END, CASE WHEN seq % 7 = 0 THEN seq END, 0, '{"n":' || seq || '}',
CASE WHEN state = 1 AND seq % 3 = 0 THEN seq % 1000 - 500 END, CASE WHEN seq % 11 = 0 THEN seq % 10 END
FROM (SELECT seq, CASE WHEN seq % 1000 = 0 THEN 2 WHEN seq % 2 = 0 THEN 4 + seq % 3 ELSE seq % 4 / 2 END AS state FROM generate_series(1, ROWS) AS seq) AS made`,
  `INSERT INTO waiting SELECT lane, rank, run_at, seq FROM job WHERE state = 1 AND gate IS NULL`,
  `INSERT INTO parked SELECT gate, rank, run_at, seq FROM job WHERE gate IS NOT NULL`,
  `INSERT INTO strict SELECT gate, seq FROM job WHERE gate < 0`,
  `INSERT INTO scheduled SELECT run_at, seq FROM job WHERE state = 0`,
  `INSERT INTO expiry SELECT expires_at, seq FROM job WHERE expires_at IS NOT NULL AND state IN (0, 1, 3)`,
  `INSERT INTO failed SELECT lane, finished_at, seq FROM job WHERE state = 5`,
  `INSERT INTO arrival SELECT dropping, seq FROM job WHERE dropping IS NOT NULL AND state IN (0, 1)`,
  `INSERT INTO journal SELECT turn, 1, turn, turn, turn, 1, turn, 1, turn, '' FROM generate_series(1000, 1000 + ROWS / 10) AS turn`,
  `INSERT INTO session SELECT id, 'uuid' || id, 'w', 'host', 1, 1, 0, CASE WHEN id % 100 = 0 THEN 'here' ELSE 'gone' END FROM generate_series(1, 1 + ROWS / 10) AS id`,
  `INSERT INTO failure SELECT 1 + id % 10, id, 'E', 1, id, id, id, 1, '' FROM generate_series(1, 1 + ROWS / 100) AS id`,
  `INSERT INTO paused_key SELECT 1 + id % 10, 'key' || id FROM generate_series(1, 1 + ROWS / 1000) AS id`,
  `INSERT INTO pause_end SELECT 1 + id % 10, 'key', 'key' || id, id FROM generate_series(1, 1 + ROWS / 1000) AS id`,
  `INSERT INTO gate SELECT id, 1 + id % 10, 'key' || id, 1 FROM generate_series(1, ROWS / 100) AS id`,
  `INSERT INTO key_bucket SELECT 1 + id % 10, 'key' || id, 0, 1 FROM generate_series(1, ROWS / 100) AS id`,
  `INSERT INTO key_turn SELECT 1 + id % 10, 'key' || id, id FROM generate_series(1, ROWS / 100) AS id`,
  `INSERT INTO attempt SELECT seq, 1, 1, 1, 2, 'w', 'E', 'm', NULL, NULL, NULL, 1 FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO log SELECT seq, 1, 0, 0, 1, 'info', 'm', NULL FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO finished SELECT 1 + turn % 10, 4 + turn % 3, turn, 1, turn, '' FROM generate_series(1, ROWS / 10) AS turn`,
  `INSERT INTO idempotency SELECT 'a', 'key' || seq, seq, 1, seq, seq, NULL, 0 FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO unique_key SELECT 'a', 'key' || seq, seq FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO tag SELECT 'tag' || seq % 100, seq FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO flow_edge SELECT seq, seq + 1, 0, 0 FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO flow_gate SELECT seq, 1, 0, 0 FROM generate_series(1, ROWS / 10) AS seq`,
  `INSERT INTO flow_end (seq, ref, state) SELECT seq, 'r', 4 FROM generate_series(1, ROWS / 10) AS seq`,
]

/** Fills an empty schema. The client's search path is the schema. */
export async function fill(client: pg.Client, rows: number): Promise<void> {
  for (const text of FILL) await client.query(text.replaceAll('ROWS', String(rows)))
  await client.query('VACUUM ANALYZE')
}

/** Connects to a schema with the settings of an engine. */
export async function planAs(client: pg.Client, schema: string): Promise<void> {
  for (const text of setUpOf({ ...planSettings(schema), statement_timeout: '0' })) await client.query(text)
}

/** True if a statement has a plan. */
export function isPlanned(text: string): boolean {
  return /^(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)
}

export async function planOf(client: pg.Client, text: string): Promise<Plan> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`)
  return (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan
}

/** Returns the scans that have no condition on an index, and no limit: they look through a table. */
export function wholeScans(plan: Plan, limited = false): readonly string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Cond': condition, Plans = [] } = plan
  const isScan = table !== undefined && !table.startsWith('pg_') && type.includes('Scan') && type !== 'Bitmap Heap Scan'
  const found = isScan && condition === undefined && !limited ? [`${type} of ${table}`] : []
  // A sort or a sum reads all before it answers.
  const below = type === 'Limit' || (limited && !['Sort', 'Aggregate', 'WindowAgg', 'HashAggregate'].includes(type))
  return [...found, ...Plans.flatMap((each) => wholeScans(each, below))]
}
