/** What time alone makes happen, under the virtual clock: nothing here waits. */
import { systemCalendar } from '@millrace/client/calendar'
import { DEFAULT_RETENTION, LIMITS, type Retention } from '@millrace/core'
import type { Settings } from '@millrace/core/kernel'
import { InThreadEngine } from '@millrace/engine/internal'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { Probe, seededRandom } from '@millrace/testkit/internal'
import { afterEach, expect, test, vi } from 'vitest'
import { temporaryFile } from '../temporary.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

let engine: InThreadEngine | undefined

afterEach(() => engine?.close())

/** The monotonic clock begins at 0 with each. */
function start(settings: Partial<Settings> = {}, { file = ':memory:', wall }: { readonly file?: string; readonly wall?: number } = {}) {
  const clock = new VirtualClock(wall)
  const random = seededRandom(7)
  const store = openStore({ file, durability: 'full', random, now: clock.read().wall, host: 'host', pid: 1 })
  engine = new InThreadEngine({
    store,
    clock,
    random,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar, ...settings },
  })
  return { clock, probe: new Probe(engine.port()), engine }
}

const view = async (probe: Probe, id: { seq: number; node: number; enqueuedAt: number }) => {
  const found = await probe.call<'get'>({ op: 'get', id })
  if (found === null) throw new Error('the job is gone')
  return found
}

test('E3: a delayed job starts at its millisecond, not one before', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  const id = await probe.enqueue('a', { delay: 5_000 })
  await clock.advance(4_999)
  expect(probe.grants.size).toBe(0)
  await clock.advance(1)
  expect((await probe.grants.take()).seq).toBe(id.seq)
})

test('delay-over-2^31ms: a job due in 25 days starts then, and no earlier', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  await probe.enqueue('a', { delay: 25 * DAY })
  await clock.advance(25 * DAY - 1)
  expect(probe.grants.size).toBe(0)
  await clock.advance(1)
  expect(probe.grants.size).toBe(1)
})

test('E3: the earlier of two due times counts, whichever was enqueued first; jobs due together start together', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  const late = await probe.enqueue('a', { delay: 10_000 })
  const early = [await probe.enqueue('a', { delay: 1_000 }), await probe.enqueue('a', { delay: 1_000 })]
  await clock.advance(1_000)
  expect([(await probe.grants.take()).seq, (await probe.grants.take()).seq]).toEqual(early.map((id) => id.seq))
  expect(probe.grants.size).toBe(0)
  await clock.advance(9_000)
  expect((await probe.grants.take()).seq).toBe(late.seq)
})

test('more jobs due in one millisecond than a slice holds are all started', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'], { minConcurrency: 5_000, maxConcurrency: 5_000 })
  await probe.call<'enqueue'>({ op: 'enqueue', jobs: Array.from({ length: 1_234 }, () => ({ name: 'a', data: null, delay: 1_000 })) })
  await clock.advance(1_000)
  expect(probe.grants.size).toBe(1_234)
})

test('22: a wall clock that jumps back neither drops nor doubles a job; one that jumps ahead is noticed within a minute', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  await probe.enqueue('a', { delay: HOUR })
  clock.jump(-2 * HOUR)
  await clock.advance(HOUR)
  expect(probe.grants.size).toBe(0)
  clock.jump(2 * HOUR)
  await clock.advance(MINUTE)
  expect(probe.grants.size).toBe(1)
})

test('22: a monotonic clock that begins anew with a restart moves no due time and no ttl, and gives no second burst', async () => {
  const file = temporaryFile()
  const before = start({}, { file })
  // Far behind the next one's.
  await before.clock.advance(3 * DAY)
  const rateLimit = { limit: 1, period: HOUR, burst: 1 }
  await before.probe.call<'configure'>({ op: 'configure', queue: 'rated', changes: { rateLimit } })
  await before.probe.attach(['rated'])
  const started = await before.probe.enqueue('rated', { queue: 'rated' })
  await before.probe.grants.take()
  await before.probe.call<'complete'>({ op: 'complete', seq: started.seq, run: 1, output: null })
  const rated = await before.probe.enqueue('rated', { queue: 'rated' })
  const delayed = await before.probe.enqueue('delayed', { delay: 2 * HOUR })
  const unserved = await before.probe.enqueue('unserved', { ttl: 3 * HOUR })
  await before.clock.advance(HOUR / 2)
  expect(before.probe.grants.size).toBe(0)
  before.engine.close()

  const { clock, probe } = start({}, { file, wall: before.clock.read().wall })
  expect(clock.read().mono).toBe(0)
  await probe.attach(['rated', 'delayed'])
  await clock.advance(HOUR / 2 - 1)
  expect(probe.grants.size).toBe(0)
  // Less the millisecond that the level may have been rounded by.
  await clock.advance(2)
  expect((await probe.grants.take()).seq).toBe(rated.seq)
  await clock.advance(HOUR - 2)
  expect(probe.grants.size).toBe(0)
  await clock.advance(1)
  expect((await probe.grants.take()).seq).toBe(delayed.seq)
  await clock.advance(HOUR - 1)
  expect((await view(probe, unserved)).state).toBe('waiting')
  await clock.advance(1)
  expect(await view(probe, unserved)).toMatchObject({ state: 'failed', attempts: [{ error: { name: 'JobExpiredError' } }] })
})

