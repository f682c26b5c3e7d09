// Processes that reach the owner through Postgres, since no socket leads there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openEngine } from '@millrace/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { Member } from '../share/members.ts'
import { type TestSchema, test } from './test.ts'

const HERE = import.meta.dirname

type Fact = Readonly<Record<string, unknown>>
const acknowledged = (n: number) => (fact: Fact) => fact['acknowledged'] === n
const ran = (n: number) => (fact: Fact) => fact['ran'] === n

function optionsOf({ url, schema }: TestSchema) {
  return { postgres: url, schema, durability: 'normal' } as const
}

async function query({ url, schema }: TestSchema, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SET search_path TO "${schema}"`)
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Gives the owner an address at which nobody listens, once it has announced its own. */
async function misplace(postgres: TestSchema): Promise<void> {
  await expect.poll(() => query(postgres, "UPDATE owner SET url = 'tls://127.0.0.1:9' RETURNING one")).toHaveLength(1)
}

test('without any other way, a process enqueues, works and hears of results through the schema', async ({ postgres }) => {
  const store = { ...optionsOf(postgres), transport: 'postgres' } as const
  const owner = await Member.start(store, 'producer')
  const worker = await Member.start({ ...store, role: 'client' }, 'worker')
  await misplace(postgres)
  const producer = await Member.start({ ...store, role: 'client' }, 'producer')
  for (const [n, member] of [owner, producer].entries()) member.say({ enqueue: n })
  for (const [n, member] of [owner, producer].entries()) await member.until(acknowledged(n))
  for (const n of [0, 1]) await worker.until(ran(n))
  expect(await query(postgres, 'SELECT pid::int FROM owner')).toEqual([{ pid: owner.pid }])

  // First all connections of the mailbox break, then the owner's alone.
  const mailbox = `application_name = 'millrace ${postgres.schema} (mailbox)'`
  for (const [n, order] of ['LIMIT 3', 'ORDER BY backend_start LIMIT 1'].entries()) {
    const ended = `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE ${mailbox} ${order}) AS ended`
    await expect.poll(() => query(postgres, `SELECT pid FROM pg_stat_activity WHERE ${mailbox}`)).toHaveLength(3)
    await query(postgres, ended)
    producer.say({ enqueue: 2 + n })
    await producer.until(acknowledged(2 + n))
    await worker.until(ran(2 + n))
  }
})

test('after three attempts in vain by a socket the way is through the schema, and never with transport: socket', async ({ postgres }) => {
  const store = optionsOf(postgres)
  const owner = await Member.start(store, 'producer')
  await misplace(postgres)
  const worker = await Member.start({ ...store, role: 'client' }, 'worker')
  owner.say({ enqueue: 1 })
  await worker.until(ran(1))
  await expect(openEngine({ ...store, role: 'client', transport: 'socket' })).rejects.toMatchObject({
    code: 'ALREADY_OPEN',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})

test('the owner is killed: the run goes on, and its end reaches the next owner', async ({ postgres }) => {
  const store = { ...optionsOf(postgres), transport: 'postgres' } as const
  const first = await Member.start(store, 'producer')
  const second = await Member.start(store, 'producer')
  const worker = await Member.start({ ...store, role: 'client' }, 'worker')
  second.say({ enqueue: 1, ms: 2_000 })
  await worker.until((fact) => fact['started'] === 1)
  await first.kill()
  second.say({ enqueue: 2 })
  await second.until(acknowledged(2))
  for (const n of [1, 2]) await worker.until(ran(n))
  expect(worker.facts.filter((fact) => fact['started'] === 1)).toHaveLength(1)
  expect(await query(postgres, 'SELECT pid::int FROM owner')).toEqual([{ pid: second.pid }])
})

test('large payloads pass both ways, in the order of the calls, and nothing stays in the table', async ({ postgres }) => {
  const store = { ...optionsOf(postgres), transport: 'postgres', maxDataBytes: 8 * 2 ** 20 } as const
  const owner = await Member.start(store, 'producer')
  const engine = await openEngine({ ...store, role: 'client', logger: false })
  const sizes = [3 * 2 ** 20, 10, 2 ** 20, 5 * 2 ** 20, 1]
  const handles = await Promise.all(sizes.map((size) => engine.enqueue('large', new Uint8Array(size).fill(size % 251))))
  const jobs = await Promise.all(handles.map(({ id }) => engine.get(id)))
  const told = jobs.map((job) => job?.data as Uint8Array)
  expect(told.map((data) => [data.length, data[0]])).toEqual(sizes.map((size) => [size, size % 251]))
  await engine.stop()
  await owner.stop()
  const next = await openEngine({ ...store, logger: false })
  await expect.poll(() => query(postgres, 'SELECT count(*)::int AS count FROM frame')).toEqual([{ count: 0 }])
  await next.stop()
})

test('a process ends without stop, as an owner and as a client through the schema', async ({ postgres }) => {
  const script = (options: object) => `
import { openEngine } from '@millrace/engine'
const engine = await openEngine(${JSON.stringify({ ...optionsOf(postgres), ...options, logger: false })})
await engine.enqueue('a')
process.stdout.write('enqueued')`
  const run = async (options: object) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script(options)], {
      cwd: HERE,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await once(child.stdout, 'data')
    const [code] = await once(child, 'exit')
    return [String(said), code]
  }
  expect(await run({})).toEqual(['enqueued', 0])
  const owner = await Member.start(optionsOf(postgres), 'producer')
  expect(await run({ role: 'client', transport: 'postgres' })).toEqual(['enqueued', 0])
  await owner.stop()
})

test('a client without rights on the mailbox hears which it lacks', async ({ postgres }) => {
  const { url, schema } = postgres
  const store = { ...optionsOf(postgres), transport: 'postgres' } as const
  const owner = await Member.start(store, 'producer')
  const role = `reader_${schema}`
  await query(postgres, `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA "${schema}" TO ${role}; GRANT SELECT ON owner TO ${role}`)
  const limited = new URL(url)
  limited.username = role
  const open = () => openEngine({ ...store, postgres: limited.href, role: 'client', logger: false })
  await expect(open()).rejects.toThrow(/permission denied for table frame/)
  await query(postgres, `GRANT SELECT, INSERT, DELETE ON frame TO ${role}`)
  const engine = await open()
  const { id } = await engine.enqueue('a')
  expect(await engine.get(id)).toMatchObject({ name: 'a' })
  await engine.stop()
  await owner.stop()
})
