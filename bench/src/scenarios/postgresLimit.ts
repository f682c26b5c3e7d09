/**
 * The limit of whole jobs on Postgres: a loop over one connection that inserts lots of jobs as running, and sets them done by a range of their
 * numbers, each lot in a transaction. There is no queue around it: no index but the key, no fences, no answers to anybody.
 */
import { dirname } from 'node:path'
import pg from 'pg'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { postgres } from '../peers/servers/postgres.ts'
import { BATCH } from './limitTable.ts'

const TABLE = `CREATE TABLE job (
  id bigint PRIMARY KEY, name text, state smallint, priority bigint, run_at bigint, run bigint, enqueued_at bigint, started_at bigint,
  finished_at bigint, data text
) WITH (fillfactor = 50)`
const INSERT = `INSERT INTO job (id, name, state, priority, run_at, run, enqueued_at, started_at, data)
SELECT id, 'noop', 1, 0, $3::bigint, 1, $3, $3, data FROM unnest($1::bigint[], $2::text[]) AS made (id, data)`
const FINISH = 'UPDATE job SET state = 2, finished_at = $3 WHERE id BETWEEN $1 AND $2 AND run = 1'

export const postgresLimit: Scenario = async ({ file, durability, jobs }) => {
  const server = await postgres.start(dirname(file), durability)
  try {
    const client = new pg.Client({ connectionString: server.address })
    await client.connect()
    await client.query(TABLE)
    const stop = startMeter()
    for (let first = 1; first <= jobs; first += BATCH) {
      const last = Math.min(first + BATCH - 1, jobs)
      const ids = Array.from({ length: last - first + 1 }, (_, place) => first + place)
      await client.query({ name: 'insert', text: INSERT, values: [ids, ids.map((id) => JSON.stringify(payloadOf(id))), Date.now()] })
      await client.query({ name: 'finish', text: FINISH, values: [first, last, Date.now()] })
    }
    const figures = stop(jobs)
    const { rows } = await client.query<{ done: number }>('SELECT count(*)::int AS done FROM job WHERE state = 2')
    if (rows[0]?.done !== jobs) throw new Error(`the limit brought ${String(rows[0]?.done)} of ${jobs} jobs to their end`)
    await client.end()
    return figures
  } finally {
    await server.stop()
  }
}