test('E6: retries by the default backoff: 20 s, 40 s, 80 s within ±20 %, then failed after 4 attempts', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  const id = await probe.enqueue('a')
  for (const [index, delay] of [20_000, 40_000, 80_000].entries()) {
    const { seq, run } = await probe.grants.take()
    expect(run).toBe(index + 1)
    await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' } })
    expect((await view(probe, id)).state).toBe('scheduled')
    await clock.advance(delay * 0.8 - 1)
    expect(probe.grants.size).toBe(0)
    await clock.advance(delay * 0.4 + 2)
    expect(probe.grants.size).toBe(1)
  }
  const { seq, run } = await probe.grants.take()
  await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' } })
  expect(await view(probe, id)).toMatchObject({ state: 'failed', attempt: 4 })
})

test('E7, M8, timeout-aborts-handler-signal: the deadline aborts; a late completion is stale, and the job is tried again', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  const id = await probe.enqueue('a', { timeout: 10_000, backoff: { type: 'fixed', delay: 0 } })
  const { seq } = await probe.grants.take()
  await clock.advance(10_000)
  expect(await probe.notices.take()).toMatchObject({ kind: 'abort', cause: 'timeout', seq, run: 1 })
  expect((await view(probe, id)).state).toBe('active')
  const [late] = await probe.settle([{ op: 'complete', seq, run: 1, output: null }])
  expect(late?.refusal?.code).toBe('STALE_RUN')
  expect(await probe.grants.take()).toMatchObject({ seq, run: 2, attempt: 2 })
  expect((await view(probe, id)).attempts[0]?.error?.name).toBe('JobTimeoutError')
})

test('E7: a hung handler is fenced when its grace ends, counted as a zombie, and its slot is free once', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
  await probe.enqueue('a', { timeout: 10_000, maxAttempts: 1 })
  const other = await probe.enqueue('a')
  const { seq } = await probe.grants.take()
  await clock.advance(10_000 + 29_999)
  expect(probe.grants.size).toBe(0)
  await clock.advance(1)
  expect((await probe.grants.take()).seq).toBe(other.seq)
  expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ zombies: 1, runningJobs: 1 }])
  const [late] = await probe.settle([{ op: 'complete', seq, run: 1, output: null }])
  expect(late?.refusal?.code).toBe('STALE_RUN')
  expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ zombies: 0, runningJobs: 1 }])
})

test('E7, long-job-with-heartbeat-never-rescued: heartbeats and checkpoints move the deadline to now + heartbeatTimeout', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  const id = await probe.enqueue('a', { timeout: 10_000, heartbeatTimeout: 5_000 })
  const { seq } = await probe.grants.take()
  for (let beat = 0; beat < 20; beat++) {
    await clock.advance(4_000)
    await probe.call<'heartbeat'>({ op: 'heartbeat', seq, run: 1 })
  }
  await probe.call<'checkpoint'>({ op: 'checkpoint', seq, run: 1, value: '1' })
  expect([probe.notices.size, (await view(probe, id)).run]).toEqual([0, 1])
  await clock.advance(5_000)
  expect(await probe.notices.take()).toMatchObject({ kind: 'abort', cause: 'timeout' })
})

test('E7: a heartbeat never shortens the deadline; heartbeatTimeout 0 means that nothing moves it', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  await probe.enqueue('a', { timeout: 60_000, heartbeatTimeout: 1_000 })
  await probe.enqueue('a', { timeout: 60_000, heartbeatTimeout: 0 })
  const [first, second] = [await probe.grants.take(), await probe.grants.take()]
  await probe.call<'heartbeat'>({ op: 'heartbeat', seq: first.seq, run: 1 })
  await clock.advance(59_999)
  await probe.call<'heartbeat'>({ op: 'heartbeat', seq: second.seq, run: 1 })
  expect(probe.notices.size).toBe(0)
  await clock.advance(1)
  expect(probe.notices.size).toBe(2)
})

