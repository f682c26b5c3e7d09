// Processes on one schema of Postgres: one owns it, until another has to.
import { openEngine } from '@millrace/engine'
import { openStore } from '@millrace/postgres'
import pg from 'pg'
import { describe, expect, vi } from 'vitest'
import { insist } from '../proof/torture/insist.ts'
import { type Fact, Member } from '../share/members.ts'
import { startRelay } from './relay.ts'
import { storeOptions, type TestSchema, test } from './test.ts'

const acknowledged = (n: number) => (fact: Fact) => fact['acknowledged'] === n
const ran = (n: number) => (fact: Fact) => fact['ran'] === n

function optionsOf({ url, schema }: TestSchema) {
  return { postgres: url, schema, durability: 'normal' } as const
}

async function ownerOf({ url, schema }: TestSchema): Promise<Readonly<Record<string, unknown>> | undefined> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`SELECT host, pid::int, epoch::int, url FROM "${schema}".owner`)
    return rows[0]
  } finally {
    await client.end()
  }
}

test('a schema has one owner: others attach to it, take its place when it is killed or stops, and lose nothing', async ({ postgres }) => {
  const store = optionsOf(postgres)
  const owner = await Member.start(store, 'producer')
  const worker = await Member.start(store, 'worker')
  const producer = await Member.start({ ...store, role: 'client' }, 'producer')
  for (const [n, member] of [owner, worker, producer].entries()) member.say({ enqueue: n })
  for (const [n, member] of [owner, worker, producer].entries()) await member.until(acknowledged(n))
  for (const n of [0, 1, 2]) await worker.until(ran(n))
  expect(await ownerOf(postgres)).toMatchObject({ pid: owner.pid, epoch: 1, url: expect.stringMatching(/^tls:\/\/127\.0\.0\.1:\d+$/) })

  // It is killed: what runs elsewhere keeps its run.
  producer.say({ enqueue: 3, ms: 2_500 })
  await worker.until((fact) => fact['started'] === 3)
  await owner.kill()
  producer.say({ enqueue: 4 })
  await producer.until(acknowledged(4))
  await worker.until(ran(4))
  expect(await worker.until(ran(3))).toEqual({ ran: 3, run: 1 })
  expect(worker.facts.filter((fact) => fact['started'] === 3)).toHaveLength(1)
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ pid: worker.pid, epoch: 2 })

  // An owner that stops hands the schema over, and removes its row.
  const successor = await Member.start(store, 'worker')
  await worker.stop()
  producer.say({ enqueue: 5 })
  await successor.until(ran(5))
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ pid: successor.pid, epoch: 3 })
  await successor.stop()
  expect(await ownerOf(postgres)).toBeUndefined()
})

test('a worker that dies before it has come back to the next owner keeps no job for its lease', async ({ postgres }) => {
  const store = optionsOf(postgres)
  const first = await Member.start(store, 'producer')
  const next = await Member.start(store, 'producer')
  const worker = await Member.start({ ...store, role: 'client' }, 'worker')
  first.say({ enqueue: 1, ms: 100_000 })
  await worker.until((fact) => fact['started'] === 1)
  worker.signal('SIGSTOP')
  await first.kill()
  next.say({ enqueue: 2 })
  await next.until(acknowledged(2))
  await worker.kill()
  // Its lease is two minutes from the takeover on.
  const heir = await Member.start({ ...store, role: 'client' }, 'worker')
  expect(await heir.until((fact) => fact['started'] === 1)).toEqual({ started: 1, run: 2 })
})

test('all openings of one process are one engine, whose lists a reader answers, which ends with it', async ({ postgres }) => {
  const sessions = async () => {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    const name = `millrace ${postgres.schema} (reader)`
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int FROM pg_stat_activity WHERE application_name = $1', [name])
    await client.end()
    return rows[0]?.count
  }
  const store = optionsOf(postgres)
  const [one, other] = await Promise.all([openEngine(store), openEngine(store)])
  expect(other).toBe(one)
  const { id } = await one.enqueue('a')
  expect(await sessions()).toBe(0)
  expect((await one.list()).jobs.map((job) => job.id)).toEqual([id])
  expect(await sessions()).toBe(1)
  await one.stop()
  expect((await other.stats()).totals.enqueued).toBe(1)
  await other.stop()
  await expect.poll(sessions).toBe(0)
})

