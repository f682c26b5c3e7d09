/** Tests limits, rates, shares and pauses: no limit is exceeded, and no job waits that could start. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import { ACTIVE, CANCELLED, isLive, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges, QueueSettings } from '../../queueSettings.ts'
import type { Enqueued } from '../../replies.ts'
import { keyOf } from '../../testing/memoryStore.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, type Granted, keyOfJob, World } from '../../testing/world.ts'
import { tokenMs } from '../records/bucket.ts'
import type { Job } from '../records/job.ts'
import type { Lane, Queue } from '../records/lane.ts'

useSmallLimits()

const QUEUES = ['q1', 'q2'] as const
const NAMES = ['a', 'b'] as const
const KEYS = ['k1', 'k2', 'vip:3'] as const

const lightJob = fc.record(
  {
    name: fc.constantFrom(...NAMES),
    queue: fc.constantFrom(...QUEUES),
    data: fc.string({ maxLength: 30 }),
    concurrencyKey: fc.constantFrom(...KEYS),
    priority: fc.constantFrom(0, 0, 0, 1),
    delay: fc.constantFrom(0, 10),
    ttl: fc.constantFrom(20, 200),
    maxAttempts: fc.constantFrom(1, 2),
    backoff: fc.constant({ type: 'fixed' as const, delay: 5 }),
  },
  { requiredKeys: ['name', 'queue', 'data'] },
) as fc.Arbitrary<NewJob>
/** Without a key: of a key whose limit is one, a light job may be behind a heavy one. */
const heavyJob = fc.record({
  name: fc.constantFrom(...NAMES),
  queue: fc.constantFrom(...QUEUES),
  data: fc.constant(''),
  weight: fc.integer({ min: 2, max: 6 }),
}) as fc.Arbitrary<NewJob>
const newJob = fc.oneof({ weight: 5, arbitrary: lightJob }, { weight: 1, arbitrary: heavyJob })

