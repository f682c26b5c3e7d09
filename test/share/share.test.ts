// `share: true`: processes on one file, of which one owns it, until another has to.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tamper } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile, temporaryFolder } from '../temporary.ts'
import { type Fact, Member } from './members.ts'

/** Two seconds is the promise on a machine that has time; this bound is for a takeover that hangs. */
const TAKEN_OVER_MS = 30_000

const acknowledged = (n: number) => (fact: Fact) => fact['acknowledged'] === n
const ran = (n: number) => (fact: Fact) => fact['ran'] === n
const ownerOf = (file: string) => JSON.parse(readFileSync(`${file}-share/owner.json`, 'utf8'))

test('N4: the first owns the file, later ones attach to it, also by a link, and all work on the same jobs; the owner is killed: another serves at once, nothing is lost, and what runs elsewhere keeps its run', async () => {
  const file = temporaryFile()
  const link = join(temporaryFolder(), 'link.db')
  symlinkSync(file, link)
  const owner = await Member.start(link, 'producer')
  const worker = await Member.start(file, 'worker')
  const producer = await Member.start(link, 'producer')
  for (const [n, member] of [owner, worker, producer].entries()) member.say({ enqueue: n })
  for (const [n, member] of [owner, worker, producer].entries()) await member.until(acknowledged(n))
  for (const n of [0, 1, 2]) await worker.until(ran(n))
  expect(ownerOf(file)).toMatchObject({ pid: owner.pid, epoch: 1 })
  expect(statSync(`${file}-share`).mode & 0o777).toBe(0o700)
  await expect(openEngine({ file })).rejects.toMatchObject({ code: 'ALREADY_OPEN' })

  producer.say({ enqueue: 3, ms: 2_500 })
  await worker.until((fact) => fact['started'] === 3)
  await owner.kill()
  const killedMono = performance.now()
  producer.say({ enqueue: 4 })
  await producer.until(acknowledged(4))
  expect(performance.now() - killedMono).toBeLessThan(TAKEN_OVER_MS)
  await worker.until(ran(4))
  expect(await worker.until(ran(3))).toEqual({ ran: 3, run: 1 })
  expect(worker.facts.filter((fact) => fact['started'] === 3)).toHaveLength(1)
})

test('the owner’s maxDataBytes holds in every process of the file; a successor brings its own', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file, share: true, maxDataBytes: 1_000 })
  const member = await Member.start(file, 'producer')
  member.say({ many: 1, count: 2, bytes: 1_001 })
  expect(await member.until((fact) => fact['failed'] === 1)).toMatchObject({ code: 'OPTION_RANGE' })
  member.say({ many: 2, count: 2, bytes: 1_000 })
  await member.until((fact) => fact['many'] === 2)
  expect((await engine.stats()).totals.enqueued).toBe(2)
  await engine.stop()
  // Opened with the default: it owns the file as soon as it can, and calls wait until then.
  member.say({ enqueue: 3 })
  await member.until(acknowledged(3))
  member.say({ many: 4, count: 1, bytes: 1_001 })
  await member.until((fact) => fact['many'] === 4)
})

test('a file that is deleted under its owner, or while nobody owns it, is the end: no empty one takes its place', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file, share: true })
  await engine.enqueue('kept')
  const files = () => ['', '-wal', '-shm'].map((ending) => `${file}${ending}`).filter((path) => existsSync(path))
  for (const path of files()) rmSync(path)
  // It is looked at now and then; what is committed until then is in the file that nobody can open any more.
  const refused = async (from: Engine): Promise<unknown> => {
    for (;;) {
      const error = await from.enqueue('late').then(
        () => undefined,
        (reason: unknown) => reason,
      )
      if (error !== undefined) return error
    }
  }
  expect(await refused(engine)).toMatchObject({ code: expect.stringMatching(/^(COMMIT_UNKNOWN|OWNER_LOST)$/) })
  await expect(engine.enqueue('later')).rejects.toMatchObject({ code: 'OWNER_LOST' })
  await engine.stop()
  expect(files()).toEqual([])

  const owner = await Member.start(file, 'producer')
  await using attached = await openEngine({ file, share: true })
  await attached.stats()
  for (const path of files()) rmSync(path)
  await owner.kill()
  expect(await refused(attached)).toMatchObject({ code: expect.stringMatching(/^(OWNER_LOST|CONNECTION_LOST)$/) })
  await expect(attached.enqueue('later')).rejects.toMatchObject({ code: 'OWNER_LOST' })
  expect(files()).toEqual([])
})

test('the owner tells who it is; what a killed one has told is told anew by its successor; one that stops hands the file over, and the last takes it back', async () => {
  const file = temporaryFile()
  const owner = await Member.start(file, 'producer')
  const next = await Member.start(file, 'producer')
  const { url } = ownerOf(file)
  expect(ownerOf(file)).toMatchObject({ pid: owner.pid, epoch: 1, protocol: [1, 1], url: `unix:${file}-share/socket` })
  expect(statSync(`${file}-share/owner.json`).mode & 0o777).toBe(0o600)
  await owner.kill()
  next.say({ enqueue: 1 })
  await next.until(acknowledged(1))
  expect(ownerOf(file)).toMatchObject({ pid: next.pid, epoch: 2, url })

  const worker = await openEngine({ file, share: true, durability: 'normal' })
  const runs: number[] = []
  const job = defineJob<{ n: number }>({ name: 'job' })
  worker.work(job.handler(({ data }) => void runs.push(data.n)))
  const hasRun = (n: number) => expect.poll(() => runs).toContain(n)
  await hasRun(1)
  await next.stop()
  await (await worker.enqueue(job, { n: 2 })).result()
  expect(ownerOf(file)).toMatchObject({ pid: process.pid, epoch: 3, url })
  const late = await Member.start(file, 'producer')
  late.say({ enqueue: 3 })
  await hasRun(3)
  await late.stop()
  await worker.stop()
  expect(() => ownerOf(file)).toThrow('ENOENT')
})

