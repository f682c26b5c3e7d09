// Owners and Postgres itself are killed under load, in turns: all that was acknowledged is there once, and completes.
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

  let next = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (let call = 0; call < CALLS; call++) producer.say({ enqueue: next++ })
    // In the middle of it: some are acknowledged, some are not.
    await producer.until(acknowledged(next - 1 - Math.floor(random() * CALLS)))
    await (round % 2 === 0 ? killOwner() : killServer())
  }
  for (let n = 0; n < next; n++) await producer.until(acknowledged(n))
  const undone = async () =>
    (await ask<{ left: number }>(url, `SELECT count(*)::int AS left FROM "${schema}".job WHERE state < 4`))[0]?.left
  await expect.poll(undone).toBe(0)
  const jobs = await ask<{ state: number; jobs: number }>(url, `SELECT state, count(*)::int AS jobs FROM "${schema}".job GROUP BY state`)
  expect(jobs).toEqual([{ state: 4, jobs: next }])
  const started = told.flatMap(({ started: n, run }) => (n === undefined ? [] : [`${n} ${run}`]))
  expect(new Set(started).size, 'no run begins twice').toBe(started.length)
  expect(told.filter((fact) => 'failed' in fact)).toEqual([])
})