test('a job without a timeout runs for as long as it likes', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  await probe.enqueue('a', { timeout: Number.POSITIVE_INFINITY })
  const { seq } = await probe.grants.take()
  await clock.advance(10 * DAY)
  expect(probe.notices.size).toBe(0)
  await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
})

test('ttl: a job that was not started in time fails with JobExpiredError; one that was is left alone', async () => {
  const { clock, probe } = start()
  const late = await probe.enqueue('a', { ttl: 1_000 })
  const started = await probe.enqueue('b', { ttl: 1_000 })
  const bystander = await probe.enqueue('a')
  await probe.attach(['b'])
  await probe.grants.take()
  await clock.advance(1_000)
  expect(await view(probe, late)).toMatchObject({ state: 'failed', attempts: [{ error: { name: 'JobExpiredError' } }] })
  expect([(await view(probe, started)).state, (await view(probe, bystander)).state]).toEqual(['active', 'waiting'])
})

test('N4, 16: a silent remote session loses its jobs when their leases end; one that renews keeps them', async () => {
  const { clock, probe, engine } = start()
  const lively = new Probe(engine.port())
  await probe.attach(['a'], { uuid: 'quiet', local: false, minConcurrency: 1, maxConcurrency: 1 })
  await lively.attach(['a'], { uuid: 'lively', local: false, minConcurrency: 1, maxConcurrency: 1 })
  const job = { name: 'a', data: null, timeout: DAY, heartbeatTimeout: MINUTE }
  await probe.call<'enqueue'>({ op: 'enqueue', jobs: [job, job] })
  const lost = await probe.grants.take()
  await lively.grants.take()
  for (let renewal = 1; renewal <= 4; renewal++) {
    await clock.advance(20_000)
    await lively.call<'renew'>({ op: 'renew', renewal })
  }
  expect(await probe.notices.take()).toMatchObject({ kind: 'lost', session: 'quiet', seq: lost.seq, run: 1 })
  expect((await probe.call<'workers'>({ op: 'workers' })).map(({ id }) => id)).toHaveLength(1)
  expect((await probe.call<'stats'>({ op: 'stats' })).states).toMatchObject({ active: 1, waiting: 1 })
})

test('E4: a job too heavy for the room left is passed by lighter ones for 5 s, then room is kept for it', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'], { minConcurrency: 4, maxConcurrency: 4 })
  const enqueue = (weight: number) => probe.enqueue('a', { weight })
  const first = await enqueue(1)
  await enqueue(3)
  const heavy = await enqueue(4)
  const complete = (seq: number) => probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
  await probe.grants.take()
  const three = await probe.grants.take()
  await complete(first.seq)
  const light = await enqueue(1)
  expect((await probe.grants.take()).seq).toBe(light.seq)
  await clock.advance(5_000)
  await complete(light.seq)
  await enqueue(1)
  await probe.barrier()
  expect(probe.grants.size).toBe(0)
  await complete(three.seq)
  expect((await probe.grants.take()).seq).toBe(heavy.seq)
})

test('E4: a job heavier than the maximum runs alone', async () => {
  const { probe } = start()
  await probe.attach(['a'], { minConcurrency: 2, maxConcurrency: 2 })
  const giant = await probe.enqueue('a', { weight: 100 })
  await probe.enqueue('a')
  expect((await probe.grants.take()).seq).toBe(giant.seq)
  await probe.barrier()
  expect(probe.grants.size).toBe(0)
})

test('M10: finished jobs are kept as long as retention says, live ones always', async () => {
  const keep = (ageMs: number) => ({ ageMs, count: 1_000 })
  const retention: Retention = { ...DEFAULT_RETENTION, completed: keep(HOUR), failed: keep(DAY), cancelled: { ageMs: HOUR, count: 1 } }
  const { clock, probe } = start({ retention })
  await probe.attach(['a'])
  const [completed, failed] = [await probe.enqueue('a'), await probe.enqueue('a', { maxAttempts: 1 })]
  const waiting = await probe.enqueue('other')
  await probe.call<'complete'>({ op: 'complete', seq: completed.seq, run: 1, output: null })
  await probe.call<'fail'>({ op: 'fail', seq: failed.seq, run: 1, error: { name: 'E', message: 'm' } })
  const cancelled = [await probe.enqueue('other'), await probe.enqueue('other')]
  for (const id of cancelled) await probe.call<'cancel'>({ op: 'cancel', id })
  await clock.advance(2 * MINUTE)
  const states = async () => (await probe.call<'stats'>({ op: 'stats' })).states
  expect(await states()).toMatchObject({ completed: 1, failed: 1, cancelled: 1, waiting: 1 })
  expect(await probe.call<'get'>({ op: 'get', id: cancelled[0] as never })).toBe(null)
  await clock.advance(HOUR)
  expect(await states()).toMatchObject({ completed: 0, failed: 1, cancelled: 0, waiting: 1 })
  await clock.advance(DAY)
  expect(await states()).toMatchObject({ completed: 0, failed: 0, waiting: 1 })
  expect((await view(probe, waiting)).state).toBe('waiting')
  expect((await probe.call<'stats'>({ op: 'stats' })).totals).toEqual({ enqueued: 5, completed: 1, failed: 1, cancelled: 2 })
})

