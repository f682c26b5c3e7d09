// Limits with a large backlog behind them: what a turn does stays bounded, and so does memory; nobody waits for what is held back.

import { systemCalendar } from '@millrace/client/calendar'
import { type Command, DEFAULT_RETENTION, type Delivery, LIMITS, type NewJob } from '@millrace/core'
import type { Store } from '@millrace/core/kernel'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { seededRandom, sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Window } from '../../packages/core/src/kernel/records/window.ts'
import { Actor } from '../../packages/engine/src/actor/actor.ts'

const MANY = 1_000_000
const CHUNK = 10_000

/** An engine without threads, whose turns are counted and taken one by one. */
class Bench {
  readonly clock = new VirtualClock()
  readonly actor: Actor
  /** Rows that the largest turn has written since `forget`. */
  largestTurn = 0
  turns = 0
  readonly #started: { seq: number; run: number; name: string }[] = []
  readonly #connection: number
  #request = 0

  constructor() {
    const random = seededRandom(3)
    const opened = openStore({ file: ':memory:', durability: 'normal', random, now: this.clock.read().wall, host: 'host', pid: 1 })
    const store: Store = {
      ...opened,
      write: (effects, header) => {
        this.turns++
        this.largestTurn = Math.max(this.largestTurn, effects.jobs.length)
        opened.write(effects, header)
      },
    }
    const settings = { recovery: 'immediate' as const, retention: DEFAULT_RETENTION, calendar: systemCalendar }
    this.actor = new Actor({ store, clock: this.clock, random, settings, alive: new Set() })
    this.#connection = this.actor.connect(({ replies, grants }: Delivery) => {
      for (const { refusal } of replies) if (refusal !== undefined) throw new Error(`refused: ${refusal.message}`)
      this.#started.push(...grants)
    })
  }

  /** What it asks for, and all that follows at once. */
  ask(...commands: readonly Command[]): void {
    this.actor.receive(
      this.#connection,
      commands.map((command) => ({ id: ++this.#request, command })),
    )
    while (this.actor.turn() === 0);
  }

  fill(count: number, job: Partial<NewJob>): void {
    const jobs = Array.from({ length: CHUNK }, () => ({ name: 'a', data: null, ...job }))
    for (let left = count; left > 0; left -= CHUNK) this.ask({ op: 'enqueue', jobs: jobs.slice(0, left) })
  }

  attach(names: readonly string[], max: number): void {
    this.ask({ op: 'attach', session: { ...sessionIntro(names), minConcurrency: max, maxConcurrency: max }, held: [] })
  }

  /** What has started since it was last asked. */
  take(): { seq: number; run: number; name: string }[] {
    return this.#started.splice(0)
  }

  forget(): void {
    this.largestTurn = 0
    this.turns = 0
  }

  expectBounded(): void {
    // A full slice of parked jobs, beside what may start.
    expect(this.largestTurn).toBeLessThanOrEqual(2 * LIMITS.jobsPerTurn + 32 * LIMITS.windowJobs)
    expect(this.actor.tables.jobs.size).toBeLessThanOrEqual(LIMITS.windowsJobs)
    expect(this.actor.tables.keys.backlogsById.size).toBeLessThanOrEqual(10)
  }
}

test('a million jobs of one saturated key ahead of another key’s job; a limit changed under that backlog; all of it let go', {
  timeout: 300_000,
}, () => {
  const bench = new Bench()
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyLimit: 2 } })
  bench.fill(MANY, { concurrencyKey: 'greedy' })
  bench.ask({ op: 'enqueue', jobs: [{ name: 'a', data: null, concurrencyKey: 'other' }] })
  bench.forget()
  bench.attach(['a'], 10)
  expect(bench.take().map(({ seq }) => seq)).toEqual([1, 2, MANY + 1])
  bench.expectBounded()

  bench.forget()
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyLimit: 5 } })
  expect(bench.take()).toHaveLength(3)
  expect(bench.turns).toBeLessThan(5)
  bench.expectBounded()

  // Smaller again: what runs goes on, and no other starts until there is room.
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyLimit: 1 } })
  bench.ask({ op: 'complete', seq: 1, run: 1, output: null }, { op: 'complete', seq: 2, run: 1, output: null })
  expect(bench.take()).toEqual([])

  bench.forget()
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyLimit: null } })
  expect(bench.take()).toHaveLength(10 - 4)
  bench.expectBounded()
  expect(bench.actor.store.load().backlogs).toEqual([])
})

