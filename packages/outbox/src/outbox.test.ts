import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Connectivity } from '@millrace/client'
import { defineJob, type Engine } from '@millrace/engine'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { Kysely, SqliteDialect } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openInThread } from '../../testkit/src/testing/inThread.ts'
import type { Connection } from './connection.ts'
import { type Outbox, outbox } from './outbox.ts'
import { outboxSchema } from './table.ts'

const mail = defineJob<{ to: string }>({ name: 'mail', queue: 'mails', timeout: Number.POSITIVE_INFINITY })

let folder: string
let engine: Engine
let ends: (() => unknown)[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-outbox-'))
  ends = []
  engine = openInThread()
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  await engine.stop()
  rmSync(folder, { recursive: true })
})

const KINDS = {
  'better-sqlite3': (file: string): Connection & { close(): void } => new Database(file),
  'better-sqlite3 with BigInts': (file: string): Connection & { close(): void } => {
    const connection = new Database(file)
    connection.defaultSafeIntegers()
    return connection
  },
  'node:sqlite': (file: string): Connection & { close(): void } => new DatabaseSync(file),
}
type Kind = keyof typeof KINDS

function open(kind: Kind = 'better-sqlite3', file = 'app.db') {
  const connection = KINDS[kind](join(folder, file))
  ends.push(() => connection.close())
  connection.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, total INTEGER) STRICT')
  const box = started(connection)
  return { connection, box }
}

function started(connection: Connection, to = engine): Outbox {
  const box = outbox(connection, { engine: to, createTable: true })
  ends.push(() => box.close())
  return box
}

const count = (connection: Connection, table = 'millrace_outbox') =>
  Number((connection.prepare(`SELECT count(*) AS n FROM ${table}`).all()[0] as { n: number }).n)
const queued = async (of = engine) => (await of.list()).jobs.map(({ data }) => data).toReversed()
const order = (connection: Connection, total: number) => connection.prepare('INSERT INTO orders (total) VALUES (?)').run(total)

describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
  test('N11: what commits is in the queue, with its id; what rolls back is nowhere', async () => {
    const { connection, box } = open(kind)
    const first = box.transaction((tx) => {
      order(connection, 10)
      return box.enqueue(tx, mail, { to: 'a' }, { priority: 3, tags: ['t'], meta: { why: null }, maxAttempts: 7 })
    })
    let lost = ''
    expect(() =>
      box.transaction((tx) => {
        order(connection, 20)
        lost = box.enqueue(tx, mail, { to: 'b' }).id
        throw new Error('no')
      }),
    ).toThrow('no')
    const last = box.transaction((tx) => box.enqueue(tx, 'plain', new Uint8Array([1, 0, 255])))
    await box.flush()

    expect(await engine.get(first.id)).toMatchObject({
      id: first.id,
      name: 'mail',
      queue: 'mails',
      data: { to: 'a' },
      priority: 3,
      tags: ['t'],
      meta: { why: null },
      maxAttempts: 7,
      timeout: Number.POSITIVE_INFINITY,
    })
    expect(await engine.get(lost)).toBeUndefined()
    expect((await engine.get(last.id))?.data).toEqual(new Uint8Array([1, 0, 255]))
    expect(last.id).not.toBe(lost)
    expect((await engine.stats()).states.waiting).toBe(2)
    expect(count(connection)).toBe(0)
    expect(count(connection, 'orders')).toBe(1)
  })

  test('data of every kind arrives as it was given', async () => {
    const { box } = open(kind)
    const given = [undefined, null, '', 'ä€😀', 0, [], new Uint8Array(0)]
    const ids = box.transaction((tx) => given.map((data) => box.enqueue(tx, 'any', data).id))
    await box.flush()
    for (const [index, id] of ids.entries()) expect((await engine.get(id))?.data).toEqual(given[index])
  })

  test('what the engine refuses is in the table with its error, and blocks nothing', async () => {
    const { connection, box } = open(kind)
    await engine.enqueue('a', 0, { unique: { key: 'k', onConflict: 'error' }, delay: '1h' })
    const ids = box.transaction((tx) =>
      [1, 2, 3].map((n) => box.enqueue(tx, 'a', n, n === 2 ? { unique: { key: 'k', onConflict: 'error' } } : {}).id),
    )
    await box.flush()
    expect((await queued()).toSorted()).toEqual([0, 1, 3])
    expect(box.refused()).toEqual([
      { id: ids[1], name: 'a', data: 2, enqueuedAt: expect.any(Date), error: { code: 'UNIQUE_CONFLICT', message: expect.any(String) } },
    ])
    expect(count(connection)).toBe(1)

    // The next outbox on that database leaves it where it is.
    await box.close()
    const next = started(connection)
    next.transaction((tx) => next.enqueue(tx, 'a', 4))
    await next.flush()
    expect((await queued()).toSorted()).toEqual([0, 1, 3, 4])
    expect(next.refused({ limit: 1 })).toHaveLength(1)
    expect([next.dismiss(ids[0] as string), next.dismiss(ids[1] as string), next.dismiss(ids[1] as string)]).toEqual([false, true, false])
    expect(count(connection)).toBe(0)
  })

  test('what an outbox has left is sent by the next, once', async () => {
    const { connection, box } = open(kind)
    await engine.stop()
    box.transaction((tx) => [1, 2, 3].map((n) => box.enqueue(tx, 'a', n)))
    await expect(box.flush().then(() => box.flush())).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
    // The app goes on though its engine does not.
    box.transaction((tx) => box.enqueue(tx, 'a', 4))
    await box.close()
    expect(count(connection)).toBe(4)

    engine = openInThread()
    const next = started(connection)
    next.transaction((tx) => next.enqueue(tx, 'a', 5))
    await next.flush()
    expect(await queued()).toEqual([1, 2, 3, 4, 5])
    expect(count(connection)).toBe(0)
  })

  test('rows that come back after they were sent, as from a backup, are not sent again; and new ones are', async () => {
    const { connection, box } = open(kind)
    box.transaction((tx) => [1, 2].map((n) => box.enqueue(tx, 'a', n)))
    connection.exec('CREATE TABLE backup AS SELECT * FROM millrace_outbox')
    await box.flush()
    await box.close()
    connection.exec('INSERT INTO millrace_outbox SELECT * FROM backup')
    const next = started(connection)
    next.transaction((tx) => next.enqueue(tx, 'a', 3))
    await next.flush()
    expect(await queued()).toEqual([1, 2, 3])
    expect(count(connection)).toBe(0)
  })

  test('a savepoint that is rolled back takes its jobs along', async () => {
    const { connection, box } = open(kind)
    box.transaction((tx) => {
      box.enqueue(tx, 'a', 1)
      connection.exec('SAVEPOINT inner')
      box.enqueue(tx, 'a', 2)
      connection.exec('ROLLBACK TO inner')
      box.enqueue(tx, 'a', 3)
    })
    await box.flush()
    expect(await queued()).toEqual([1, 3])
  })
})

test('nothing is sent of a transaction that is still open, however often it is asked for', async () => {
  const { connection, box } = open()
  box.transaction((tx) => box.enqueue(tx, 'a', 1))
  await box.flush()
  connection.exec('BEGIN')
  const { id } = box.enqueue(connection, 'a', 2)
  const flushed = box.flush()
  await engine.stats()
  expect(await queued()).toEqual([1])
  connection.exec('ROLLBACK')
  await flushed
  expect(await queued()).toEqual([1])

  connection.exec('BEGIN')
  box.enqueue(connection, 'a', 3)
  await engine.stats()
  connection.exec('COMMIT')
  await box.flush()
  expect(await queued()).toEqual([1, 3])
  expect(await engine.get(id)).toBeUndefined()
})

test('jobs are sent without being asked for, in one burst or many, in their order', async () => {
  const { connection, box } = open()
  const done = Promise.withResolvers<void>()
  const seen: number[] = []
  engine.work(
    defineJob<number>({ name: 'a' }).handler(({ data }) => {
      seen.push(data)
      if (seen.length === 3_001) done.resolve()
    }),
    { concurrency: 1 },
  )
  box.transaction((tx) => {
    for (let n = 0; n < 3_000; n++) box.enqueue(tx, 'a', n)
  })
  box.transaction((tx) => box.enqueue(tx, 'a', 3_000))
  await done.promise
  expect(seen).toEqual(Array.from({ length: 3_001 }, (_, n) => n))
  await box.flush()
  expect(count(connection)).toBe(0)
})

