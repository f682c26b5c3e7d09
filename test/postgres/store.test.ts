// Who owns a schema, what another owner's turn does, and how a schema is refused.
import { AlreadyOpenError, NotADatabaseError, SchemaTooNewError, StorageError, UnsupportedRuntimeError } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'
import { inspectSchema, openStore, ownerRegistryOf, type PostgresStore } from '@millrace/postgres'
import pg from 'pg'
import { describe, expect, onTestFinished } from 'vitest'
import { attaching, StoreTurns } from '../../packages/testkit/src/storeConformance/storeTurns.ts'
import { keptSchema } from './keptSchema.ts'
import { startProxy } from './proxy.ts'
import { test as base, storeOptions, type TestSchema } from './test.ts'

/** The tests that leave the schema as it is share one. */
const test = base.extend('kept', ({ skip }) => keptSchema({ skip }))

function open(schema: TestSchema) {
  const store = openStore(storeOptions(schema))
  onTestFinished(() => store.close())
  return store
}

/** Ends the session of the owner, as the server does with one that is silent. */
async function endSession(schema: TestSchema): Promise<void> {
  await sql(schema, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'millrace ${schema.schema}'`)
}

async function sql<Row extends pg.QueryResultRow>({ url, schema }: TestSchema, ...texts: readonly string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SET search_path TO ${schema}`)
    const results = []
    for (const text of texts) results.push(await client.query<Row>(text))
    return results.at(-1)?.rows ?? []
  } finally {
    await client.end()
  }
}

test('an engine whose session has ended may be followed by another one, and then writes nothing more', async ({ kept: postgres }) => {
  const former = new StoreTurns(open(postgres))
  const bystander = former.row(former.enqueue('a', { data: '"by"' }))
  expect(() => openStore(storeOptions(postgres))).toThrow(AlreadyOpenError)
  await endSession(postgres)
  const next = open(postgres)
  expect(next.epoch).toBe(2)
  let failure: unknown
  try {
    former.enqueue('b')
  } catch (error) {
    failure = error
  }
  expect(failure).toBeInstanceOf(StoreFailure)
  expect(failure).toMatchObject({ phase: 'before', reason: 'owner' })
  const turns = new StoreTurns(next)
  expect(turns.rows()).toEqual([bystander])
  turns.enqueue('c')
  expect(() => former.store.reopen()).toThrow('another engine has taken the schema over')
  expect(() => (former.store as PostgresStore).beat()).toThrow('another engine has taken the schema over')
})

test('a server that takes the place of another may lack its last turns: no number of these is given twice, and their owner writes nothing more', async ({
  postgres,
}) => {
  const former = new StoreTurns(open(postgres))
  const bystander = former.row(former.enqueue('a', { data: '"by"' }))
  const store = former.store as PostgresStore
  // It takes no right to ask.
  const asRole = [`GRANT USAGE ON SCHEMA ${postgres.schema} TO pg_signal_backend`, 'SET ROLE pg_signal_backend']
  const [here] = await sql<{ history: string }>(postgres, ...asRole, 'SELECT server_history() AS history')
  expect(here?.history).toMatch(/^\d+\/00000001$/)
  await sql(postgres, "UPDATE meta SET history = 'another'")
  await endSession(postgres)
  expect(() => former.enqueue('b')).toThrow('another server has taken the place')
  expect(() => store.reopen()).toThrow('another server has taken the place')

  const next = openStore({ ...storeOptions(postgres), random: () => 0.25 })
  onTestFinished(() => next.close())
  expect(next.epoch).toBeGreaterThan(store.epoch + 2 ** 19)
  expect(next.node).not.toBe(store.node)
  const turns = new StoreTurns(next)
  expect(turns.rows()).toEqual([bystander])
  expect(turns.enqueue('b').seq).toBeGreaterThan(bystander.seq + 2 ** 19)
  expect(await sql(postgres, 'SELECT history FROM meta')).toEqual([here])
})