test('300,000 jobs of a key that has no room, there before the worker: they are passed over as a set, and cost no write of their own', {
  timeout: 120_000,
}, () => {
  const bench = new Bench()
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyLimit: 2 } })
  bench.fill(300_000, { concurrencyKey: 'greedy' })
  bench.ask({ op: 'enqueue', jobs: [{ name: 'a', data: null, concurrencyKey: 'free' }] })
  bench.forget()
  bench.attach(['a'], 10)
  expect(bench.take().map(({ seq }) => seq)).toEqual([1, 2, 300_001])
  expect(bench.turns).toBeLessThan(5)
  expect(bench.largestTurn).toBeLessThan(2 * LIMITS.keyJobsInLine)
  // Each that ends lets one go, in the order of their arrival.
  for (let seq = 1; seq <= 200; seq += 2) {
    bench.ask({ op: 'complete', seq, run: 1, output: null }, { op: 'complete', seq: seq + 1, run: 1, output: null })
    expect(bench.take().map((started) => started.seq)).toEqual([seq + 2, seq + 3])
  }
  bench.expectBounded()
})

test('jobs of 5,000 keys, in line on disk, with a limit on keys: the keys that are remembered are bounded', () => {
  const bench = new Bench()
  const { tables, store } = bench.actor
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyLimit: 1 } })
  for (let round = 0; round < 3; round++)
    bench.ask({
      op: 'enqueue',
      jobs: Array.from({ length: 5_000 }, (_, index) => ({ name: 'a', data: null, concurrencyKey: `key-${index}` })),
    })
  expect(tables.keys.backlogsById.size).toBe(LIMITS.keysFar)
  expect(tables.queues.get('default')?.keys?.size).toBe(LIMITS.keysFar)
  expect(store.load().backlogs).toEqual([])
  bench.attach(['a'], CHUNK)
  expect(bench.take()).toHaveLength(5_000)
})

test('100,000 names, one of them with room: what is closed is not looked at again', { timeout: 60_000 }, () => {
  const bench = new Bench()
  // Two more are enqueued in another queue.
  const names = Array.from({ length: LIMITS.names - 2 }, (_, index) => `n${index}`)
  bench.ask({ op: 'configure', queue: 'closed', changes: { concurrencyLimit: 1 } })
  const jobs = names.map((name) => ({ name, queue: 'closed', data: null }))
  for (let from = 0; from < 3 * names.length; from += CHUNK)
    bench.ask({ op: 'enqueue', jobs: jobs.slice(from % names.length, (from % names.length) + CHUNK) })
  bench.ask({ op: 'enqueue', jobs: [{ name: 'n7', queue: 'open', data: null }] })
  bench.forget()
  bench.attach(names, 5)
  expect(bench.take()).toHaveLength(2)
  expect(bench.largestTurn).toBeLessThanOrEqual(2)
  // However much they have: of most names, the job that would be first.
  expect(bench.actor.tables.jobs.size).toBeLessThanOrEqual(LIMITS.windowsJobs + names.length)
  bench.forget()
  bench.ask({ op: 'enqueue', jobs: [{ name: 'n8', queue: 'open', data: null }] })
  expect(bench.take().map(({ name }) => name)).toEqual(['n8'])
  expect(bench.turns).toBe(1)
  expect(bench.largestTurn).toBe(1)
})

test('100,000 names with jobs in one open queue: hand-outs look at few of them, and so does each time that the queue is opened', {
  timeout: 120_000,
}, () => {
  const bench = new Bench()
  const names = Array.from({ length: 100_000 }, (_, index) => `n${index}`)
  const jobs = names.map((name) => ({ name, data: null }))
  for (let from = 0; from < names.length; from += CHUNK) bench.ask({ op: 'enqueue', jobs: jobs.slice(from, from + CHUNK) })
  bench.attach(names, 1_000)
  const looked = vi.spyOn(Window.prototype, 'first', 'get')
  onTestFinished(() => looked.mockRestore())
  let running = bench.take()
  expect(running.map(({ name }) => name)).toEqual(names.slice(0, 1_000))
  const complete = (some: readonly { seq: number; run: number }[]) =>
    bench.ask(...some.map(({ seq, run }) => ({ op: 'complete', seq, run, output: null }) as const))
  looked.mockClear()
  complete(running.slice(0, 500))
  expect(bench.take()).toHaveLength(500)
  expect(looked.mock.calls.length).toBeLessThan(500 * 8)

  bench.ask({ op: 'configure', queue: 'default', changes: { concurrencyLimit: 501 } })
  running = running.slice(500)
  for (let taken = 0; taken < 100; taken++) {
    looked.mockClear()
    // Down to its limit, and one below: opened, and closed with the next.
    complete(running.splice(0, taken === 0 ? 500 : 1))
    const [started] = bench.take()
    expect(started).toBeDefined()
    running.push(started as (typeof running)[number])
    // Before that windows were read from disk, slice by slice.
    if (taken > 0) expect(looked.mock.calls.length).toBeLessThan(100)
  }
})