test('an owner that stands still loses the schema, and is attached to its successor when it goes on', async ({ postgres }) => {
  const store = optionsOf(postgres)
  const owner = await Member.start(store, 'producer')
  const worker = await Member.start(store, 'worker')
  owner.say({ enqueue: 1 })
  await worker.until(ran(1))
  owner.signal('SIGSTOP')
  // By the clock of the server, which ends its session.
  worker.say({ enqueue: 2 })
  await worker.until(ran(2))
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ pid: worker.pid, epoch: 2 })
  owner.signal('SIGCONT')
  owner.say({ enqueue: 3 })
  await owner.until(acknowledged(3))
  await worker.until(ran(3))
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ pid: worker.pid, epoch: 2 })
  expect(worker.facts.filter((fact) => 'started' in fact)).toHaveLength(3)
})

test('an engine survives a server that is away for longer than a few attempts', async ({ postgres }) => {
  const relay = await startRelay(postgres.url)
  const engine = await openEngine({ ...optionsOf({ ...postgres, url: relay.url }), logger: false })
  const bystander = await engine.enqueue('a', 'by')
  relay.cut()
  const during = insist(() => engine.enqueue('a', 'during', { idempotencyKey: 'during' }))
  await relay.refused(8)
  relay.restore()
  const { id } = await during
  expect((await engine.list()).jobs.map(({ id, data }) => ({ id, data }))).toEqual([
    { id, data: 'during' },
    { id: bystander.id, data: 'by' },
  ])
  await engine.stop()
})

test('an owner whose row is gone announces itself again', async ({ postgres }) => {
  await using engine = await openEngine({ ...optionsOf(postgres), logger: false })
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ pid: process.pid })
  const announced = await ownerOf(postgres)
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`TRUNCATE "${postgres.schema}".owner`)
  await client.end()
  // With the next beat.
  await expect.poll(() => ownerOf(postgres), { timeout: 20_000 }).toEqual(announced)
  expect((await engine.stats()).owner?.epoch).toBe(1)
})

test('calls to an owner whose journal somebody empties reject with the reason', async ({ postgres }) => {
  const engine = await openEngine({ ...optionsOf(postgres), logger: false })
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ pid: process.pid })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`TRUNCATE "${postgres.schema}".journal`)
  await client.end()
  const codes: unknown[] = []
  while (!codes.includes('NOT_A_DATABASE') && codes.length < 5) await engine.enqueue('a').catch(({ code }) => codes.push(code))
  expect(codes.at(-1)).toBe('NOT_A_DATABASE')
  await expect(engine.stats()).rejects.toMatchObject({
    code: 'NOT_A_DATABASE',
    message: expect.stringContaining('emptied the table journal'),
  })
  await engine.stop()
})