test('an engine whose session has ended goes on, and has the lock again with its next beat', async ({ kept: postgres }) => {
  const turns = new StoreTurns(open(postgres))
  const bystander = turns.row(turns.enqueue('a', { data: '"by"' }))
  for (const again of [() => (turns.store as PostgresStore).beat(), () => void turns.enqueue('b')]) {
    await endSession(postgres)
    again()
    expect(() => openStore(storeOptions(postgres))).toThrow(AlreadyOpenError)
  }
  expect(turns.rows()).toHaveLength(2)
  expect(turns.rows()).toContainEqual(bystander)
})

test('the beat of an owner says whether others find it by its row, also once it has claimed the schema again', async ({
  kept: postgres,
}) => {
  const store = open(postgres)
  const announce = async () => {
    const owner = { epoch: store.epoch, host: 'here', boot: '', pid: 1, library: '', protocol: [1, 1], url: '' } as const
    await ownerRegistryOf(postgres).announce(owner, Buffer.alloc(32))
  }
  expect(store.beat()).toBe(false)
  await announce()
  // As by a DBA who tidies, and by a restore of the table.
  for (const change of ['DELETE FROM owner', 'UPDATE owner SET epoch = 0', "UPDATE owner SET schema_id = ''"]) {
    expect(store.beat()).toBe(true)
    await sql(postgres, change)
    expect(store.beat(), change).toBe(false)
    await announce()
  }
  await endSession(postgres)
  store.reopen()
  expect(store.epoch).toBe(2)
  expect(store.beat()).toBe(true)
})

test.for(['meta', 'journal', 'running', 'lane'])('a schema whose table %s was emptied is refused by name', (table, { kept: postgres }) => {
  const store = open(postgres)
  new StoreTurns(store).enqueue('a')
  store.close()
  return sql(postgres, `TRUNCATE ${table}`).then(() => {
    const refused = { code: 'NOT_A_DATABASE', message: expect.stringMatching(`emptied the table ${table} of schema .*restore the schema`) }
    expect(() => openStore(storeOptions(postgres))).toThrow(expect.objectContaining(refused))
    expect(() => inspectSchema(postgres)).toThrow(expect.objectContaining(refused))
  })
})

describe('a connection that breaks', () => {
  const broken = async (postgres: TestSchema, when: 'before' | 'after') => {
    const proxy = await startProxy(postgres.url)
    const store = open({ ...postgres, url: proxy.url })
    const turns = new StoreTurns(store)
    const bystander = turns.row(turns.enqueue('a', { data: '"by"' }))
    await proxy.cut(when)
    return { turns, store, bystander }
  }

  test('before the server gets a turn: it is sent once more', async ({ kept: postgres }) => {
    const { turns, store, bystander } = await broken(postgres, 'before')
    const { seq } = turns.enqueue('b')
    expect(turns.rows()).toEqual([bystander, turns.row({ seq })])
    expect(store.epoch).toBe(2)
    turns.reload()
    expect(turns.enqueue('c').seq).toBe(seq + 1)
  })

  test('behind the commit of a turn: it counts, and nobody hears of it', async ({ kept: postgres }) => {
    const { turns, store, bystander } = await broken(postgres, 'after')
    const { seq } = turns.enqueue('b')
    expect(turns.rows()).toEqual([bystander, turns.row({ seq })])
    expect(store.epoch).toBe(2)
    turns.reload()
    expect(turns.enqueue('c').seq).toBe(seq + 1)
  })

  test('at a read: the read is repeated', async ({ kept: postgres }) => {
    const { turns, store, bystander } = await broken(postgres, 'before')
    expect(turns.rows()).toEqual([bystander])
    expect(store.epoch).toBe(1)
  })

  test('is opened again by hand, too, and nothing that was sent before is written behind it', async ({ kept: postgres }) => {
    const store = open(postgres)
    const turns = new StoreTurns(store)
    const bystander = turns.row(turns.enqueue('a', { data: '"by"' }))
    await endSession(postgres)
    store.reopen()
    expect(store.epoch).toBe(2)
    turns.reload()
    expect(turns.rows()).toEqual([bystander])
    turns.enqueue('b')
    expect(turns.rows()).toHaveLength(2)
  })
})

