// `enqueueBySql` in the transactions of the drivers and query builders that people use.
import { defineJob, openEngine } from '@millrace/engine'
import { type EnqueueQuery, enqueueBySql } from '@millrace/outbox'
import { openStore } from '@millrace/postgres'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgresJs from 'postgres'
import { expect, onTestFinished } from 'vitest'
import { shareEngine } from './sharedEngine.ts'
import { test as base, storeOptions } from './test.ts'

const shared = shareEngine()
const test = base.extend('shared', ({ skip }) => shared({ skip }))

const receipt = defineJob<{ order: number }>({
  name: 'receipt',
  maxAttempts: 7,
  backoff: { type: 'exponential', delay: '2s' },
  queue: 'mail',
})

function pool(url: string): pg.Pool {
  const opened = new pg.Pool({ connectionString: url })
  onTestFinished(() => opened.end())
  return opened
}

class Rollback extends Error {}

/** Runs a query in a transaction, which it commits or rolls back, and returns the id. */
type InTransaction = (query: EnqueueQuery, commits: boolean) => Promise<string>

const DRIVERS: Readonly<Record<string, (url: string) => InTransaction>> = {
  pg: (url) => async (query, commits) => {
    const client = await pool(url).connect()
    try {
      await client.query('BEGIN')
      const { rows } = await client.query<{ id: string }>(query)
      await client.query(commits ? 'COMMIT' : 'ROLLBACK')
      return rows[0]?.id as string
    } finally {
      client.release()
    }
  },
  'postgres.js': (url) => {
    const { hostname, searchParams } = new URL(url)
    const sql = postgresJs({ host: searchParams.get('host') ?? hostname, user: 'postgres', database: 'postgres' })
    onTestFinished(() => sql.end())
    return (query, commits) =>
      committed(commits, (done) =>
        sql.begin(async (tx) => {
          const [row] = await tx.unsafe<{ id: string }[]>(query.text, query.values)
          return done(row?.id as string)
        }),
      )
  },
  kysely: (url) => {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: pool(url) }) })
    return (query, commits) =>
      committed(commits, (done) =>
        db.transaction().execute(async (tx) => {
          const { rows } = await tx.executeQuery<{ id: string }>(CompiledQuery.raw(query.text, query.values))
          return done(rows[0]?.id as string)
        }),
      )
  },
  drizzle: (url) => {
    const db = drizzle(pool(url))
    return (query, commits) =>
      committed(commits, (done) =>
        db.transaction(async (tx) => {
          const [name, data, options] = query.values
          const schema = drizzleSql.identifier(/"(\w+)"/.exec(query.text)?.[1] as string)
          const { rows } = await tx.execute<{ id: string }>(
            drizzleSql`SELECT ${schema}.enqueue(${name}, ${data}::jsonb, ${options}::jsonb) AS id`,
          )
          return done(rows[0]?.id as string)
        }),
      )
  },
}

/** Rolls back as these libraries are told to: by an error. */
async function committed(commits: boolean, transact: (done: (id: string) => string) => Promise<string>): Promise<string> {
  let id = ''
  const done = (given: string) => {
    id = given
    if (!commits) throw new Rollback()
    return given
  }
  await transact(done).catch((error) => {
    if (!(error instanceof Rollback)) throw error
  })
  return id
}

test.for(Object.entries(DRIVERS))(
  '%s: a job commits and rolls back with the transaction',
  async ([, inTransaction], { shared: { engine, ...postgres } }) => {
    const enqueue = enqueueBySql(postgres.schema)
    const transact = inTransaction(postgres.url)
    const gone = await transact(enqueue(receipt, { order: 1 }), false)
    const id = await transact(enqueue(receipt, { order: 2 }, { tags: ['new'], meta: { by: 'test' }, delay: '1h', priority: 3 }), true)
    await expect
      .poll(() => engine.get(id))
      .toMatchObject({
        name: 'receipt',
        queue: 'mail',
        data: { order: 2 },
        maxAttempts: 7,
        tags: ['new'],
        meta: { by: 'test' },
        priority: 3,
        state: 'scheduled',
      })
    expect(await engine.get(gone)).toBeUndefined()
  },
)

test('no limit travels as null', async ({ shared: { engine, ...postgres } }) => {
  const client = await pool(postgres.url).connect()
  onTestFinished(() => client.release())
  const query = enqueueBySql(postgres.schema)('a', 1, { timeout: Number.POSITIVE_INFINITY, ttl: Number.POSITIVE_INFINITY })
  const { rows } = await client.query<{ id: string }>(query)
  await expect.poll(() => engine.get(rows[0]?.id as string)).toMatchObject({ timeout: Number.POSITIVE_INFINITY })
})

test('a delay counts from the call', async ({ postgres }) => {
  openStore(storeOptions(postgres)).close()
  const client = await pool(postgres.url).connect()
  onTestFinished(() => client.release())
  const before = Date.now()
  const { rows } = await client.query<{ id: string }>(enqueueBySql(postgres.schema)('a', 1, { delay: '1h' }))
  const after = Date.now()
  await using engine = await openEngine({ postgres: postgres.url, schema: postgres.schema, durability: 'normal' })
  await expect.poll(() => engine.get(rows[0]?.id as string)).toBeDefined()
  const { runAt } = (await engine.get(rows[0]?.id as string)) as { readonly runAt: Date }
  // The server has the same clock here.
  expect(runAt.getTime()).toBeGreaterThanOrEqual(before + 3_600_000)
  expect(runAt.getTime()).toBeLessThanOrEqual(after + 3_600_001)
})
