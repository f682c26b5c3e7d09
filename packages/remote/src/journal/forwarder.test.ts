import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Forwarder, type Source } from '@millrace/client'
import {
  BusyError,
  type Command,
  ConnectionLostError,
  DiskFullError,
  ForbiddenError,
  type Forwarded,
  InternalError,
  type JobKey,
  type Refusal,
  type SourceEntry,
  TooLargeError,
} from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { JournalLog } from './log.ts'
import { REFUSED_FILE, Refusals } from './refusals.ts'

type Forward = Command & { readonly op: 'forward' }

const AT = Date.UTC(2030, 0, 1)
const SOURCE: Source = { uuid: '00000000-0000-4000-8000-00000000000a', number: 10 }
const STOPPED: Refusal = { code: 'ENGINE_STOPPED', message: 'stopped' }
const entry = (...data: number[]): SourceEntry => ({ at: AT, jobs: data.map((number) => ({ name: 'a', data: String(number) })) })
const key = (place: number): JobKey => ({ seq: place, node: SOURCE.number, enqueuedAt: AT })
const dataOf = ({ entries }: Forward) => entries.flatMap(({ jobs }) => jobs.map(({ data }) => Number(data)))

let folder: string
let close: () => Promise<void>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-forwarder-'))
})
afterEach(async () => {
  await close()
  rmSync(folder, { recursive: true })
})

/** An engine that takes all, but for what a test says; `effects` is what has happened, in order. */
async function start(entries: readonly SourceEntry[], first = 1) {
  const clock = new VirtualClock()
  const log = await JournalLog.open(folder)
  if (entries.length > 0) await log.write(SOURCE, first, entries)
  const refusals = await Refusals.open(folder, log.numbers)
  const effects: string[] = []
  const warned: unknown[] = []
  const queue: number[] = []
  const refused = new Map<number, Refusal>()
  const merged = new Map<number, JobKey>()
  const failures: Error[] = []
  /** Answers that get lost with their connection. */
  const lost = { times: 0 }
  /** What a connection does not take. */
  const tooLarge = new Set<number>()
  /** What the engine stumbles over, and how many times more. */
  const internal = new Map<number, number>()
  const asked: Forward[] = []
  let mark = 0
  let held: Promise<void> | undefined
  const call = async (command: Forward): Promise<Forwarded> => {
    asked.push(command)
    effects.push(`asked ${dataOf(command)}`)
    await held
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    if (dataOf(command).some((number) => tooLarge.has(number))) throw new TooLargeError()
    for (const number of dataOf(command)) {
      const times = internal.get(number) ?? 0
      if (times === 0) continue
      internal.set(number, times - 1)
      throw new InternalError('stumbled')
    }
    const known = mark
    let next = command.first
    const answer: Forwarded['merged'][number][] = []
    for (const { jobs } of command.entries) {
      const place = next
      next += jobs.length
      if (place <= known) continue
      const refusal = refused.get(place)
      if (refusal !== undefined) return { mark, merged: answer, refused: { place, refusal } }
      for (const [index, { data }] of jobs.entries()) {
        const job = merged.get(place + index)
        if (job === undefined) queue.push(Number(data))
        else answer.push({ place: place + index, job })
      }
      mark = next - 1
    }
    if (lost.times > 0) {
      lost.times--
      throw new ConnectionLostError()
    }
    return { mark, merged: answer }
  }
  const note = refusals.note.bind(refusals)
  refusals.note = async (...args) => {
    await note(...args)
    effects.push(`noted ${args[1]}`)
  }
  const drop = log.drop.bind(log)
  log.drop = async (chunk) => {
    await drop(chunk)
    effects.push('dropped')
  }
  const logger = { debug() {}, info() {}, warn: (_text: string, fields: unknown) => void warned.push(fields), error() {} }
  let forwarder: Forwarder | undefined
  close = async () => {
    await forwarder?.close(STOPPED)
    await log.close()
  }
  return {
    clock,
    log,
    effects,
    warned,
    queue,
    refused,
    merged,
    failures,
    tooLarge,
    internal,
    lost,
    asked,
    hold(until: Promise<void>) {
      held = until
    },
    begin: () => {
      forwarder = new Forwarder({ what: 'journal', log, refusals, clock, logger, call })
      return forwarder
    },
  }
}