const rate = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  period: fc.constantFrom(10, 100),
  burst: fc.integer({ min: 1, max: 3 }),
})
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 4 })
const changes = fc.record(
  {
    concurrencyLimit: orNull(fc.integer({ min: 1, max: 4 })),
    perKeyLimit: orNull(fc.integer({ min: 1, max: 2 })),
    keyOrder: fc.constantFrom('strict' as const, null),
    rateLimit: orNull(rate),
    perKeyRateLimit: orNull(rate),
    keyTiers: orNull(
      fc.constantFrom(
        { vip: { perKeyLimit: 1 } },
        { vip: { perKeyRateLimit: { limit: 1, period: 10, burst: 2 } } },
        { other: { perKeyLimit: 1 } },
      ),
    ),
    share: orNull(fc.integer({ min: 1, max: 3 })),
    sharedLimit: orNull(fc.record({ name: fc.constantFrom('x', 'y'), limit: fc.integer({ min: 1, max: 3 }) })),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<QueueChanges>

type Step =
  | { kind: 'enqueue'; jobs: NewJob[] }
  | { kind: 'configure'; queue: string; changes: QueueChanges }
  | { kind: 'pause'; queue: string; what: 'queue' | 'job' | 'key'; name: string; key: string; paused: boolean }
  | { kind: 'queue'; op: 'drainQueue' | 'deleteQueue' | 'purge' | 'resume'; queue: string }
  | { kind: 'end'; op: 'complete' | 'fail' | 'giveBack' | 'snooze'; pick: number }
  | { kind: 'job'; op: 'cancel' | 'delete' | 'runNow' | 'retry'; pick: number }
  | { kind: 'put off'; delay: number; pick: number }
  | { kind: 'attach'; session: string; min: number; names: string[]; strict: boolean }
  | { kind: 'leave'; session: string }
  | { kind: 'pass'; ms: number }
  | { kind: 'reload' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('enqueue' as const), jobs: fc.array(newJob, { minLength: 1, maxLength: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('configure' as const), queue: fc.constantFrom(...QUEUES), changes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      queue: fc.constantFrom(...QUEUES),
      what: fc.constantFrom('queue', 'job', 'key'),
      name: fc.constantFrom(...NAMES),
      key: fc.constantFrom(...KEYS),
      paused: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('queue' as const),
      op: fc.constantFrom('drainQueue', 'deleteQueue', 'purge', 'resume'),
      queue: fc.constantFrom(...QUEUES),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      op: fc.constantFrom('complete', 'complete', 'fail', 'giveBack', 'snooze'),
      pick: fc.nat(20),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('job' as const),
      op: fc.constantFrom('cancel', 'delete', 'runNow', 'retry'),
      pick: fc.nat(60),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('put off' as const), delay: fc.constantFrom(0, 15), pick: fc.nat(60) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('attach' as const),
      session: fc.constantFrom('s1', 's2'),
      min: fc.integer({ min: 1, max: 5 }),
      names: fc.subarray([...NAMES], { minLength: 1 }),
      strict: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), session: fc.constantFrom('s1', 's2') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 7, 30, 200) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
)

function commandOf(world: World, act: Step): Command | undefined {
  const rows = [...world.store.rows.values()]
  switch (act.kind) {
    case 'enqueue':
      return { op: 'enqueue', jobs: act.jobs }
    case 'configure':
      return { op: 'configure', queue: act.queue, changes: act.changes }
    case 'pause':
      return {
        op: 'pause',
        queue: act.queue,
        ...(act.what === 'job' && { job: act.name }),
        ...(act.what === 'key' && { key: act.key }),
        paused: act.paused,
      }
    case 'queue':
      if (act.op === 'purge') return { op: 'deleteMany', filter: { queue: act.queue }, limit: 500, dryRun: false }
      return act.op === 'resume' ? { op: 'pause', queue: act.queue, paused: false } : { op: act.op, queue: act.queue }
    case 'end': {
      const running = rows.filter(({ state }) => state === ACTIVE)
      const row = running[act.pick % Math.max(1, running.length)]
      if (row === undefined) return undefined
      const run = { seq: row.seq, run: row.run }
      if (act.op === 'complete') return { op: 'complete', ...run, output: null }
      if (act.op === 'fail') return { op: 'fail', ...run, error: { name: 'Error', message: 'no' } }
      return act.op === 'snooze' ? { op: 'snooze', ...run, delay: 5 } : { op: 'giveBack', ...run }
    }
    case 'job': {
      const row = rows[act.pick % Math.max(1, rows.length)]
      return row && { op: act.op, id: keyOfJob(row) }
    }
    case 'put off': {
      const row = rows[act.pick % Math.max(1, rows.length)]
      return row && { op: 'update', id: keyOfJob(row), changes: { runAt: world.now.wall + act.delay, priority: act.pick % 2 } }
    }
    case 'attach':
      return attaching(act.session, act.names, {
        minConcurrency: act.min,
        maxConcurrency: act.min,
        ...(act.strict && { queues: ['q2', 'q1'], order: 'strict' }),
      })
    case 'leave':
      return { op: 'leave', session: act.session }
    default:
      return undefined
  }
}

/** How many run, of a queue or of a key in it. */
function running(world: World, queueId: number, key?: string): number {
  return [...world.store.rows.values()].filter(
    ({ state, laneId, extras }) =>
      state === ACTIVE && world.store.lanes.get(laneId)?.queueId === queueId && (key === undefined || extras?.concurrencyKey === key),
  ).length
}

/** How many run in the queues that share its limit. */
function runningBeside({ tables, store }: World, { settings: { sharedLimit } }: Queue): number {
  const shares = ({ laneId }: { laneId: number }) => tables.laneOf(laneId).queue.settings.sharedLimit?.name === sharedLimit?.name
  return [...store.rows.values()].filter((row) => row.state === ACTIVE && shares(row)).length
}

/** Each start left no more running beside it than its own queue says, counting what was handed out before it. */
function expectShared(world: World, grants: readonly Granted[]): void {
  const later = new Map<string, number>()
  for (const { seq } of grants.toReversed()) {
    const row = world.store.rows.get(seq)
    if (row === undefined || row.state !== ACTIVE) continue
    const { queue } = world.tables.laneOf(row.laneId)
    const { sharedLimit } = queue.settings
    if (sharedLimit === undefined) continue
    const { name, limit } = sharedLimit
    const behind = later.get(name) ?? 0
    later.set(name, behind + 1)
    expect(runningBeside(world, queue) - behind, `beside job ${seq}`).toBeLessThanOrEqual(limit)
  }
}

/** The limits of the tier before those of the queue. */
function limitsOf({ keyTiers, ...settings }: QueueSettings, key: string): QueueSettings {
  return key.startsWith('vip:') ? { ...settings, ...keyTiers?.['vip'] } : settings
}

/** What was handed out was allowed, counting what was handed out with it. */
function expectExact(world: World, grants: readonly Granted[]): void {
  for (const { seq } of grants) {
    const row = world.store.rows.get(seq)
    if (row === undefined || row.state !== ACTIVE) continue
    const queue = world.tables.laneOf(row.laneId).queue
    const { concurrencyLimit = Number.POSITIVE_INFINITY, keyOrder } = queue.settings
    expect(running(world, queue.id), `of queue ${queue.name}`).toBeLessThanOrEqual(concurrencyLimit)
    expect(queue.paused || world.tables.laneOf(row.laneId).paused, `job ${seq} starts in a pause`).toBe(false)
    const key = row.extras?.concurrencyKey
    if (key === undefined) continue
    const { perKeyLimit = keyOrder === 'strict' ? 1 : Number.POSITIVE_INFINITY } = limitsOf(queue.settings, key)
    expect(running(world, queue.id, key), `of key ${key} in queue ${queue.name}`).toBeLessThanOrEqual(perKeyLimit)
    expect(world.store.queues.get(queue.id)?.pausedKeys ?? []).not.toContain(key)
  }
}

/** In no span of time do more of a key start than the burst, and what the span has refilled: from its starts under the rate of now. */
class Starts {
  readonly #walls = new Map<string, number[]>()

  /** The queue has another rate, or is another. */
  forget(queue: string): void {
    for (const key of this.#walls.keys()) if (key.startsWith(`${queue} `)) this.#walls.delete(key)
  }

  take({ tables, store, now: { wall } }: World, grants: readonly Granted[]): void {
    for (const { seq, queue } of grants) {
      const text = store.rows.get(seq)?.extras?.concurrencyKey
      const rate = text && limitsOf(tables.queues.get(queue)?.settings ?? {}, text).perKeyRateLimit
      if (rate === undefined || rate === '') continue
      const walls = [...(this.#walls.get(`${queue} ${text}`) ?? []), wall]
      this.#walls.set(`${queue} ${text}`, walls)
      for (const [index, from] of walls.entries()) {
        const most = rate.burst + ((wall - from) * rate.limit) / rate.period + 1e-3
        expect(walls.length - index, `starts of key ${text} in queue ${queue} within ${wall - from} ms`).toBeLessThanOrEqual(most)
      }
    }
  }
}

/** In queues that keep an order: a key is of the job that has started and is not final, and else of the first that waits, by arrival. */
class Order {
  readonly #started = new Map<string, number>()
  /** Jobs that are parked before the step. */
  #parked: readonly number[] = []

  note({ store }: World): void {
    for (const [place, seq] of this.#started) if (!isLive(store.rows.get(seq)?.state ?? CANCELLED)) this.#started.delete(place)
    this.#parked = [...store.rows.values()].filter(({ backlogId }) => backlogId !== 0).map(({ seq }) => seq)
  }

  take({ tables, store }: World, grants: readonly Granted[]): void {
    for (const { seq, queue } of grants) {
      const key = store.rows.get(seq)?.extras?.concurrencyKey
      if (key === undefined || tables.queues.get(queue)?.settings.keyOrder !== 'strict') continue
      const holder = this.#started.get(`${queue} ${key}`)
      const held = holder !== undefined && isLive(store.rows.get(holder)?.state ?? CANCELLED)
      if (held) expect(holder, `job ${seq} starts, and that one has the key ${key}`).toBe(seq)
      this.#started.set(`${queue} ${key}`, seq)
      if (held || !this.#parked.includes(seq)) continue
      for (const other of this.#parked) {
        const row = store.rows.get(other)
        const passed = row?.state === WAITING && other < seq && row.extras?.concurrencyKey === key
        if (passed) expect(tables.laneOf(row.laneId).queue.name, `job ${seq} of key ${key} starts before job ${other}`).not.toBe(queue)
      }
    }
  }
}

/** A queue that is drained takes nothing, and only an empty one is forgotten. */
function expectTaken({ tables, store }: World, command: Command | undefined, rowsBefore: number, refused: boolean): void {
  if (command?.op === 'deleteQueue') {
    expect(tables.queues.has(command.queue)).toBe(refused)
    if (refused) expect(tables.queues.get(command.queue)?.counts.some((count) => count > 0)).toBe(true)
    else expect([...store.lanes.values()].filter(({ queue }) => queue === command.queue)).toEqual([])
  }
  if (command?.op !== 'enqueue') return
  const draining = command.jobs.some(({ queue }) => tables.queues.get(queue as string)?.settings.draining)
  expect(refused).toBe(draining)
  if (refused) expect(store.rows.size).toBe(rowsBefore)
}

/** In a queue that keeps an order. */
function hasTurn({ store }: World, queueId: number, key: string, seq: number): boolean {
  const holder = store.turnsOf.get(keyOf(`${queueId}`, key))
  if (holder !== undefined) return holder === seq
  return ![...store.rows.values()].some(
    (row) =>
      row.seq < seq && row.state === WAITING && row.extras?.concurrencyKey === key && store.lanes.get(row.laneId)?.queueId === queueId,
  )
}

function jobsIn({ window }: Lane): Job[] {
  return Array.from({ length: window.size }, (_, index) => window.at(index) as Job)
}

/** Nobody has been passed by lighter jobs for so long that room is kept for it. */
function isPatient({ tables, now }: World): boolean {
  const waiting = [...tables.lanesById.values()].flatMap(jobsIn)
  return !waiting.some(({ passedMono }) => passedMono >= 0 && now.mono - passedMono >= LIMITS.heavyPatienceMs)
}

/** A session with room, and a job that fits in and nothing holds back, is a job too few. */
function expectBusy(world: World): void {
  const { tables, store, now } = world
  const patient = isPatient(world)
  for (const { intro, weight, group, draining } of tables.sessions.values()) {
    if (draining || weight >= intro.minConcurrency) continue
    for (const { seq, state, laneId, extras, weight: wanted } of store.rows.values()) {
      if (state !== WAITING || (weight > 0 && (!patient || weight + wanted > intro.maxConcurrency))) continue
      const lane = tables.laneOf(laneId)
      const { queue, name, paused } = lane
      // Behind heavy ones a light one is found in memory.
      const inMemory = jobsIn(lane)
      const hidden = !lane.window.complete && !inMemory.some((job) => job.seq === seq)
      if (weight > 0 && hidden && inMemory.some((job) => weight + job.weight > intro.maxConcurrency)) continue
      if (!group.serves(queue.name, name) || paused || queue.paused) continue
      const { concurrencyLimit, rateLimit, keyOrder } = queue.settings
      if (concurrencyLimit !== undefined && running(world, queue.id) >= concurrencyLimit) continue
      const { sharedLimit } = queue.settings
      if (sharedLimit !== undefined && runningBeside(world, queue) >= sharedLimit.limit) continue
      if (rateLimit !== undefined && tokenMs(rateLimit, queue.fullMono, now.mono) > 0) continue
      const key = extras?.concurrencyKey
      if (key !== undefined) {
        const { perKeyLimit, perKeyRateLimit } = limitsOf(queue.settings, key)
        if (store.queues.get(queue.id)?.pausedKeys.includes(key) === true) continue
        if (perKeyLimit !== undefined && running(world, queue.id, key) >= perKeyLimit) continue
        if (keyOrder === 'strict' && !hasTurn(world, queue.id, key, seq)) continue
        const fullMono = queue.keys?.get(key)?.fullMono ?? 0
        if (perKeyRateLimit !== undefined && tokenMs(perKeyRateLimit, fullMono, now.mono) > 0) continue
      }
      throw new Error(`job ${seq} waits, and ${intro.uuid} has room`)
    }
  }
}

test('M2: limits are never exceeded, and no worker with room idles while a job could start, after any sequence of commands', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (strict, steps) => {
      const world = new World()
      if (strict) world.configure('q1', { keyOrder: 'strict' })
      const starts = new Starts()
      const order = new Order()
      for (const act of steps) {
        if (act.kind === 'reload') world.reload()
        const command = commandOf(world, act)
        const before = world.store.rows.size
        order.note(world)
        const { grants, replies } = act.kind === 'pass' ? world.after(act.ms) : world.run(...(command === undefined ? [] : [command]))
        expectTaken(world, command, before, replies[0] instanceof Refused)
        const { perKeyRateLimit, keyTiers } = command?.op === 'configure' ? command.changes : {}
        if ((command?.op === 'configure' && (perKeyRateLimit !== undefined || keyTiers !== undefined)) || command?.op === 'deleteQueue')
          starts.forget(command.queue)
        starts.take(world, grants)
        order.take(world, grants)
        expectExact(world, grants)
        expectShared(world, grants)
        expectBusy(world)
      }
    }),
    { numRuns: runs(500) },
  )
})

/** Jobs `a` that use up their keys; a heavy job, which there is no room for; and what stands behind it, of which it answers what runs. */
function behindHeavy(keys: readonly string[], ...jobs: readonly NewJob[]): readonly number[] {
  const world = new World()
  world.configure('default', { perKeyLimit: 1 })
  const names = [...new Set(jobs.map(({ name }) => name))]
  world.run(attaching('s', ['a', 'heavy', ...names], { maxConcurrency: keys.length + 1 }))
  // All keys have room when their jobs line up.
  const enqueued = enqueueing(...keys.map((key) => keyed('a', key)), { name: 'heavy', data: null, weight: 2 }, ...jobs)
  const grants = [...world.run(enqueued).grants]
  while (world.tables.unfinished) grants.push(...world.run().grants)
  return grants.slice(keys.length).map(({ seq }) => seq - keys.length - 1)
}

const keyed = (name: string, concurrencyKey: string): NewJob => ({ name, data: null, concurrencyKey })

test('M2: a light job is found behind jobs that their keys hold back, while a heavy job stands before them all', () => {
  const keys = Array.from({ length: LIMITS.windowJobs }, (_, index) => `k${index}`)
  expect(behindHeavy(keys, ...keys.map((key) => keyed('b', key)), { name: 'b', data: null })).toEqual([keys.length + 1])
})

test('M2: no later job of another name passes a light job, even if one turn cannot set aside all held jobs before it', () => {
  const held = Array.from({ length: LIMITS.sliceRows + 1 }, (_, index) => keyed(`b${index}`, 'k'))
  const light = { name: `b${LIMITS.sliceRows}`, data: null }
  expect(behindHeavy(['k'], ...held, light, { name: 'later', data: null })).toEqual([held.length + 1])
})

/** Beside a bucket that is looked at in every millisecond. */
test('M6: rate: a queue never starts more jobs than its burst and the tokens refilled since, and each as soon as its token is there', () => {
  fc.assert(
    fc.property(
      fc.record({ limit: fc.integer({ min: 1, max: 7 }), period: fc.constantFrom(10, 33, 100), burst: fc.integer({ min: 1, max: 5 }) }),
      (rateLimit) => {
        const world = new World()
        world.configure('default', { rateLimit })
        for (let job = 0; job < 12; job++) world.enqueue('a')
        const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 100, maxConcurrency: 100 }))
        const { limit, period, burst } = rateLimit
        // In parts of a token, so that nothing is rounded.
        let level = burst * period
        let started = 0
        const take = () => {
          const tokens = Math.min(Math.floor(level / period), 12 - started)
          level -= tokens * period
          return tokens
        }
        expect(grants).toHaveLength(take())
        started = grants.length
        while (started < 12) {
          level = Math.min(burst * period, level + limit)
          const { grants: next } = world.after(1)
          expect(next).toHaveLength(take())
          started += next.length
        }
      },
    ),
    { numRuns: runs(60) },
  )
})

test('M6: rate: a restart gives a queue no second burst', () => {
  const world = new World()
  world.configure('default', { rateLimit: { limit: 1, period: 1_000, burst: 2 } })
  for (let job = 0; job < 5; job++) world.enqueue('a')
  expect(world.run(attaching('s', ['a'], { minConcurrency: 9, maxConcurrency: 9 })).grants).toHaveLength(2)
  world.reload('s')
  world.run(attaching('s', ['a'], { minConcurrency: 9, maxConcurrency: 9 }))
  expect(world.after(999).grants).toHaveLength(0)
  expect(world.after(1).grants).toHaveLength(1)
  // While nobody is there the wall clock counts, less the millisecond that it may have rounded.
  world.now = { ...world.now, wall: world.now.wall + 500 }
  world.reload('s')
  world.run(attaching('s', ['a'], { minConcurrency: 9, maxConcurrency: 9 }))
  expect(world.after(500).grants).toHaveLength(0)
  expect(world.after(1).grants).toHaveLength(1)
})

test('rate: each queue starts its jobs when its own tokens are there, whichever queue the timer was set for before', () => {
  const world = new World()
  const periods = { q1: 60_000, q2: 1_000 }
  for (const queue of QUEUES) {
    world.configure(queue, { rateLimit: { limit: 1, period: periods[queue], burst: 1 } })
    for (let job = 0; job < 3; job++) world.enqueue('a', { queue })
  }
  const begin = world.now.mono
  const started: [queue: string, ms: number][] = []
  const note = (grants: readonly Granted[]) => {
    for (const { queue } of grants) started.push([queue, world.now.mono - begin])
  }
  note(world.run(attaching('s', ['a'], { minConcurrency: 9, maxConcurrency: 9 })).grants)
  // As the engine's loop does: it sleeps until the timer, and no command wakes it.
  while (started.length < 6) {
    const { tokenMono } = world.tables.dispatchable
    expect(tokenMono, `the timer, with ${started.length} of 6 jobs started`).toBeLessThan(Number.POSITIVE_INFINITY)
    note(world.after(Math.max(1, Math.ceil(tokenMono - world.now.mono))).grants)
  }
  const startsOf = (wanted: string) => started.filter(([queue]) => queue === wanted).map(([, ms]) => ms)
  expect(startsOf('q1')).toEqual([0, 60_000, 120_000])
  expect(startsOf('q2')).toEqual([0, 1_000, 2_000])
})

/** Beside a bucket for each key that is looked at in every millisecond. */
test('rate of a key: a key never starts more jobs than its burst and the tokens refilled since, and each as soon as its token is there, whatever other keys do', () => {
  fc.assert(
    fc.property(
      fc.record({ limit: fc.integer({ min: 1, max: 7 }), period: fc.constantFrom(10, 33, 100), burst: fc.integer({ min: 1, max: 5 }) }),
      fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 }),
      (perKeyRateLimit, keys) => {
        const world = new World()
        world.configure('default', { perKeyRateLimit })
        for (let job = 0; job < 8; job++) for (const concurrencyKey of keys) world.enqueue('a', { concurrencyKey })
        // Of no key: nothing holds them back.
        for (let job = 0; job < 3; job++) world.enqueue('a')
        const { limit, period, burst } = perKeyRateLimit
        let { grants } = world.run(attaching('s', ['a'], { minConcurrency: 100, maxConcurrency: 100 }))
        expect(grants.filter(({ seq }) => world.row({ seq }).extras === undefined)).toHaveLength(3)
        // In parts of a token, so that nothing is rounded.
        let level = burst * period
        for (let started = 0; started < 8; ) {
          const tokens = Math.min(Math.floor(level / period), 8 - started)
          for (const key of keys) expect(grants.filter(({ seq }) => world.row({ seq }).extras?.concurrencyKey === key)).toHaveLength(tokens)
          started += tokens
          level = Math.min(burst * period, level - tokens * period + limit)
          if (started < 8) grants = [...world.after(1).grants]
        }
      },
    ),
    { numRuns: runs(60) },
  )
})