test('a process that is too old for the file attaches to a newer one that owns it', async () => {
  const file = temporaryFile()
  const owner = await openEngine({ file, share: true, durability: 'normal' })
  onTestFinished(() => owner.stop({ timeout: 0 }))
  const done = Promise.withResolvers<void>()
  owner.work(defineJob({ name: 'job' }).handler(() => done.resolve()))
  tamper(file, 'UPDATE meta SET schema_version = ?, min_reader = 99', 99)
  const older = await Member.start(file, 'producer')
  older.say({ enqueue: 1 })
  await older.until(acknowledged(1))
  await done.promise
  expect(ownerOf(file)).toMatchObject({ pid: process.pid, epoch: 1 })
})

describe('in one process', () => {
  test('a second opening is the same engine, and the last stop closes it', async () => {
    const file = temporaryFile()
    const [one, two] = await Promise.all([openEngine({ file, share: true }), openEngine({ file, share: true })])
    expect(two).toBe(one)
    await one.stop()
    expect((await two.enqueue('a')).created).toBe(true)
    await two.stop()
    await expect(two.enqueue('a')).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
    const again = await openEngine({ file })
    expect((await again.stats()).states.waiting).toBe(1)
    await again.stop()
  })

  test('an opening that would keep data in another way than the first is refused, by option', async () => {
    const file = temporaryFile()
    const same = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)
    const [codec, redact] = [{ encode: same, decode: same }, <Said>(said: Said) => said]
    const first = { file, share: true, codec, redact, maxDataBytes: 1_000 }
    const engine = await openEngine(first)
    const refused = { name: 'OptionTypeError', message: expect.stringMatching(/another (\w+).* the same \1 .*or stop that engine first/) }
    const { codec: _codec, ...clear } = first
    for (const [option, options] of [
      ['codec', clear],
      ['codec', { ...first, codec: { ...codec } }],
      ['redact', { ...first, redact: <Said>(said: Said) => said }],
      ['maxDataBytes', { ...first, maxDataBytes: 1_001 }],
    ] as const)
      await expect(openEngine(options)).rejects.toMatchObject({ ...refused, option })
    expect(await openEngine({ ...first })).toBe(engine)
    // Once for each of the two that were let in: those that were refused count for none.
    await engine.stop()
    await engine.enqueue('kept', 'text')
    await engine.stop()
    await expect(engine.stats()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
    // Whoever comes next is the first again.
    await using next = await openEngine({ ...first, redact: <Said>(said: Said) => said })
    expect((await next.stats()).totals.enqueued).toBe(1)
  })

  test('by a link too', async () => {
    const file = temporaryFile()
    const link = join(temporaryFolder(), 'link.db')
    symlinkSync(file, link)
    const [one, two] = await Promise.all([openEngine({ file, share: true }), openEngine({ file: link, share: true })])
    expect(two).toBe(one)
    await one.stop()
    await two.stop()
  })

  test('a folder that others could write to is no place to meet', async () => {
    const file = temporaryFile()
    mkdirSync(`${file}-share`, { mode: 0o777 })
    chmodSync(`${file}-share`, 0o777)
    await expect(openEngine({ file, share: true })).rejects.toMatchObject({
      code: 'NOT_WRITABLE',
      message: expect.stringContaining(`${file}-share`),
    })
  })

  test('a folder that is not there is told as it is without sharing', async () => {
    await expect(openEngine({ file: join(temporaryFolder(), 'none', 'jobs.db'), share: true })).rejects.toMatchObject({
      code: 'NOT_WRITABLE',
      message: expect.stringContaining('does not exist'),
    })
  })

  test('a file that is open without it is not shared', async () => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    await expect(openEngine({ file, share: true })).rejects.toMatchObject({ code: 'ALREADY_OPEN', pid: process.pid })
    await engine.stop()
  })

  test('a path that is too long for a socket moves to the runtime folder', async () => {
    const file = join(temporaryFolder(), `${'x'.repeat(90)}.db`)
    const owner = await Member.start(file, 'producer')
    const engine = await openEngine({ file, share: true })
    const job = defineJob({ name: 'here' })
    const worker = engine.work([job.handler(() => 7)])
    expect(await (await engine.enqueue(job)).result()).toBe(7)
    await worker.stop()
    await engine.stop()
    await owner.stop()
  })
})

test('a reader of events goes on with the next owner, behind its cursor; result() that waits goes on with the next owner', async () => {
  const file = temporaryFile()
  const owner = await Member.start(file, 'producer')
  const engine = await openEngine({ file, share: true, durability: 'normal' })
  const heir = await Member.start(file, 'producer')
  const seen: unknown[] = []
  const reading = (async () => {
    for await (const item of engine.events({ filter: { types: ['enqueued'] } })) {
      seen.push(item.type === 'gap' ? item : item.seq)
      if (seen.length === 4) break
    }
  })()
  const job = defineJob({ name: 'awaited' })
  const handle = await engine.enqueue(job)
  const result = handle.result({ timeout: '1m' })
  owner.say({ enqueue: 1 })
  await owner.until(acknowledged(1))
  await owner.kill()
  heir.say({ enqueue: 2 })
  heir.say({ enqueue: 3 })
  await heir.until(acknowledged(3))
  await reading
  expect(seen).toEqual([1, 2, 3, 4])
  engine.work(job.handler(() => 7))
  expect(await result).toBe(7)
  await engine.stop()
})
