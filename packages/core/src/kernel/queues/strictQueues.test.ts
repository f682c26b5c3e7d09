/** Tests a worker with a strict order of queues: it starts no job of a later queue while one of an earlier queue could start. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob, RunKey } from '../../commands.ts'
import { ACTIVE, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, type Granted, World } from '../../testing/world.ts'
import { tokenMs } from '../records/bucket.ts'
import type { JobRow } from '../records/rows.ts'

useSmallLimits()

const QUEUES = ['urgent', 'default', 'low'] as const
const strict = (count: number, queues: readonly string[] = QUEUES) =>
  ({ queues, order: 'strict', minConcurrency: count, maxConcurrency: count }) as const
const configure = (queue: string, changes: QueueChanges): Command => ({ op: 'configure', queue, changes })
const complete = ({ seq, run }: RunKey): Command => ({ op: 'complete', seq, run, output: null })
const jobs = (queue: string, count: number, job: Partial<NewJob> = {}) =>
  Array.from({ length: count }, () => ({ name: 'a', queue, ...job }))
const queuesOf = (grants: readonly Granted[]) => grants.map(({ queue }) => queue)

test('a worker with a strict order empties an earlier queue first, whichever jobs arrived first', () => {
  const world = new World()
  world.run(enqueueing(...jobs('low', 2), ...jobs('default', 2), ...jobs('urgent', 2), ...jobs('other', 1)))
  expect(queuesOf(world.run(attaching('s', ['a'], strict(9))).grants)).toEqual(['urgent', 'urgent', 'default', 'default', 'low', 'low'])
})

test('a job of an earlier queue starts before all waiting jobs of later queues', () => {
  const world = new World()
  world.run(attaching('s', ['a'], strict(1)), enqueueing(...jobs('low', 3, { priority: 9 })))
  world.run(enqueueing(...jobs('urgent', 1)))
  expect(queuesOf(world.run(complete({ seq: 1, run: 1 })).grants)).toEqual(['urgent'])
  expect(queuesOf(world.run(complete({ seq: 4, run: 1 })).grants)).toEqual(['low'])
})

test('a queue that is created later is served by its prefix, in the place of the prefix', () => {
  const world = new World()
  world.run(attaching('s', ['a'], strict(1, ['urgent', 'shop-*', '*'])), enqueueing(...jobs('low', 1)))
  world.run(enqueueing(...jobs('low', 1), ...jobs('shop-1', 2), ...jobs('shop-2', 1), ...jobs('urgent', 1)))
  const order: string[] = []
  for (let next: Granted | RunKey | undefined = { seq: 1, run: 1 }; next !== undefined; ) {
    const [grant]: readonly Granted[] = world.run(complete(next)).grants
    if (grant !== undefined) order.push(grant.queue)
    next = grant
  }
  expect(order).toEqual(['urgent', 'shop-1', 'shop-2', 'shop-1', 'low'])
})

test('a later queue does not wait for jobs of an earlier queue that a limit, a rate or a pause holds back', () => {
  for (const held of [
    configure('urgent', { concurrencyLimit: 1 }),
    configure('urgent', { rateLimit: { limit: 1, period: 1_000, burst: 1 } }),
  ]) {
    const world = new World()
    world.run(held, enqueueing(...jobs('low', 2), ...jobs('urgent', 3)))
    expect(queuesOf(world.run(attaching('s', ['a'], strict(3))).grants)).toEqual(['urgent', 'low', 'low'])
  }
  const world = new World()
  world.run(enqueueing(...jobs('low', 1), ...jobs('urgent', 1)))
  world.pause('urgent')
  expect(queuesOf(world.run(attaching('s', ['a'], strict(1))).grants)).toEqual(['low'])
  world.run({ op: 'pause', queue: 'urgent', paused: false }, enqueueing(...jobs('low', 1)))
  expect(queuesOf(world.run(complete({ seq: 1, run: 1 })).grants)).toEqual(['urgent'])
})

test('jobs of an earlier queue that are only on disk start before those of a later queue in memory', () => {
  const world = new World()
  const count = 5 * LIMITS.windowJobs
  world.run(enqueueing(...jobs('low', 3), ...jobs('urgent', count)))
  const grants = queuesOf(world.run(attaching('s', ['a'], strict(count + 1))).grants)
  expect(grants).toEqual([...Array(count).fill('urgent'), 'low'])
})

test('a job behind more held jobs than one turn can set aside starts before those of a later queue', () => {
  const world = new World()
  world.run(configure('urgent', { perKeyLimit: 1 }))
  const names = Array.from({ length: LIMITS.sliceRows + 1 }, (_, index) => `b${index}`)
  world.run(attaching('s', ['a', ...names], strict(2)))
  // The key has room when its jobs line up.
  const keyed = ['a', ...names].map((name) => ({ name, queue: 'urgent', concurrencyKey: 'k' }))
  const { grants } = world.run(enqueueing(...jobs('low', 2), ...keyed, { name: names.at(-1) as string, queue: 'urgent' }))
  expect(queuesOf(grants)).toEqual(['urgent', 'urgent'])
})

test('each worker has its own order of queues, and a worker without a strict order takes turns', () => {
  const world = new World()
  world.run(enqueueing(...jobs('low', 4), ...jobs('urgent', 4)))
  expect(queuesOf(world.run(attaching('s', ['a'], strict(1, ['low', 'urgent']))).grants)).toEqual(['low'])
  expect(queuesOf(world.run(attaching('t', ['a'], strict(1, ['urgent', 'low']))).grants)).toEqual(['urgent'])
  const fair = { ...strict(2, ['urgent', 'low']), order: 'fair' } as const
  expect(queuesOf(world.run(attaching('u', ['a'], fair)).grants).sort()).toEqual(['low', 'urgent'])
})

test('a strict order without named queues has no effect', () => {
  const world = new World()
  world.run(enqueueing(...jobs('low', 1)))
  const { replies, grants } = world.run(attaching('s', ['a'], { order: 'strict' }))
  expect([replies[0], queuesOf(grants)]).toEqual([{ lost: [] }, ['low']])
})

const newJob = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    queue: fc.constantFrom(...QUEUES),
    data: fc.string({ maxLength: 30 }),
    concurrencyKey: fc.constantFrom('k1', 'k2'),
    priority: fc.constantFrom(0, 1),
    weight: fc.constantFrom(1, 1, 1, 2, 4),
    delay: fc.constantFrom(0, 10),
  },
  { requiredKeys: ['name', 'queue', 'data'] },
) as fc.Arbitrary<NewJob>
const changes = fc.record(
  {
    concurrencyLimit: fc.constantFrom(1, 3, null),
    rateLimit: fc.constantFrom({ limit: 1, period: 20, burst: 2 }, null),
    perKeyLimit: fc.constantFrom(1, null),
    fairness: fc.constantFrom('name' as const, null),
    share: fc.constantFrom(3, null),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<QueueChanges>
const queue = fc.constantFrom(...QUEUES)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(newJob, { minLength: 1, maxLength: 12 }).map((some): Command => ({ op: 'enqueue', jobs: some })) },
  { weight: 2, arbitrary: fc.tuple(queue, changes).map(([name, some]) => configure(name, some)) },
  { weight: 1, arbitrary: fc.tuple(queue, fc.boolean()).map(([name, paused]): Command => ({ op: 'pause', queue: name, paused })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('s', 't'), fc.integer({ min: 1, max: 8 }), fc.shuffledSubarray([...QUEUES], { minLength: 2 }))
      .map(([session, count, queues]) => attaching(session, session === 's' ? ['a', 'b'] : ['a'], strict(count, queues))),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 4 }).map((count) => attaching('fair', ['a', 'b'], { ...strict(count), order: 'fair' })),
  },
  { weight: 8, arbitrary: fc.nat(30).map((pick) => ({ ends: pick })) },
  { weight: 2, arbitrary: fc.constantFrom(1, 15, 60).map((ms) => ({ passes: ms })) },
)

/** Looks at what waits once the turn is over: it waited before each of its hand-outs, under limits that were no stricter. */
function expectOrder({ tables, store, now }: World, grants: readonly Granted[]): void {
  const isHeld = ({ laneId, extras }: JobRow) => {
    const { queue, paused } = tables.laneOf(laneId)
    const { concurrencyLimit = Number.POSITIVE_INFINITY, rateLimit } = queue.settings
    const lacksTokens = rateLimit !== undefined && tokenMs(rateLimit, queue.fullMono, now.mono) > 0
    return paused || queue.paused || queue.counts[ACTIVE] >= concurrencyLimit || lacksTokens || extras?.concurrencyKey !== undefined
  }
  const waiting = [...store.rows.values()].filter((row) => row.state === WAITING && !isHeld(row))
  const parked = [...store.rows.values()].filter(({ state, backlogId }) => state === WAITING && backlogId > 0)
  const later = new Map<string, number>()
  const started: JobRow[] = []
  for (const grant of grants.toReversed()) {
    const session = tables.sessions.get(grant.session)
    const row = store.rows.get(grant.seq)
    if (row !== undefined) started.push(row)
    if (session?.intro.order !== 'strict' || row === undefined) continue
    later.set(grant.session, (later.get(grant.session) ?? 0) + row.weight)
    const before = session.weight - (later.get(grant.session) ?? 0)
    for (const other of waiting) {
      const lane = tables.laneOf(other.laneId)
      const { queues = [] } = session.intro
      const isEarlier = queues.indexOf(lane.queue.name) < queues.indexOf(grant.queue)
      const fits = ({ weight }: JobRow) => before === 0 || before + weight <= session.intro.maxConcurrency
      // A heavier job was all that the window had, and has started elsewhere or was set aside since: those behind it were only on disk.
      const isHidden = lane.window.size > 0 || [...started, ...parked].some((row) => row.laneId === other.laneId && !fits(row))
      const isSeen = !isHidden || tables.jobs.get(other.seq)?.windowed === true
      const isPassed = isEarlier && fits(other) && isSeen && session.group.lanes.has(lane)
      if (isPassed) throw new Error(`job ${grant.seq} of '${grant.queue}' starts before job ${other.seq} of '${lane.queue.name}'`)
    }
  }
}