test('within a transaction of drizzle', async () => {
  const { connection, box } = open()
  const orders = sqliteTable('orders', { id: integer('id').primaryKey(), total: integer('total'), note: text('note') })
  const sqlite = connection as unknown as Database.Database
  sqlite.exec('ALTER TABLE orders ADD COLUMN note TEXT')
  const db = drizzle(sqlite)
  db.transaction((tx) => {
    tx.insert(orders).values({ total: 1 }).run()
    box.enqueue(db.$client, 'a', 1)
  })
  expect(() =>
    db.transaction((tx) => {
      tx.insert(orders).values({ total: 2 }).run()
      box.enqueue(db.$client, 'a', 2)
      tx.rollback()
    }),
  ).toThrow()
  await box.flush()
  expect(await queued()).toEqual([1])
  expect(count(connection, 'orders')).toBe(1)
})

test('within a transaction of kysely, also while the next one is open', async () => {
  const { connection, box } = open()
  const sqlite = connection as unknown as Database.Database
  const db = new Kysely<{ orders: { id?: number; total: number } }>({ dialect: new SqliteDialect({ database: sqlite }) })
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('orders').values({ total: 1 }).execute()
    box.enqueue(sqlite, 'a', 1)
    await trx.insertInto('orders').values({ total: 2 }).execute()
  })
  const failed = db.transaction().execute(async (trx) => {
    box.enqueue(sqlite, 'a', 2)
    await trx.insertInto('orders').values({ total: 3 }).execute()
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  await Promise.all(
    [3, 4, 5].map((n) =>
      db.transaction().execute(async (trx) => {
        await trx.insertInto('orders').values({ total: n }).execute()
        box.enqueue(sqlite, 'a', n)
      }),
    ),
  )
  await box.flush()
  expect(await queued()).toEqual([1, 3, 4, 5])
  expect(count(connection, 'orders')).toBe(5)
  expect(count(connection)).toBe(0)
})

test('an encoded job: the table has no plain data', async () => {
  const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 255)
  const sealed = openInThread({ codec: { encode: flip, decode: flip } })
  ends.push(() => sealed.stop())
  const { connection } = open()
  const box = started(connection, sealed)
  connection.exec('BEGIN')
  const { id } = box.enqueue(connection, 'a', 'secret')
  const [row] = connection.prepare('SELECT data FROM millrace_outbox').all() as { data: Uint8Array }[]
  expect(Buffer.from(row?.data ?? []).includes('secret')).toBe(false)
  connection.exec('COMMIT')
  await box.flush()
  expect((await sealed.get(id))?.data).toBe('secret')
})

test('a delay counts from the call', async () => {
  const { box } = open()
  const before = Date.now()
  const { id } = box.transaction((tx) => box.enqueue(tx, 'a', 1, { delay: '1h' }))
  await box.flush()
  const job = await engine.get(id)
  expect(job?.state).toBe('scheduled')
  expect((job?.runAt.getTime() ?? 0) - (job?.enqueuedAt.getTime() ?? 0)).toBe(3_600_000)
  expect(job?.enqueuedAt.getTime()).toBeGreaterThanOrEqual(before)
})

