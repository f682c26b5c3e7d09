// Jobs that are enqueued by SQL, in transactions of others.
import { setTimeout as delay } from 'node:timers/promises'
import { type Engine, openEngine } from '@millrace/engine'
import { openStore } from '@millrace/postgres'
import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, onTestFinished } from 'vitest'
import { runs } from '../../packages/testkit/src/testing/runs.ts'
import { shareEngine } from './sharedEngine.ts'
import { test as base, storeOptions, type TestSchema } from './test.ts'

/** The most bytes of the data of a job. */
const DATA_MAX = 10_000

const shared = shareEngine({ maxDataBytes: DATA_MAX })
const test = base.extend('shared', ({ skip }) => shared({ skip }))

async function open({ url, schema }: TestSchema): Promise<Engine> {
  const engine = await openEngine({ postgres: url, schema, durability: 'normal' })
  onTestFinished(() => engine.stop())
  return engine
}

async function connect({ url, schema }: TestSchema, user?: string): Promise<pg.Client> {
  const at = new URL(url)
  if (user !== undefined) at.username = user
  const client = new pg.Client({ connectionString: at.href })
  await client.connect()
  onTestFinished(() => client.end())
  if (user === undefined) await client.query(`SET search_path TO "${schema}"`)
  return client
}

async function enqueue(client: pg.Client, name: string | null, data?: unknown, options: unknown = {}, schema?: string): Promise<string> {
  const call = schema === undefined ? 'enqueue' : `"${schema}".enqueue`
  const values = [name, data === undefined ? null : JSON.stringify(data), JSON.stringify(options)]
  const { rows } = await client.query<{ id: string }>(`SELECT ${call}($1, $2::jsonb, $3::jsonb) AS id`, values)
  return rows[0]?.id as string
}

/** As a client of another language does it: JSON.stringify has no such numbers. */
async function enqueueText(client: pg.Client, data: string, options = '{}'): Promise<string> {
  const { rows } = await client.query<{ id: string }>("SELECT enqueue('a', $1::jsonb, $2::jsonb) AS id", [data, options])
  return rows[0]?.id as string
}

test('a job is there once its transaction commits, under the id that the call has returned, and never if it rolls back', async ({
  shared: { engine, ...postgres },
}) => {
  const bystander = await engine.enqueue('by', 'stands')
  const client = await connect(postgres)
  await client.query('BEGIN')
  const gone = await enqueue(client, 'mail', { to: 'nobody' })
  await client.query('ROLLBACK')
  await client.query('BEGIN')
  const id = await enqueue(client, 'mail', { to: 'ada' }, { priority: 5, queue: 'letters', tags: ['a'], delay: '1h' })
  expect(await engine.get(id)).toBeUndefined()
  await client.query('COMMIT')
  await expect
    .poll(() => engine.get(id))
    .toMatchObject({
      id,
      name: 'mail',
      queue: 'letters',
      data: { to: 'ada' },
      priority: 5,
      tags: ['a'],
      state: 'scheduled',
    })
  expect(await engine.get(gone)).toBeUndefined()
  expect(await engine.get(bystander.id)).toMatchObject({ data: 'stands', state: 'waiting' })
  expect((await client.query('SELECT count(*)::int AS left FROM inbox')).rows).toEqual([{ left: 0 }])
})

test('a unique key of the data is that of every other call, however the row has its fields', async ({
  shared: { engine, ...postgres },
}) => {
  const first = await engine.enqueue('pay', { order: { sum: 1, id: 7 }, at: 1 }, { unique: { by: ['order.id'] }, delay: '1h' })
  const client = await connect(postgres)
  await enqueue(client, 'pay', { order: { id: 7.0 } }, { unique: { by: ['order.id'] } })
  const other = await enqueue(client, 'pay', { order: { id: 8 } }, { unique: { by: ['order.id'] } })
  await expect.poll(() => engine.get(other)).toMatchObject({ state: 'waiting' })
  expect((await engine.list({ name: 'pay' })).jobs.map(({ id }) => id).toSorted()).toEqual([first.id, other].toSorted())
})

test('a transaction that commits late is not passed over by later ones', async ({ shared: { engine, ...postgres } }) => {
  const [slow, quick] = [await connect(postgres), await connect(postgres)]
  await slow.query('BEGIN')
  const early = await enqueue(slow, 'a', 'early')
  const late = await enqueue(quick, 'a', 'late')
  await expect.poll(() => engine.get(late)).toMatchObject({ data: 'late' })
  await slow.query('COMMIT')
  await expect.poll(() => engine.get(early)).toMatchObject({ data: 'early' })
})