test('rate of a key: a restart gives a key no second burst, a new rate keeps its missing tokens, and full buckets are forgotten', () => {
  const world = new World()
  const setRate = (perKeyRateLimit: NonNullable<QueueChanges['perKeyRateLimit']> | null) =>
    world.configure('default', { perKeyRateLimit }).grants
  const attach = attaching('s', ['a'], { minConcurrency: 99, maxConcurrency: 99 })
  setRate({ limit: 1, period: 1_000, burst: 2 })
  for (let job = 0; job < 8; job++) world.enqueue('a', { concurrencyKey: 'k' })
  expect(world.run(attach).grants).toHaveLength(2)
  world.reload('s')
  world.run(attach)
  expect(world.after(999).grants).toHaveLength(0)
  expect(world.after(1).grants).toHaveLength(1)
  // A wall clock that was set back has refilled nothing.
  world.now = { ...world.now, wall: world.now.wall - 60_000 }
  world.reload('s')
  world.run(attach)
  expect(world.after(999).grants).toHaveLength(0)
  expect(world.after(1).grants).toHaveLength(1)
  // Two tokens are missing, ten times as fast.
  expect(setRate({ limit: 10, period: 1_000, burst: 2 })).toHaveLength(0)
  expect(world.after(99).grants).toHaveLength(0)
  expect(world.after(1).grants).toHaveLength(1)
  // What ran when the tables were built anew runs again.
  expect(setRate(null)).toHaveLength(6)
  expect(world.store.buckets.size).toBe(0)
  expect(setRate({ limit: 1, period: 500, burst: 1 })).toEqual([])
  for (const concurrencyKey of ['k', 'l', 'm', 'n', 'o']) world.enqueue('a', { concurrencyKey })
  expect(world.store.buckets.size).toBe(5)
  world.run({ op: 'leave', session: 's' }, { op: 'deleteMany', filter: {}, limit: 500, dryRun: false })
  world.reload()
  // By the second, a slice of three per turn.
  world.after(400)
  expect(world.store.buckets.size).toBe(5)
  world.pass(1_100)
  world.turn()
  expect(world.store.buckets.size).toBe(2)
  world.run()
  expect(world.store.buckets.size).toBe(0)
  // Its jobs ran when the tables were built anew, and have lined up since.
  expect([...(world.tables.queues.get('default')?.keys?.keys() ?? [])]).toEqual(['k'])
})