test('what is wrong is refused by name, before anything is written', async () => {
  const { connection, box } = open()
  const refused = (what: () => unknown, option: string, text: RegExp) => {
    expect(what).toThrow(expect.objectContaining({ option, message: expect.stringMatching(text) }))
  }
  refused(() => outbox({} as never, { engine }), 'connection', /better-sqlite3 or .*node:sqlite/)
  const old = { prepare() {}, exec() {} }
  refused(() => outbox(old as never, { engine }), 'connection', /22\.16/)
  refused(() => outbox(connection, { engine: {} as never }), 'engine', /openEngine or connect/)
  refused(() => outbox(connection, { engine, tabel: 'x' } as never), 'tabel', /did you mean 'table'/)
  refused(() => outbox(connection, { engine, createTable: 1 as never }), 'createTable', /true or false/)
  for (const table of ['a b', 'a;b', '1a', 'sqlite_x', 'ä', 'a"']) refused(() => outboxSchema(table), 'table', /A-Z a-z 0-9 _/)
  refused(() => outboxSchema(''), 'table', /1 to 64/)
  refused(() => outbox(connection, { engine, table: 'x'.repeat(65) }), 'table', /1 to 64/)
  for (const table of ['x', 'x'.repeat(64)]) expect(outboxSchema(table)).toContain(` ${table} (`)
  refused(() => outbox(connection, { engine, table: 'missing' }), 'table', /outboxSchema\(\)/)
  const arrays = new DatabaseSync(':memory:', { returnArrays: true })
  refused(() => outbox(arrays, { engine, createTable: true }), 'connection', /returnArrays/)

  refused(() => box.enqueue(connection, 'a', 1), 'tx', /no transaction open/)
  const other = new Database(':memory:')
  refused(() => box.enqueue(other, 'a', 1), 'tx', /the connection of this outbox/)
  refused(() => box.transaction(() => box.transaction(() => {})), 'tx', /already/)
  refused(() => box.transaction(() => Promise.reject(new Error('unseen'))), 'work', /promise/)
  box.transaction((tx) => {
    refused(() => box.enqueue(tx, 'not a name!', 1), 'name', /allowed are/)
    refused(() => box.enqueue(tx, 'a', 1, { priorty: 1 } as never), 'priorty', /did you mean/)
    const slow = { '~standard': { version: 1 as const, vendor: 'test', validate: async () => ({ value: 1 }) } }
    refused(() => box.enqueue(tx, defineJob({ name: 'slow', schema: slow }), 1), 'schema', /asynchronous/)
  })
  refused(() => box.refused({ limit: 0 }), 'limit', /1/)
  expect(box.dismiss('none')).toBe(false)
  expect(count(connection)).toBe(0)

  await box.close()
  expect(() => box.transaction((tx) => box.enqueue(tx, 'a', 1))).toThrow(expect.objectContaining({ code: 'ENGINE_STOPPED' }))
  await expect(box.flush()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

describe('jobs whose schema the engine knows', () => {
  /** Takes objects with a `to`. */
  const validate = (value: unknown) =>
    typeof value === 'object' && value !== null && 'to' in value ? { value } : { issues: [{ message: 'is missing', path: ['to'] }] }
  const letter = defineJob({ name: 'letter', schema: { '~standard': { version: 1, vendor: 'test', validate } } })

  test('wrong data under the plain name is refused by the call, and nothing is written', () => {
    const { connection, box } = open()
    engine.checks.add([letter])
    expect(() => box.transaction((tx) => box.enqueue(tx, 'letter', {}))).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
    expect(count(connection)).toBe(0)
  })

  test('rows that were written before it was known are refused in the table, and the others are sent', async () => {
    const { box } = open()
    box.transaction((tx) => {
      for (const data of [{ to: 1 }, {}, { to: 2 }]) box.enqueue(tx, 'letter', data)
      engine.checks.add([letter])
    })
    await box.flush()
    expect(await queued()).toEqual([{ to: 1 }, { to: 2 }])
    expect(box.refused()).toMatchObject([
      { name: 'letter', data: {}, error: { code: 'VALIDATION', message: expect.stringContaining('is missing') } },
    ])
  })
})

test('a table of another name, made by a migration', async () => {
  const connection = new Database(join(folder, 'other.db'))
  ends.push(() => connection.close())
  connection.exec(outboxSchema('jobs_to_send'))
  connection.exec(outboxSchema('jobs_to_send'))
  const box = outbox(connection, { engine, table: 'jobs_to_send' })
  ends.push(() => box.close())
  box.transaction((tx) => box.enqueue(tx, 'a', 1))
  await box.flush()
  expect(await queued()).toEqual([1])
})

test('a connection that the app has closed ends the outbox, and is told', async () => {
  const warned: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warned.push(text) }
  const told = openInThread({ logger })
  ends.push(() => told.stop())
  const connection = new Database(join(folder, 'closed.db'))
  const box = started(connection, told)
  await box.flush()
  connection.close()
  await box.flush()
  await expect(box.flush()).rejects.toThrow(/connection of the outbox was closed/)
  expect(warned).toEqual(['the outbox no longer sends anything'])
})

test('a queue that is full is waited for', async () => {
  const { connection, box } = open()
  await engine.queues.configure('default', { maxLength: 1 })
  const enqueued = () => new Promise((resolve) => engine.once('enqueued', resolve))
  const first = enqueued()
  box.transaction((tx) => [1, 2].map((n) => box.enqueue(tx, 'a', n)))
  await first
  expect(count(connection)).toBe(2)
  const second = enqueued()
  await engine.queues.configure('default', { maxLength: null })
  await second
  await box.flush()
  expect(await queued()).toEqual([1, 2])
  expect(count(connection)).toBe(0)
})

// Several processes of an app on one table, and one that ends as it begins.

function neighbour() {
  const connection = new Database(join(folder, 'app.db'))
  connection.pragma('journal_mode = WAL')
  ends.push(() => connection.close())
  return connection
}
const put = (box: Outbox, n: number) => box.transaction((tx) => box.enqueue(tx, 'a', n).id)

test('row numbers that come again let no job of a new source pass the ones before it', async () => {
  // Two processes have left rows: 1 and 2 of one source, 3 to 5 of another.
  const line = engine.sourceLine()
  const away = { sourceLine: () => ({ ...line, call: () => new Promise(() => {}) }) } as unknown as Engine
  for (const jobs of [
    [1, 2],
    [3, 4, 5],
  ]) {
    const connection = neighbour()
    const box = started(connection, away)
    for (const n of jobs) put(box, n)
    await new Promise((resolve) => setImmediate(resolve))
    await box.close()
  }
  // Two come up again. The call of one takes its time.
  const gate = Promise.withResolvers<void>()
  const slow = {
    sourceLine: () => ({ ...line, call: async (command: never) => gate.promise.then(() => line.call(command)) }),
  } as unknown as Engine
  const one = started(neighbour(), slow)
  await new Promise((resolve) => setImmediate(resolve))
  // The other sends and deletes all that was left.
  const other = started(neighbour())
  await other.flush()
  for (const n of [6, 7, 8]) put(one, n)
  gate.resolve()
  await one.flush()
  await one.close()
  const next = started(neighbour())
  await next.flush()
  expect((await engine.list()).jobs.map(({ data }) => data).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})

test('an outbox that is closed as soon as it was opened waits for no engine', async () => {
  const line = engine.sourceLine()
  let asked = 0
  const away = { sourceLine: () => ({ ...line, call: () => new Promise(() => asked++) }) } as unknown as Engine
  const connection = neighbour()
  const first = started(connection, away)
  put(first, 1)
  await new Promise((resolve) => setImmediate(resolve))
  await first.close()
  asked = 0
  const second = outbox(connection, { engine: away })
  await second.close()
})

test('flush waits for no engine that is out of reach, or goes there meanwhile', async () => {
  const line = engine.sourceLine()
  const connectivity = new Connectivity()
  const back = Promise.withResolvers<void>()
  const call = async (command: never) => back.promise.then(() => line.call(command))
  const box = started(neighbour(), { sourceLine: () => ({ ...line, connectivity, call }) } as unknown as Engine)
  put(box, 1)
  const waiting = box.flush()
  connectivity.lost()
  await waiting
  await box.flush()
  expect(await queued()).toEqual([])
  connectivity.regained()
  back.resolve()
  await box.flush()
  expect(await queued()).toEqual([1])
})

test('a closed outbox listens to its engine no more', async () => {
  class CountedReach extends Connectivity {
    listeners = 0
    override whenAway(listener: () => void): () => void {
      const forget = super.whenAway(listener)
      this.listeners++
      return () => {
        this.listeners--
        forget()
      }
    }
  }
  const connectivity = new CountedReach()
  const line = engine.sourceLine()
  const connection = neighbour()
  for (let count = 0; count < 20; count++) {
    const box = started(connection, { sourceLine: () => ({ ...line, connectivity }) } as unknown as Engine)
    expect(connectivity.listeners).toBe(1)
    await box.close()
    expect(connectivity.listeners).toBe(0)
  }
})