describe('roles', () => {
  test('a client never owns, and says which roles do', async ({ postgres }) => {
    await expect(openEngine({ ...optionsOf(postgres), role: 'client' })).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      message: expect.stringContaining("role is 'any' or 'owner'"),
    })
  })

  test('a session whose user may not write the schema is no owner, whatever locks it has', async ({ postgres }) => {
    const { url, schema } = postgres
    openStore(storeOptions(postgres)).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const role = `squatter_${schema}`
    await client.query(`CREATE ROLE ${role} LOGIN`)
    await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
    const squat = new URL(url)
    squat.username = role
    const squatter = new pg.Client({ connectionString: squat.href })
    await squatter.connect()
    const take = (owner: pg.Client) =>
      owner.query<{ pid: number }>("SELECT pg_advisory_lock(hashtextextended('millrace ' || $1, 0)), pg_backend_pid() AS pid", [schema])
    await take(squatter)
    const options = { ...optionsOf(postgres), role: 'owner', logger: false } as const
    const engine = await openEngine(options)
    const heir = () => openStore(storeOptions(postgres))
    expect(heir).toThrow(
      expect.objectContaining({ code: 'ALREADY_OPEN', message: expect.stringMatching(/session \d+ of user postgres has/) }),
    )
    // The first key is free by now, and the owner has another one.
    await squatter.query('SELECT pg_advisory_unlock_all()')
    expect(heir).toThrow(expect.objectContaining({ code: 'ALREADY_OPEN' }))
    await engine.stop()
    await squatter.end()
    // A user that may write the schema is named.
    const { rows } = await take(client)
    const refused = {
      code: 'ALREADY_OPEN',
      message: expect.stringContaining(`session ${rows[0]?.pid} of user postgres has the owner's lock`),
    }
    await expect(openEngine(options)).rejects.toMatchObject(refused)
    expect(heir).toThrow(expect.objectContaining(refused))
    await client.end()
  })

  test('an owner whose session ends gets the lock back by another key if somebody has taken the first one', async ({ postgres }) => {
    const { url, schema } = postgres
    await using engine = await openEngine({ ...optionsOf(postgres), role: 'owner', logger: false })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const role = `thief_${schema}`
    await client.query(`CREATE ROLE ${role} LOGIN`)
    const steal = new URL(url)
    steal.username = role
    const thief = new pg.Client({ connectionString: steal.href })
    await thief.connect()
    const stolen = thief.query("SELECT pg_advisory_lock(hashtextextended('millrace ' || $1, 0))", [schema])
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [`millrace ${schema}`])
    await stolen
    await insist(() => engine.enqueue('a', 1, { idempotencyKey: 'one' }))
    await expect.poll(() => engine.stats().then(({ owner }) => owner?.pid), { timeout: 20_000 }).toBe(process.pid)
    expect(() => openStore(storeOptions(postgres))).toThrow(expect.objectContaining({ code: 'ALREADY_OPEN' }))
    await thief.end()
    await client.end()
  })

  test('a client without a right hears which one it lacks, at once', async ({ postgres }) => {
    const { url, schema } = postgres
    openStore(storeOptions(postgres)).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const role = `stranger_${schema}`
    await client.query(`CREATE ROLE ${role} LOGIN`)
    const stranger = new URL(url)
    stranger.username = role
    for (const what of [`schema ${schema}`, 'table owner']) {
      await expect(openEngine({ postgres: stranger.href, schema, role: 'client', logger: false })).rejects.toMatchObject({
        code: 'NOT_WRITABLE',
        message: expect.stringMatching(
          `^permission denied for ${what}: grant the user USAGE on schema ${schema} and SELECT on its table owner`,
        ),
      })
      await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
    }
    await client.end()
  })

  test('an owner attaches to nobody', async ({ postgres }) => {
    const store = optionsOf(postgres)
    const owner = await Member.start({ ...store, role: 'owner' }, 'producer')
    const second = () => openEngine({ ...store, role: 'owner' })
    await expect(second()).rejects.toMatchObject({ code: 'ALREADY_OPEN' })
    // The owner says who it is once it is open.
    await vi.waitFor(() => expect(second()).rejects.toMatchObject({ pid: owner.pid }), { timeout: 20_000 })
    await owner.stop()
    await using engine = await openEngine({ ...store, role: 'owner' })
    expect((await engine.stats()).totals.enqueued).toBe(0)
  })
})

test('what others reach the owner by can be given', async ({ postgres }) => {
  const store = optionsOf(postgres)
  await using engine = await openEngine({ ...store, listen: '0.0.0.0' })
  await expect.poll(() => ownerOf(postgres)).toMatchObject({ url: expect.stringMatching(/^tls:\/\/127\.0\.0\.1:\d+$/) })
  const client = await Member.start({ ...store, role: 'client' }, 'producer')
  client.say({ enqueue: 1 })
  await client.until(acknowledged(1))
  expect((await engine.stats()).states.waiting).toBe(1)
})