test('fairness: keys take turns, however many jobs one key has, and however late the others come', () => {
  const world = new World()
  world.configure('default', { perKeyLimit: 1, concurrencyLimit: 1 })
  for (let job = 0; job < 20; job++) world.enqueue('a', { concurrencyKey: 'greedy' })
  const order: (string | undefined)[] = []
  let [granted] = world.run(attaching('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })).grants
  for (let job = 0; job < 3; job++) {
    world.pass(1)
    world.enqueue('a', { concurrencyKey: 'late' })
    world.enqueue('a', { concurrencyKey: 'later' })
  }
  while (granted !== undefined) {
    order.push(world.row(granted).extras?.concurrencyKey)
    world.pass(1)
    granted = world.complete(granted).grants[0]
  }
  expect(order.slice(0, 10)).toEqual([...['greedy', 'late', 'later', 'greedy', 'late', 'later', 'greedy', 'late', 'later'], 'greedy'])
  expect(order).toHaveLength(26)
})

test('strict: a key belongs to its job until the job is final, whatever happens to it; the next job is the first by arrival', () => {
  const world = new World()
  world.configure('default', { keyOrder: 'strict' })
  const policy = { maxAttempts: 2, backoff: { type: 'fixed', delay: 50 } } as const
  const first = world.enqueue('a', { concurrencyKey: 'k', ...policy })
  const late = world.enqueue('b', { concurrencyKey: 'k', delay: 100 })
  const second = world.enqueue('b', { concurrencyKey: 'k' })
  const third = world.enqueue('a', { concurrencyKey: 'k', priority: 9 })
  const other = world.enqueue('a', { concurrencyKey: 'l' })
  const none = world.enqueue('a')
  const ends = ({ seq }: { seq: number }, op: 'complete' | 'fail' | 'giveBack' | 'snooze') => {
    const run = { seq, run: world.row({ seq }).run }
    const said = { complete: { output: null }, fail: { error: { name: 'Error', message: 'no' } }, giveBack: {}, snooze: { delay: 20 } }
    return world.run({ op, ...run, ...said[op] } as Command)
  }
  const seqs = ({ grants }: { grants: readonly Granted[] }) => grants.map(({ seq }) => seq)
  const attach = attaching('s', NAMES, { minConcurrency: 9, maxConcurrency: 9 })
  expect(seqs(world.run(attach)).sort()).toEqual([first, other, none].map(({ seq }) => seq))
  expect(seqs(ends(first, 'giveBack'))).toEqual([first.seq])
  expect(seqs(ends(first, 'snooze'))).toEqual([])
  expect(seqs(world.after(20))).toEqual([first.seq])
  expect(seqs(ends(first, 'fail'))).toEqual([])
  // A restart while it waits for its retry.
  world.reload('s')
  const held = [other, none].map(({ seq }) => ({ seq, run: 1 }))
  expect(seqs(world.run({ ...attach, held }))).toEqual([])
  expect(seqs(world.after(50))).toEqual([first.seq])
  // The delayed one is due by now, and has come before the second.
  world.pass(100)
  expect(seqs(ends(first, 'fail'))).toEqual([late.seq])
  // Brought back by hand: behind the one that has the key, before those that came later.
  world.retry(first)
  expect(seqs(ends(late, 'complete'))).toEqual([first.seq])
  expect(seqs(world.cancel(second))).toEqual([])
  expect(seqs(ends(first, 'complete'))).toEqual([third.seq])
  ends(third, 'complete')
  expect([world.store.turnsOf.size, world.store.backlogs.size]).toEqual([1, 0])
})

test('strict: a job that is delayed before its first run gives its key up, and a job that has run keeps it', () => {
  const world = new World()
  world.configure('default', { keyOrder: 'strict' })
  const [first, second] = [world.enqueue('a', { concurrencyKey: 'k' }), world.enqueue('a', { concurrencyKey: 'k' })]
  expect([...world.store.turnsOf.values()]).toEqual([first.seq])
  const later = (job: Enqueued) => world.update(job, { runAt: world.now.wall + 1_000 })
  later(first)
  expect([...world.store.turnsOf.values()]).toEqual([second.seq])
  const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 9, maxConcurrency: 9 }))
  expect(grants.map(({ seq }) => seq)).toEqual([second.seq])
  world.snooze(second, 10)
  later(second)
  expect(world.after(999).grants).toEqual([])
  expect(world.after(1).grants.map(({ seq }) => seq)).toEqual([second.seq])
})