test('a million jobs due in the same millisecond come in slices, in the order of their arrival', { timeout: 300_000 }, () => {
  const bench = new Bench()
  bench.fill(MANY, { runAt: bench.clock.read().wall + 60_000 })
  bench.attach(['a'], 3)
  expect(bench.take()).toEqual([])
  bench.forget()
  bench.clock.stall(60_000)
  // Some turns, and not all: jobs start long before the last one has been promoted.
  for (let turn = 0; turn < 20; turn++) bench.actor.turn()
  expect(bench.take().map(({ seq }) => seq)).toEqual([1, 2, 3])
  bench.expectBounded()
})

test('a rate for each of 30,000 keys: a bucket is in memory and on disk until it is full, and no longer', { timeout: 120_000 }, () => {
  const bench = new Bench()
  const keys = 30_000
  const buckets = () => bench.actor.store.load().buckets.length
  const known = () => bench.actor.tables.queues.get('default')?.keys?.size ?? 0
  bench.ask({ op: 'configure', queue: 'default', changes: { perKeyRateLimit: { limit: 1, period: 10_000, burst: 1 } } })
  bench.attach(['a'], CHUNK)
  // A backlog of one key, which is to be held back, before all others.
  bench.fill(CHUNK, { concurrencyKey: 'greedy' })
  bench.forget()
  for (let from = 0; from < keys; from += CHUNK / 2) {
    const jobs = Array.from({ length: CHUNK / 2 }, (_, index) => ({ name: 'a', data: null, concurrencyKey: `key-${from + index}` }))
    bench.ask({ op: 'enqueue', jobs })
    const started = bench.take()
    expect(started.length).toBeGreaterThanOrEqual(CHUNK / 2)
    bench.ask(...started.map(({ seq, run }) => ({ op: 'complete' as const, seq, run, output: null })))
    bench.clock.stall(5_000)
    bench.ask()
    // Those of the last ten seconds, and the one that has more.
    expect(known()).toBeLessThanOrEqual((CHUNK / 2) * 3 + 1)
    expect(buckets()).toBe(known())
  }
  expect(bench.actor.tables.keys.backlogsById.size).toBe(1)
  expect(bench.largestTurn).toBeLessThanOrEqual(2 * LIMITS.jobsPerTurn + CHUNK)
  bench.clock.stall(20_000)
  bench.ask()
  expect([known(), buckets()]).toEqual([1, 1])
})

test('strict order: 200,000 jobs of one key, and 10,000 keys whose jobs are put off: a key in memory for those that wait, and no more', {
  timeout: 120_000,
}, () => {
  const bench = new Bench()
  const { tables, store } = bench.actor
  bench.ask({ op: 'configure', queue: 'default', changes: { keyOrder: 'strict' } })
  bench.fill(200_000, { concurrencyKey: 'greedy' })
  bench.forget()
  bench.attach(['a'], CHUNK)
  expect(bench.take().map(({ seq }) => seq)).toEqual([1])
  const jobs = Array.from({ length: CHUNK }, (_, index) => ({ name: 'a', data: null, concurrencyKey: `key-${index}` }))
  bench.ask({ op: 'enqueue', jobs })
  const started = bench.take()
  expect(started).toHaveLength(CHUNK - 1)
  bench.ask({ op: 'snooze', seq: 1, run: 1, delay: 60_000 })
  bench.ask(...started.map(({ seq, run }) => ({ op: 'snooze' as const, seq, run, delay: 60_000 })))
  // The last one of them had no room before.
  const [last] = bench.take()
  bench.ask({ op: 'snooze', seq: last?.seq as number, run: 1, delay: 60_000 })
  // Each has its key, on disk alone.
  expect(tables.queues.get('default')?.keys?.size).toBe(1)
  expect(tables.jobs.size).toBe(0)
  bench.ask({ op: 'enqueue', jobs: jobs.slice(0, 10) })
  expect(bench.take()).toEqual([])
  expect(bench.largestTurn).toBeLessThanOrEqual(2 * LIMITS.jobsPerTurn + CHUNK)
  expect(tables.keys.backlogsById.size).toBe(11)
  expect(store.load().backlogs).toHaveLength(11)
  bench.clock.stall(60_000)
  bench.ask()
  expect(bench.take()).toHaveLength(CHUNK)
})