test('retention 0 deletes at completion', async () => {
  const { probe } = start({ retention: { ...DEFAULT_RETENTION, completed: { ageMs: 0, count: 0 } } })
  await probe.attach(['a'])
  const id = await probe.enqueue('a')
  const outcome = probe.call<'watch'>({ op: 'watch', id })
  await probe.grants.take()
  await probe.call<'complete'>({ op: 'complete', seq: id.seq, run: 1, output: '1' })
  expect(await outcome).toEqual({ state: 'completed', output: '1' })
  expect(await probe.call<'get'>({ op: 'get', id })).toBe(null)
})

test('an idempotency key is forgotten after its ttl', async () => {
  const { clock, probe } = start()
  const first = await probe.enqueue('a', { idempotencyKey: 'k', idempotencyTtl: HOUR })
  await clock.advance(HOUR - 1)
  expect((await probe.enqueue('a', { idempotencyKey: 'k' })).seq).toBe(first.seq)
  await probe.call<'cancel'>({ op: 'cancel', id: first })
  await clock.advance(2)
  expect((await probe.enqueue('a', { idempotencyKey: 'k' })).created).toBe(true)
})

test('snooze: later, without using an attempt', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  await probe.enqueue('a', { maxAttempts: 1 })
  for (let run = 1; run <= 5; run++) {
    const grant = await probe.grants.take()
    expect(grant).toMatchObject({ run, attempt: 1 })
    await probe.call<'snooze'>({ op: 'snooze', seq: grant.seq, run, delay: 10_000 })
    await clock.advance(9_999)
    expect(probe.grants.size).toBe(0)
    await clock.advance(1)
  }
})

test('a cancelled job that ignores its signal is cancelled when its grace ends', async () => {
  const { clock, probe } = start()
  await probe.attach(['a'])
  const id = await probe.enqueue('a')
  const { seq } = await probe.grants.take()
  await probe.call<'cancel'>({ op: 'cancel', id })
  await clock.advance(29_999)
  expect((await view(probe, id)).state).toBe('active')
  await clock.advance(1)
  expect((await view(probe, id)).state).toBe('cancelled')
  expect((await probe.settle([{ op: 'complete', seq, run: 1, output: null }]))[0]?.refusal?.code).toBe('STALE_RUN')
})

test('a backlog larger than its window is drained in order, whole', async () => {
  const { probe } = start()
  const jobs = 5_000
  await probe.call<'enqueue'>({
    op: 'enqueue',
    jobs: Array.from({ length: jobs }, (_, index) => ({ name: 'a', data: null, priority: index % 3 })),
  })
  await probe.attach(['a'], { minConcurrency: 50, maxConcurrency: 100 })
  const got: { seq: number; priority: number }[] = []
  while (got.length < jobs) {
    const { seq, run, priority } = await probe.grants.take()
    got.push({ seq, priority })
    probe.settle([{ op: 'complete', seq, run, output: null }])
  }
  const expected = [...got].sort((a, b) => b.priority - a.priority || a.seq - b.seq)
  expect(got).toEqual(expected)
  expect(new Set(got.map((job) => job.seq)).size).toBe(jobs)
})

test('journal-of-a-busy-day: a journal of many turns goes as fast as turns come, and not a slice a minute', async () => {
  const { clock, probe, engine: own } = start()
  for (let turn = 0; turn < 2 * LIMITS.sliceRows + 100; turn++) await probe.enqueue('live')
  const { nextEvent } = own.actor.tables
  await clock.advance(8 * DAY)
  for (let turn = 0; turn < 4; turn++) {
    await probe.enqueue('live')
    await clock.advance(50)
  }
  expect(own.actor.store.journal(0).firstEvent).toBe(nextEvent)
})