test('strict: the order is refused beside another perKeyLimit, and cannot be removed while jobs have yet to end', () => {
  const world = new World()
  const tell = (changes: QueueChanges): Command => ({ op: 'configure', queue: 'default', changes })
  world.run(tell({ perKeyLimit: 3 }))
  expect(world.refusal(tell({ keyOrder: 'strict' }))).toBe('UNSUPPORTED')
  expect(world.refusal(tell({ keyOrder: 'strict', perKeyLimit: 1 }))).toBeUndefined()
  expect(world.refusal(tell({ perKeyLimit: 2 }))).toBe('UNSUPPORTED')
  const job = world.enqueue('a', { delay: 5 })
  expect(world.refusal(tell({ keyOrder: null }))).toBe('QUEUE_NOT_EMPTY')
  expect(world.refusal(tell({ concurrencyLimit: 3 }))).toBeUndefined()
  world.cancel(job)
  expect(world.refusal(tell({ keyOrder: null, perKeyLimit: 2 }))).toBeUndefined()
  expect(world.tables.queues.get('default')?.settings).toEqual({ concurrencyLimit: 3, perKeyLimit: 2 })
})

test('share: a queue starts that many jobs in a row before the next queue has its turn', () => {
  const world = new World()
  world.configure('q1', { share: 3 })
  for (let job = 0; job < 4; job++) for (const queue of QUEUES) world.enqueue('a', { queue })
  const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 8, maxConcurrency: 8 }))
  expect(grants.map(({ queue }) => queue)).toEqual(['q1', 'q1', 'q1', 'q2', 'q1', 'q2', 'q2', 'q2'])
})

