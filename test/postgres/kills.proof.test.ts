// Owners and Postgres itself are killed under load, in turns: all that was acknowledged or committed is there once, and completes.
import { seededRandom } from '@millrace/testkit/internal'
import pg from 'pg'
import { expect } from 'vitest'
import { type Fact, Member } from '../share/members.ts'
import { durableServer, test } from './test.ts'

const ROUNDS = 8
const CALLS = 100
const SEED = Number(process.env['SEED'] ?? 1)

const acknowledged = (n: number) => (fact: Fact) => fact['acknowledged'] === n

/** Answers a question as soon as the server takes connections. */
async function ask<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query<Row>(text)).rows
    } catch (error) {
      // It starts, or recovers.
      if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith('57')) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' && !/terminated/.test(String(error))) throw error
      }
    } finally {
      await client.end().catch(() => {})
    }
  }
}

/** Numbers of jobs that were enqueued by SQL, by what became of their transactions. */
interface BySql {
  readonly committed: readonly number[]
  readonly rolledBack: readonly number[]
  /** The connection broke before the answer to COMMIT. */
  readonly unknown: readonly number[]
}

/** Enqueues by SQL in transactions, of which some are rolled back, until it is stopped. */
function produceBySql(url: string, schema: string, random: () => number): { stop(): Promise<BySql> } {
  const committed: number[] = []
  const rolledBack: number[] = []
  const unknown: number[] = []
  let stopped = false
  let n = 1_000_000

  const transact = async (client: pg.Client): Promise<void> => {
    while (!stopped) {
      const number = n++
      const rollsBack = random() < 0.2
      let committing = false
      try {
        await client.query('BEGIN')
        await client.query(`SELECT "${schema}".enqueue('job', $1::jsonb, '{"maxAttempts": 1000}')`, [JSON.stringify({ n: number, ms: 0 })])
        committing = !rollsBack
        await client.query(rollsBack ? 'ROLLBACK' : 'COMMIT')
        ;(rollsBack ? rolledBack : committed).push(number)
      } catch (error) {
        ;(committing ? unknown : rolledBack).push(number)
        throw error
      }
    }
  }
  const produce = async () => {
    while (!stopped) {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      try {
        await client.connect()
        await transact(client)
      } catch {
        // The server was killed: again.
      } finally {
        await client.end().catch(() => {})
      }
    }
  }
  const done = produce()
  return {
    stop: async () => {
      stopped = true
      await done
      return { committed, rolledBack, unknown }
    },
  }
}

// `postgres` says whether there is one.
test('owners and the server are killed in turns under load: nothing acknowledged is lost, nothing runs twice at once', async ({
  postgres: { schema },
}) => {
  const random = seededRandom(SEED)
  const url = await durableServer()
  const store = { postgres: url, schema, durability: 'full' } as const
  const told: Fact[] = []
  const hear = (fact: Fact) => void told.push(fact)
  const workers = [await Member.start(store, 'worker', hear), await Member.start(store, 'worker', hear)]
  const producer = await Member.start({ ...store, role: 'client' }, 'producer', hear)

  /** kill -9 of the process that owns the schema; another takes its place. */
  const killOwner = async () => {
    const [owner] = await ask<{ pid: number }>(url, `SELECT pid::int FROM "${schema}".owner`)
    const killed = workers.findIndex(({ pid }) => pid === owner?.pid)
    expect(killed, `the owner ${owner?.pid} is one of the workers`).toBeGreaterThanOrEqual(0)
    await workers.splice(killed, 1)[0]?.kill()
    workers.push(await Member.start(store, 'worker', hear))
  }
  /** kill -9 of the owner's process in the server, which ends all sessions and recovers from its log. */
  const killServer = async () => {
    const [session] = await ask<{ pid: number }>(
      url,
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'millrace ${schema}' LIMIT 1`,
    )
    // It may be between two sessions.
    if (session !== undefined) process.kill(session.pid, 'SIGKILL')
  }

  const bySql = produceBySql(url, schema, random)
  let next = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (let call = 0; call < CALLS; call++) producer.say({ enqueue: next++ })
    // In the middle of it: some are acknowledged, some are not.
    await producer.until(acknowledged(next - 1 - Math.floor(random() * CALLS)))
    await (round % 2 === 0 ? killOwner() : killServer())
  }
  for (let n = 0; n < next; n++) await producer.until(acknowledged(n))
  const { committed, rolledBack, unknown } = await bySql.stop()
  const undone = async () =>
    (await ask<{ left: number }>(url, `SELECT count(*)::int AS left FROM "${schema}".job WHERE state < 4`))[0]?.left
  await expect.poll(undone).toBe(0)
  const inbox = async () => (await ask<{ left: number }>(url, `SELECT count(*)::int AS left FROM "${schema}".inbox`))[0]?.left
  await expect.poll(inbox).toBe(0)
  await expect.poll(undone).toBe(0)
  const jobs = await ask<{ n: number; state: number }>(url, `SELECT (data::json->>'n')::int AS n, state FROM "${schema}".job`)
  const found = jobs.map(({ n }) => n)
  expect(new Set(found).size, 'each job is there once').toBe(found.length)
  expect(jobs.filter(({ state }) => state !== 4)).toEqual([])
  const all = new Set(found)
  const expected = [...Array.from({ length: next }, (_, n) => n), ...committed]
  expect(
    expected.filter((n) => !all.has(n)),
    'acknowledged or committed, and not there',
  ).toEqual([])
  expect(
    rolledBack.filter((n) => all.has(n)),
    'rolled back, and there',
  ).toEqual([])
  expect(found.length).toBeLessThanOrEqual(expected.length + unknown.length)
  expect(committed.length).toBeGreaterThan(0)
  const started = told.flatMap(({ started: n, run }) => (n === undefined ? [] : [`${n} ${run}`]))
  expect(new Set(started).size, 'no run begins twice').toBe(started.length)
  expect(told.filter((fact) => 'failed' in fact)).toEqual([])
})