type Step = Command | { readonly ends: number } | { readonly passes: number }

/** A heavy job that another worker takes in the same turn is all that a window has. */
const HIDDEN: Step[] = [
  attaching('fair', ['a', 'b'], { ...strict(1), order: 'fair' }),
  { op: 'pause', queue: 'low', paused: true },
  attaching('t', ['a'], strict(2)),
  enqueueing(
    ...jobs('low', 3),
    ...jobs('urgent', 1),
    { name: 'b', queue: 'default' },
    ...jobs('urgent', 1, { priority: 1 }),
    ...jobs('urgent', 1),
    { name: 'b', queue: 'low' },
  ),
  { ends: 5 },
  { ends: 13 },
  enqueueing(
    ...jobs('urgent', 2),
    ...jobs('default', 1),
    ...jobs('urgent', 1, { priority: 1, weight: 4 }),
    { name: 'b', queue: 'urgent' },
    ...jobs('urgent', 2),
  ),
]

const RATE: QueueChanges = { rateLimit: { limit: 1, period: 20, burst: 2 } }
/** The same, of a heavy job that another worker sets aside for its key. */
const SET_ASIDE: Step[] = [
  configure('urgent', RATE),
  enqueueing({ name: 'a', queue: 'urgent' }, { name: 'a', queue: 'low' }),
  enqueueing({ name: 'a', queue: 'default' }, { name: 'a', queue: 'urgent' }),
  configure('default', RATE),
  enqueueing({ name: 'a', queue: 'default' }, { name: 'a', queue: 'urgent' }),
  enqueueing({ name: 'a', queue: 'default' }, { name: 'a', queue: 'urgent', concurrencyKey: 'k1', priority: 1, weight: 2 }),
  configure('low', RATE),
  { ends: 0 },
  attaching('t', ['a'], strict(2, ['default', 'urgent', 'low'])),
  enqueueing(
    { name: 'a', queue: 'default', concurrencyKey: 'k2', weight: 4 },
    { name: 'b', queue: 'default', concurrencyKey: 'k2', priority: 1 },
    { name: 'a', queue: 'default', priority: 1, weight: 4 },
    { name: 'a', queue: 'urgent' },
  ),
  { ends: 0 },
  { ends: 0 },
  enqueueing({ name: 'a', queue: 'low' }, { name: 'a', queue: 'low' }),
  { ends: 1 },
  { ends: 1 },
  configure('default', { concurrencyLimit: 1 }),
  { ends: 3 },
  enqueueing(
    { name: 'a', queue: 'urgent' },
    { name: 'a', queue: 'default' },
    { name: 'b', queue: 'urgent' },
    { name: 'a', queue: 'urgent', priority: 1, weight: 2 },
    { name: 'a', queue: 'low' },
    { name: 'a', queue: 'urgent' },
    { name: 'a', queue: 'low' },
  ),
  { passes: 60 },
  configure('urgent', { concurrencyLimit: 3 }),
  configure('urgent', { rateLimit: null }),
  { ends: 22 },
  { ends: 20 },
  enqueueing({ name: 'a', queue: 'urgent' }, { name: 'a', queue: 'default' }),
  attaching('s', ['a', 'b'], strict(7, ['default', 'urgent', 'low'])),
  { ends: 0 },
  enqueueing({ name: 'a', queue: 'low' }, { name: 'b', queue: 'default', weight: 2 }),
  configure('default', { concurrencyLimit: null, perKeyLimit: 1, fairness: 'name' }),
  { ends: 23 },
  { passes: 60 },
  { ends: 0 },
]

/** Takes the steps, and looks at each turn's hand-outs. */
function play(steps: readonly Step[]): void {
  const world = new World()
  world.run(attaching('s', ['a', 'b'], strict(3)))
  for (const act of steps) {
    if ('passes' in act) world.pass(act.passes)
    const running = [...world.store.rows.values()].filter(({ state }) => state === ACTIVE)
    const row = 'ends' in act ? running[act.ends % Math.max(1, running.length)] : undefined
    const commands = 'op' in act ? [act] : row === undefined ? [] : [complete(row)]
    expectOrder(world, world.turn(...commands).grants)
    while (world.tables.unfinished || world.tables.needRefill.size > 0) {
      const { grants } = world.turn()
      expectOrder(world, grants)
      if (grants.length === 0 && !world.tables.unfinished) break
    }
  }
}

test('no job of a later queue starts while one of an earlier queue could, after any sequence of commands', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (steps) => play(steps)),
    { numRuns: runs(400), examples: [[HIDDEN], [SET_ASIDE]] },
  )
})