test('share: a queue that is paused within its share leaves the next queue a whole share', () => {
  const world = new World()
  for (const queue of QUEUES) world.configure(queue, { share: 2 })
  for (let job = 0; job < 4; job++) for (const queue of QUEUES) world.enqueue('a', { queue })
  let [granted] = world.run(attaching('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })).grants
  for (const paused of [true, false]) world.call<'pause'>({ op: 'pause', queue: 'q1', paused })
  const order: string[] = []
  while (granted !== undefined) {
    order.push(granted.queue)
    granted = world.complete(granted).grants[0]
  }
  expect(order).toEqual(['q1', 'q2', 'q2', 'q1', 'q1', 'q2', 'q2', 'q1'])
})

test('share: a worker that also serves other queues does not end the turn of a queue for the other workers', () => {
  const world = new World()
  world.configure('q1', { share: 2 })
  for (let job = 0; job < 40; job++)
    for (const [queue, name] of [
      ['q1', 'a'],
      ['q2', 'a'],
      ['q3', 'b'],
    ] as const)
      world.enqueue(name, { queue })
  const one = { minConcurrency: 1, maxConcurrency: 1 }
  const running = new Map<string, Granted>()
  const served: string[] = []
  const note = (grants: readonly Granted[]) => {
    for (const grant of grants) {
      running.set(grant.session, grant)
      if (grant.session === 'slow') served.push(grant.queue)
    }
  }
  note(world.run(attaching('slow', ['a'], { ...one, queues: ['q1', 'q2'] })).grants)
  note(world.run(attaching('fast', ['a', 'b'], { ...one, queues: ['q1', 'q3'] })).grants)
  const next = (session: string) => {
    note(world.complete(running.get(session) as Granted).grants)
  }
  next('fast')
  for (let round = 0; round < 8; round++) for (const session of ['slow', 'fast', 'fast']) next(session)
  expect(served).toEqual(['q1', 'q1', 'q2', 'q1', 'q1', 'q2', 'q1', 'q1', 'q2'])
})

test('strict order: a job that is cancelled and brought back in the turn that releases it has its key in the next turn', () => {
  const world = new World()
  world.configure('default', { keyOrder: 'strict' })
  world.turn({ op: 'enqueue', jobs: [{ name: 'a', data: null, concurrencyKey: 'k' }] })
  const id = world.keyOf({ seq: 1 })
  world.turn({ op: 'cancel', id }, { op: 'retry', id })
  expect(world.run(attaching('s', ['a'])).grants).toMatchObject([{ seq: 1 }])
})

test('maxLength: jobs that have yet to start count, a repeat does not, and a full queue refuses all jobs of a call', () => {
  const world = new World()
  world.configure('default', { maxLength: 3 })
  world.enqueue('a', { idempotencyKey: 'i' })
  world.enqueue('a', { delay: 1_000 })
  const two: Command = {
    op: 'enqueue',
    jobs: [
      { name: 'a', data: null },
      { name: 'b', data: null },
    ],
  }
  expect(world.refusal(two)).toBe('QUEUE_FULL')
  world.enqueue('a')
  expect(world.enqueue('a', { idempotencyKey: 'i' }).created).toBe(false)
  expect(world.refusal({ op: 'enqueue', jobs: [{ name: 'a', data: null }] })).toBe('QUEUE_FULL')
  world.enqueue('a', { queue: 'other' })
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  world.enqueue('a')
})

test('a pause of a queue, of a name or of a key holds its own jobs alone, and outlives a restart', () => {
  const world = new World()
  const pause = (what: { job?: string; key?: string; queue?: string }, paused = true) =>
    world.run({ op: 'pause', queue: 'default', paused, ...what }).grants.map(({ name }) => name)
  pause({ queue: 'q2' })
  pause({ job: 'b' })
  pause({ key: 'k' })
  world.enqueue('a', { queue: 'q2' })
  world.enqueue('b')
  world.enqueue('a', { concurrencyKey: 'k' })
  world.reload()
  expect(world.run(attaching('s', NAMES, { minConcurrency: 9, maxConcurrency: 9 })).grants).toEqual([])
  expect(pause({ job: 'b' }, false)).toEqual(['b'])
  expect(pause({ key: 'k' }, false)).toEqual(['a'])
  expect(pause({ queue: 'q2' }, false)).toEqual(['a'])
  expect([...world.store.rows.values()].filter(({ state }) => state === WAITING || state === SCHEDULED)).toEqual([])
})

test('defaults: the call counts before the definition, the definition before the queue, and the queue before the engine', () => {
  const engine = { priority: 8, weight: 8, maxAttempts: 8, timeout: 8_000, ttl: 80_000 }
  const world = new World({ settings: { defaults: engine } })
  world.configure('default', { defaults: { priority: 3, weight: 5, maxAttempts: 9 } })
  world.run({
    ...attaching('s', [], { minConcurrency: 1, maxConcurrency: 1 }),
    session: { ...attaching('s', ['a'], {}).session, handlers: [{ name: 'a', defaults: { weight: 7 } }] },
  })
  const job = world.enqueue('a', { priority: 4 })
  expect(world.row(job)).toMatchObject({ priority: 4, weight: 7 })
  expect(JSON.parse(world.row(job).policy as string)).toMatchObject({ maxAttempts: 9, timeout: 8_000 })
  expect(world.row(job).expiresAt).toBe(world.now.wall + 80_000)
  // Of a queue without defaults; and of a name that is defined later.
  const [plain, late] = [world.enqueue('b', { queue: 'other', maxAttempts: 2 }), world.enqueue('late', { queue: 'other' })]
  expect(world.row(plain)).toMatchObject({ priority: 8, weight: 8, expiresAt: world.now.wall + 80_000 })
  expect(JSON.parse(world.row(plain).policy as string)).toMatchObject({ maxAttempts: 2, timeout: 8_000 })
  const ttl = LIMITS.durationMs
  world.run({
    ...attaching('t', [], { minConcurrency: 1, maxConcurrency: 1 }),
    session: {
      ...attaching('t', ['late'], {}).session,
      queues: ['nowhere'],
      handlers: [{ name: 'late', defaults: { maxAttempts: 3, ttl } }],
    },
  })
  expect(world.row(late)).toMatchObject({ priority: 8, expiresAt: 0 })
  expect(JSON.parse(world.row(late).policy as string)).toMatchObject({ maxAttempts: 3, timeout: 8_000 })
  expect(world.row(plain).expiresAt).toBe(world.now.wall + 80_000)
})