test('a job that waits for its turn stands in one place, and in none once it has completed', async ({ kept: postgres }) => {
  const turns = new StoreTurns(open(postgres))
  turns.enqueue('by')
  const { seq } = turns.enqueue('a', { ttl: 1_000, delay: 50 })
  const places = async () => {
    const tables = ['waiting', 'parked', 'strict', 'scheduled', 'expiry', 'failed', 'arrival']
    const rows = await sql<{ place: string }>(
      postgres,
      tables.map((table) => `SELECT '${table}' AS place FROM ${table} WHERE seq = ${seq}`).join(' UNION ALL '),
    )
    return rows.map(({ place }) => place).toSorted()
  }
  expect(await places()).toEqual(['expiry', 'scheduled'])
  turns.after(50)
  expect(await places()).toEqual(['expiry', 'waiting'])
  turns.attach('w', ['a'])
  expect(await places()).toEqual([])
  turns.run({ op: 'complete', seq, run: 1, output: null })
  expect(await places()).toEqual([])
  expect(await sql(postgres, 'SELECT seq FROM waiting')).toHaveLength(1)
})

test('completing and starting jobs touches no index of their table', async ({ postgres }) => {
  const turns = new StoreTurns(open(postgres))
  turns.enqueueAll(...Array.from({ length: 20 }, () => ({ name: 'a' })))
  for (const { seq, run } of turns.run(attaching('w', ['a'], { minConcurrency: 20, maxConcurrency: 20 })).grants)
    turns.run({ op: 'complete', seq, run, output: null })
  // A session counts in the end, at the latest.
  turns.store.close()
  const counted = async () => {
    const [row] = await sql<{ updates: number; hot: number }>(
      postgres,
      `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE schemaname = '${postgres.schema}' AND relname = 'job'`,
    )
    return row
  }
  await expect.poll(counted).toMatchObject({ updates: 40 })
  // A row leaves its page if others keep the server from tidying that up.
  expect((await counted())?.hot).toBeGreaterThanOrEqual(36)
})

test('a schema of a newer version, and one of another program, is refused', async ({ postgres }) => {
  openStore(storeOptions(postgres)).close()
  await sql(postgres, 'UPDATE meta SET min_reader = 99, schema_version = 99')
  expect(() => openStore(storeOptions(postgres))).toThrow(SchemaTooNewError)
  const foreign = { ...postgres, schema: `${postgres.schema}_foreign` }
  await sql(foreign, `CREATE SCHEMA ${foreign.schema}`, `CREATE TABLE ${foreign.schema}.diary (day int)`)
  expect(() => openStore(storeOptions(foreign))).toThrow(NotADatabaseError)
})

test('a schema may have the name of a word of SQL', ({ postgres }) => {
  const words = { ...postgres, schema: 'user' }
  open(words)
  expect(() => openStore(storeOptions(words))).toThrow(AlreadyOpenError)
})

test('a server that is not there is refused, without the password', ({ postgres }) => {
  const url = 'postgres://someone:secret@localhost/none?host=%2Fnowhere'
  let failure: unknown
  try {
    openStore(storeOptions({ ...postgres, url }))
  } catch (error) {
    failure = error
  }
  expect(failure).toBeInstanceOf(StorageError)
  expect(String(failure)).toContain('check the URL')
  expect(String(failure)).not.toContain('secret')
})

test.for(['postgres://', 'postgres://u:secret@[bad/x', 'no url', 'http://127.0.0.1:1/x', 'postgres://u:secret@127.0.0.1:99999999/x'])(
  'the URL %s is refused at once, without the password',
  (url, { postgres }) => {
    let failure: unknown
    try {
      openStore(storeOptions({ ...postgres, url }))
    } catch (error) {
      failure = error
    }
    expect(failure).toBeInstanceOf(StorageError)
    expect((failure as Error).message).toMatch(/^cannot connect to Postgres .*: check the URL, and that the server runs$/)
    expect((failure as Error).message).not.toContain('secret')
  },
)

test('durability full is refused where the server does not sync', ({ kept: postgres }) => {
  const options = { ...storeOptions(postgres), durability: 'full' } as const
  expect(() => openStore(options)).toThrow(UnsupportedRuntimeError)
})