test('jobs that were enqueued while nobody owned the schema are created by the next owner', async ({ postgres }) => {
  openStore(storeOptions(postgres)).close()
  const client = await connect(postgres)
  const id = await enqueue(client, 'a', 1)
  const engine = await open(postgres)
  await expect.poll(() => engine.get(id)).toMatchObject({ data: 1 })
})

test('any JSON comes through, with characters that Postgres and this store use for others', async ({ shared: { engine, ...postgres } }) => {
  const client = await connect(postgres)
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\uf8f1', '\uf8f2', '\uf8f3', 'é', '😀', '\n') })
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(text, text, { maxKeys: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(value, text, async (data, meta) => {
      const id = await enqueue(client, 'a', data, { meta })
      await expect.poll(() => engine.get(id), { interval: 5 }).toMatchObject({ data, meta })
    }),
    { numRuns: runs(30) },
  )
})

test.for([
  ['of three bytes', '€'],
  ['that are escaped', '\u0001'],
] as const)('options at their limits, with characters %s, are taken', async ([, unit], { shared: { engine, ...postgres } }) => {
  const client = await connect(postgres)
  const key = (end: number) => unit.repeat(510) + String(end).padStart(2, '0')
  const meta = Array(5_000).fill(0)
  const options = {
    tags: Array.from({ length: 32 }, (_, index) => key(index)),
    meta: [...meta, 'm'.repeat(6_000)],
    idempotencyKey: key(0),
    unique: { key: key(0) },
    concurrencyKey: key(0),
  }
  const id = await enqueue(client, 'a', 1, options)
  await expect.poll(() => engine.get(id)).toMatchObject({ tags: options.tags, meta: options.meta })
})

describe('bad input', () => {
  test.for([
    [null, {}, /name must have 1 to 128 .*got null/],
    ['', {}, /name must have 1 to 128/],
    ['a b', {}, /name must have 1 to 128 .*got "a b"/],
    ['a', [], /options must be an object/],
    ['a', 5, /options must be an object.*got 5/],
    ['a', { ['x'.repeat(2 ** 18)]: 1 }, /options must have at most 262144 bytes, got 2621\d\d: put large content into data/],
    ['b'.repeat(2 ** 20), {}, /^name must have 1 to 128 [^"]*"b{99}$/],
    ['a', 'c'.repeat(2 ** 20), /^options must be an object[^"]*"priority": 5}, got "c{99}$/],
  ] as const)('input %# is refused within the transaction', async ([name, options, message], { shared: postgres }) => {
    const client = await connect(postgres)
    await expect(enqueue(client, name, 1, options)).rejects.toMatchObject({ code: '22023', message: expect.stringMatching(message) })
  })

  test('what only the owner can judge is kept with the reason, and stops nothing behind it', async ({
    shared: { engine, ...postgres },
  }) => {
    const client = await connect(postgres)
    await client.query('BEGIN')
    const wrong = [
      await enqueue(client, 'a', 1, { priorty: 1 }),
      await enqueue(client, 'a', 'x'.repeat(DATA_MAX + 1)),
      await enqueue(client, 'a', 1, { idempotencyKey: 'millrace:endpoint:shop:1' }),
      await enqueueText(client, '{"id":1234567890123456789}'),
      await enqueueText(client, '1e400'),
      await enqueueText(client, '1', '{"meta":{"id":1234567890123456789}}'),
    ]
    const right = await enqueue(client, 'a', 'right')
    await client.query('COMMIT')
    await expect.poll(() => engine.get(right)).toMatchObject({ data: 'right' })
    for (const id of wrong) expect(await engine.get(id)).toBeUndefined()
    const { rows } = await client.query('SELECT name, code, message FROM inbox_refused ORDER BY id')
    expect(rows).toEqual([
      { name: 'a', code: 'OPTION_TYPE', message: expect.stringContaining("did you mean 'priority'?") },
      { name: 'a', code: 'OPTION_RANGE', message: expect.stringContaining(`at most ${DATA_MAX} are stored`) },
      { name: 'a', code: 'FORBIDDEN', message: expect.stringContaining("begin with 'millrace:'") },
      { name: 'a', code: 'OPTION_RANGE', message: expect.stringContaining('data has the integer 1234567890123456789, which would be') },
      { name: 'a', code: 'OPTION_RANGE', message: expect.stringContaining('data has the number 1000') },
      { name: 'a', code: 'OPTION_RANGE', message: expect.stringContaining('options has the integer 1234567890123456789') },
    ])
  })
})

test('what was set aside is kept with its reason', async ({ postgres }) => {
  openStore(storeOptions(postgres)).close()
  const client = await connect(postgres)
  await enqueue(client, 'a', 'deadly')
  const after = await enqueue(client, 'a', 'after')
  await client.query('UPDATE inbox SET tries = 2 WHERE data = \'"deadly"\'')
  const engine = await open(postgres)
  await expect.poll(() => engine.get(after)).toMatchObject({ data: 'after' })
  expect((await client.query('SELECT data, code FROM inbox_refused')).rows).toEqual([{ data: 'deadly', code: 'TOO_LARGE' }])
})

test('an entry for a queue that is full waits for room, and others pass it', async ({ shared: { engine, ...postgres } }) => {
  await engine.queues.configure('small', { maxLength: 1 })
  const client = await connect(postgres)
  const first = await enqueue(client, 'full', 1, { queue: 'small' })
  await expect.poll(() => engine.get(first)).toMatchObject({ data: 1 })
  const second = await enqueue(client, 'full', 2, { queue: 'small' })
  const other = await enqueue(client, 'full', 3)
  await expect.poll(() => engine.get(other)).toMatchObject({ data: 3 })
  expect(await engine.get(second)).toBeUndefined()
  await engine.cancel(first)
  await expect.poll(() => engine.get(second)).toMatchObject({ data: 2 })
  expect((await client.query("SELECT count(*)::int AS refused FROM inbox_refused WHERE name = 'full'")).rows).toEqual([{ refused: 0 }])
})

test('who may only use the schema may enqueue, and neither read nor change what is in it', async ({ shared: { engine, ...postgres } }) => {
  const owner = await connect(postgres)
  const role = `app_${postgres.schema}`
  await owner.query(`CREATE ROLE ${role} LOGIN`)
  await owner.query(`GRANT USAGE ON SCHEMA "${postgres.schema}" TO ${role}`)
  const app = await connect(postgres, role)
  const id = await enqueue(app, 'a', 'by the app', {}, postgres.schema)
  await expect.poll(() => engine.get(id)).toMatchObject({ data: 'by the app' })
  // A temporary table of the app's own does not stand for one of the schema's.
  await app.query('CREATE TEMP TABLE inbox (id bigint GENERATED ALWAYS AS IDENTITY, at bigint, name text, data jsonb, options jsonb)')
  const again = await enqueue(app, 'a', 'past a table of its own', {}, postgres.schema)
  await expect.poll(() => engine.get(again)).toMatchObject({ data: 'past a table of its own' })
  expect((await app.query('SELECT count(*)::int AS entries FROM pg_temp.inbox')).rows).toEqual([{ entries: 0 }])
  for (const sql of [
    'SELECT * FROM %.inbox',
    "INSERT INTO %.inbox (at, name, options) VALUES (1, 'a', '{}')",
    'SELECT secret FROM %.owner',
  ])
    await expect(app.query(sql.replace('%', `"${postgres.schema}"`))).rejects.toMatchObject({ code: '42501' })
})

test('a thousand transactions side by side: each job that was committed is there once', async ({ shared: { engine, ...postgres } }) => {
  const before = (await engine.stats()).totals.enqueued
  const clients = await Promise.all(Array.from({ length: 8 }, () => connect(postgres)))
  const committed: string[] = []
  await Promise.all(
    clients.map(async (client, place) => {
      for (let call = 0; call < 125; call++) {
        await client.query('BEGIN')
        const id = await enqueue(client, 'thousand', { place, call })
        if (call % 7 === 3) await delay(1)
        if (call % 5 === 4) await client.query('ROLLBACK')
        else {
          await client.query('COMMIT')
          committed.push(id)
        }
      }
    }),
  )
  await expect.poll(async () => (await engine.stats()).totals.enqueued).toBe(before + committed.length)
  const found: string[] = []
  for (let after: string | undefined; ; ) {
    const { jobs, next } = await engine.list({ name: 'thousand', limit: 100, ...(after !== undefined && { after }) })
    found.push(...jobs.map(({ id }) => id))
    if (next === undefined) break
    after = next
  }
  expect(found.toSorted()).toEqual(committed.toSorted())
})