test('an idempotency key holds until its job has ended, though its ttl is over, and its row has been looked at', async () => {
  const { clock, probe } = start()
  const first = await probe.enqueue('a', { idempotencyKey: 'k', delay: 3 * DAY })
  for (let hour = 0; hour < 3 * 24 - 1; hour++) {
    await clock.advance(HOUR)
    await probe.enqueue('bystander')
  }
  expect(await probe.enqueue('a', { idempotencyKey: 'k' })).toEqual({ ...first, created: false })
  await probe.attach(['a'])
  await clock.advance(HOUR)
  const { seq } = await probe.grants.take()
  expect(await probe.enqueue('a', { idempotencyKey: 'k' })).toEqual({ ...first, created: false })
  await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
  expect(await probe.enqueue('a', { idempotencyKey: 'k' })).toMatchObject({ created: true })
})

test('idempotency keys that have run out go faster than any load adds to them, and not a slice a minute', async () => {
  const { clock, probe, engine: own } = start()
  const keyed = (from: number, count: number, idempotencyTtl: number) =>
    Array.from({ length: count }, (_, index) => ({ name: 'a', data: null, ttl: 500, idempotencyKey: `k${from + index}`, idempotencyTtl }))
  await probe.call<'enqueue'>({ op: 'enqueue', jobs: [...keyed(0, 5_000, MINUTE), { name: 'a', data: null, idempotencyKey: 'stays' }] })
  await clock.advance(2 * MINUTE)
  for (let turn = 0; turn < 12; turn++) {
    await probe.enqueue('a')
    await clock.advance(50)
  }
  expect(own.actor.store.keyExpiry()).toBeGreaterThan(clock.read().wall)
  // In turns that follow one another without a pause, which add more than slices take: gone a minute after they were noticed.
  let next = 5_000
  for (let second = 0; second < 120; second++) {
    for (let turn = 0; turn < 3; turn++) {
      await probe.call<'enqueue'>({ op: 'enqueue', jobs: keyed(next, 250, 1_000) })
      next += 250
    }
    await clock.advance(1_000)
  }
  expect(own.actor.store.keyExpiry()).toBeGreaterThan(clock.read().wall - MINUTE - 2_000)
  expect(await probe.enqueue('a', { idempotencyKey: 'stays' })).toMatchObject({ created: false })
})

test('wal-and-history-bounded: the journal goes with its age, what still lives stays', async () => {
  const { clock, probe, engine: own } = start()
  const live = await probe.enqueue('live')
  await probe.attach(['a'])
  for (let job = 0; job < 20; job++) {
    const { seq } = await probe.enqueue('a')
    await probe.grants.take()
    await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
  }
  const before = own.actor.store.journal(0)
  await clock.advance(8 * DAY)
  await probe.enqueue('a')
  await clock.advance(2 * MINUTE)
  const after = own.actor.store.journal(0)
  expect(after.firstEvent).toBeGreaterThan(60)
  expect(after.bytes).toBeLessThan(before.bytes / 2)
  expect((await view(probe, live)).state).toBe('waiting')
})

test('wal-and-history-bounded: a journal whose bytes are the smaller bound keeps to them, and what is new stays', async () => {
  const bytes = 20_000
  const { clock, probe, engine: own } = start({ retention: { ...DEFAULT_RETENTION, journal: { ageMs: 7 * DAY, bytes } } })
  for (let hour = 0; hour < 60; hour++) {
    for (let turn = 0; turn < 20; turn++) await probe.enqueue('a'.repeat(1 + (turn % 9)))
    await clock.advance(HOUR)
  }
  const { bytes: kept, firstEvent } = own.actor.store.journal(0)
  expect(kept).toBeLessThan(1.1 * bytes)
  expect(kept).toBeGreaterThan(bytes / 2)
  expect(firstEvent).toBeLessThan(own.actor.tables.nextEvent - 100)
})

test('a journal is within its bytes, and then left alone, also if its oldest turn has more events than are too many', async () => {
  const bytes = 4_000
  const { clock, probe, engine: own } = start({ retention: { ...DEFAULT_RETENTION, journal: { ageMs: 7 * DAY, bytes } } })
  await Promise.all(Array.from({ length: 300 }, () => probe.enqueue('a')))
  while (own.actor.store.journal(0).bytes <= bytes) await probe.enqueue('b')
  await clock.advance(3 * MINUTE)
  expect(own.actor.store.journal(0).bytes).toBeLessThanOrEqual(bytes)
  const turns = vi.spyOn(own.actor, 'turn')
  await clock.advance(10 * MINUTE)
  expect(turns.mock.calls.length).toBeLessThan(100)
})