/** Files take the time that they take. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await quiet()
}
const noted = () =>
  readFileSync(join(folder, REFUSED_FILE), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

test('sends what is there and what comes, in order, and drops it', async () => {
  const { begin, log, queue, effects } = await start([entry(1), entry(2, 3)])
  const forwarder = begin()
  await forwarder.forwarded()
  expect(effects).toEqual(['asked 1,2,3', 'dropped'])
  await log.write(SOURCE, 4, [entry(4)])
  forwarder.wake()
  await forwarder.forwarded()
  expect(queue).toEqual([1, 2, 3, 4])
  expect(log.bytes).toBe(0)
})

test('what an answer cannot name is not asked at once: 10,000 jobs that keys have merged', async () => {
  const { begin, asked, merged, log } = await start([entry(...Array(10).keys()), entry(...Array(9_991).keys()), entry(5)])
  for (let place = 1; place <= 10_002; place++) merged.set(place, key(place + 20_000))
  const forwarder = begin()
  await forwarder.forwarded()
  expect(asked.map(({ entries }) => entries.reduce((jobs, one) => jobs + one.jobs.length, 0))).toEqual([10, 9_992])
  expect(await forwarder.settled(key(10_002))).toEqual(key(30_002))
  expect(log.bytes).toBe(0)
})

test('after a lost connection says all of it again, at once', async () => {
  const { begin, queue, failures, effects, warned } = await start([entry(1), entry(2)])
  failures.push(new ConnectionLostError(), new ConnectionLostError())
  await begin().forwarded()
  expect(effects).toEqual(['asked 1,2', 'asked 1,2', 'asked 1,2', 'dropped'])
  expect(queue).toEqual([1, 2])
  expect(warned).toEqual([])
})

test('waits as long as a busy engine says', async () => {
  const { begin, clock, queue, failures, asked, warned } = await start([entry(1)])
  failures.push(new BusyError('busy', { retryAfter: 700 }))
  const forwarder = begin()
  let done = false
  const forwarded = forwarder.forwarded().then(() => {
    done = true
  })
  await until(() => warned.length === 1)
  await clock.advance(699)
  expect([asked.length, done]).toEqual([1, false])
  await clock.advance(1)
  await forwarded
  expect(queue).toEqual([1])
})

test.each([new DiskFullError(), new ForbiddenError()])('%o is told once, tried again, and nobody who stops waits for it', async (error) => {
  const { begin, clock, queue, failures, asked, warned } = await start([entry(1)])
  failures.push(error, error)
  const forwarder = begin()
  await forwarder.forwarded()
  expect(queue).toEqual([])
  await clock.advance(250)
  await until(() => asked.length === 2)
  await clock.advance(250)
  await until(() => queue.length === 1)
  await forwarder.forwarded()
  expect(warned).toMatchObject([{ code: error.code }])
})

test('what is refused is synced to its file before the rest is sent, and holds up nothing', async () => {
  const { begin, queue, refused, effects } = await start([entry(1), entry(2, 3), entry(4)])
  refused.set(2, { code: 'UNIQUE_CONFLICT', message: 'taken' })
  await begin().forwarded()
  expect(queue).toEqual([1, 4])
  expect(effects).toEqual(['asked 1,2,3,4', 'noted 2', 'asked 4', 'dropped'])
  expect(noted()).toMatchObject([{ error: { code: 'UNIQUE_CONFLICT', message: 'taken' }, jobs: [{ data: 2 }, { data: 3 }] }])
})

test('what was noted before is not sent again, whatever the engine would say now; half a line counts for nothing', async () => {
  const first = await start([entry(1), entry(2), entry(3)])
  first.refused.set(1, { code: 'JOB_ACTIVE', message: '' }).set(2, { code: 'JOB_ACTIVE', message: '' })
  const { resolve, promise } = Promise.withResolvers<void>()
  first.begin()
  await until(() => first.effects.includes('noted 2'))
  first.hold(promise)
  first.failures.push(new ConnectionLostError())
  const closing = close()
  resolve()
  await closing
  const file = join(folder, REFUSED_FILE)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.slice(0, -10))
  // As it was before the first process: killed before it dropped anything.
  const second = await start([entry(1), entry(2), entry(3)])
  second.refused.set(2, { code: 'TOO_LARGE', message: '' })
  await second.begin().forwarded()
  expect(second.queue).toEqual([3])
  const lines = readFileSync(file, 'utf8').split('\n')
  expect(lines.map((line) => line.startsWith('{"id"'))).toEqual([true, true, true, false])
  expect([lines[0], lines[2]].map((line) => JSON.parse(line ?? '').error.code)).toEqual(['JOB_ACTIVE', 'TOO_LARGE'])
})

test('a file of refusals that was taken away is begun anew', async () => {
  const { begin, log, refused } = await start([entry(1)])
  refused.set(1, { code: 'JOB_ACTIVE', message: '' }).set(2, { code: 'JOB_ACTIVE', message: '' })
  const forwarder = begin()
  await forwarder.forwarded()
  rmSync(join(folder, REFUSED_FILE))
  await log.write(SOURCE, 2, [entry(2)])
  forwarder.wake()
  await forwarder.forwarded()
  expect(noted()).toMatchObject([{ jobs: [{ data: 2 }] }])
})

test('a refusal that cannot be noted is asked for again, and nothing passes it', async () => {
  const { begin, clock, queue, refused, asked } = await start([entry(1), entry(2)])
  refused.set(1, { code: 'JOB_ACTIVE', message: '' })
  const file = join(folder, REFUSED_FILE)
  mkdirSync(file)
  const forwarder = begin()
  await forwarder.forwarded()
  expect([queue, asked.length]).toEqual([[], 1])
  // Nobody hears that it was created meanwhile.
  const settled = Promise.allSettled([forwarder.settled(key(1))])
  rmSync(file, { recursive: true })
  await clock.advance(250)
  await until(() => queue.length === 1)
  await forwarder.forwarded()
  expect(noted()).toHaveLength(1)
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'JOB_ACTIVE' } }])
})

test('a call that is too large is cut until the one to blame is found', async () => {
  const places = Array.from({ length: 9 }, (_, index) => index + 1)
  const { begin, queue, tooLarge } = await start(places.map((place) => entry(place)))
  tooLarge.add(6)
  const forwarder = begin()
  await forwarder.forwarded()
  expect(queue).toEqual(places.filter((place) => place !== 6))
  expect(noted()).toMatchObject([{ error: { code: 'TOO_LARGE' }, jobs: [{ data: 6 }] }])
})

test('an internal error that passes refuses nothing, and nothing passes the entry meanwhile', async () => {
  const { begin, internal, queue, clock, asked } = await start([entry(1), entry(2), entry(3), entry(4)])
  internal.set(2, 5)
  const forwarded = begin().forwarded()
  await until(() => asked.length >= 4)
  expect(queue).toEqual([1])
  while (queue.length < 4) {
    await clock.advance(250)
    await quiet()
  }
  await forwarded
  expect(queue).toEqual([1, 2, 3, 4])
  expect(() => noted()).toThrow('ENOENT')
})

test('one that stays is said six times within 8 s, then noted, and the others go on', async () => {
  const { begin, internal, queue, clock, asked, log } = await start([entry(1), entry(2), entry(3)])
  internal.set(2, Number.POSITIVE_INFINITY)
  const forwarded = begin().forwarded()
  let ms = 0
  for (; queue.length < 2; ms += 250) {
    await clock.advance(250)
    await quiet()
  }
  await forwarded
  expect(asked.filter((command) => dataOf(command).join() === '2')).toHaveLength(6)
  expect(ms).toBeGreaterThan(7_500)
  expect([queue, noted().map(({ error }) => error.code), log.bytes]).toEqual([[1, 3], ['INTERNAL'], 0])
})

test('closed between two tries of it: at once, and all of it stays', async () => {
  const { begin, internal, asked, log } = await start([entry(1)])
  internal.set(1, Number.POSITIVE_INFINITY)
  const forwarder = begin()
  await until(() => asked.length > 0)
  await quiet()
  await forwarder.close(STOPPED)
  expect(log.bytes).toBeGreaterThan(0)
  expect(() => noted()).toThrow('ENOENT')
})

test('settled: created, merged and refused, asked before and after', async () => {
  const { begin, merged, refused, hold } = await start([entry(1), entry(2), entry(3)])
  const earlier = { seq: 77, node: 1, enqueuedAt: AT - 5 }
  merged.set(2, earlier)
  refused.set(3, { code: 'UNIQUE_CONFLICT', message: 'taken' })
  const { resolve, promise } = Promise.withResolvers<void>()
  hold(promise)
  const forwarder = begin()
  const look = () => Promise.allSettled([1, 1, 2, 3].map((place) => forwarder.settled(key(place))))
  const before = look()
  await quiet()
  resolve()
  await forwarder.forwarded()
  const expected = [
    { status: 'fulfilled', value: key(1) },
    { status: 'fulfilled', value: key(1) },
    { status: 'fulfilled', value: earlier },
    { status: 'rejected', reason: { name: 'UniqueConflictError', message: 'taken' } },
  ]
  expect(await before).toMatchObject(expected)
  expect(await look()).toMatchObject(expected)
})

test('settled: of a job that was merged by an answer that got lost nobody knows; it is named by its own id', async () => {
  const { begin, merged, lost } = await start([entry(1), entry(2)])
  merged.set(2, { seq: 7, node: 3, enqueuedAt: AT - 5 })
  lost.times = 1
  const forwarder = begin()
  await forwarder.forwarded()
  await expect(forwarder.settled(key(2))).resolves.toEqual(key(2))
})

test('settled: what the engine has is known while the rest of the same chunk is still to go', async () => {
  const { begin, refused, failures, asked } = await start([entry(1), entry(2), entry(3)])
  refused.set(2, { code: 'JOB_ACTIVE', message: '' })
  const forwarder = begin()
  await until(() => asked.length === 1)
  failures.push(new DiskFullError())
  await forwarder.forwarded()
  await expect(forwarder.settled(key(1))).resolves.toEqual(key(1))
  await expect(forwarder.settled(key(2))).rejects.toMatchObject({ code: 'JOB_ACTIVE' })
})

test('settled: of the jobs that were merged the last 10,000 are remembered; older ones are named by their own ids', async () => {
  const places = Array.from({ length: 10_001 }, (_, index) => index + 1)
  const { begin, merged } = await start([entry(...places.slice(0, 5_000)), entry(...places.slice(5_000))])
  const earlier = { seq: 77, node: 1, enqueuedAt: AT - 5 }
  for (const place of places) merged.set(place, earlier)
  const forwarder = begin()
  await forwarder.forwarded()
  await expect(forwarder.settled(key(1))).resolves.toEqual(key(1))
  await expect(forwarder.settled(key(2))).resolves.toEqual(earlier)
  await expect(forwarder.settled(key(10_001))).resolves.toEqual(earlier)
})

test('closed in the middle of a call: the call is waited for, the rest stays', async () => {
  const { begin, log, hold, asked, queue } = await start([entry(1)])
  const { resolve, promise } = Promise.withResolvers<void>()
  hold(promise)
  const forwarder = begin()
  await until(() => asked.length === 1)
  await log.write(SOURCE, 2, [entry(2)])
  forwarder.wake()
  const waiting = expect(forwarder.settled(key(2))).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  const closing = forwarder.close(STOPPED)
  resolve()
  await closing
  await waiting
  await forwarder.forwarded()
  expect(queue).toEqual([1])
  await expect(forwarder.settled(key(1))).resolves.toEqual(key(1))
  await expect(forwarder.settled(key(2))).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  expect((await log.read())?.entries).toEqual([entry(2)])
})

test('closed while it waits for an engine that takes nothing: at once, and all stays', async () => {
  const { begin, log, failures } = await start([entry(1)])
  failures.push(new DiskFullError())
  const forwarder = begin()
  await forwarder.forwarded()
  await forwarder.close(STOPPED)
  expect((await log.read())?.entries).toEqual([entry(1)])
})
