/** Tests how a waiting job is explained: each cause that holds it back is named, with its end. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { CAUSES, type Cause, type CauseCode } from '../../explanation.ts'
import type { FlowNode } from '../../flowCommands.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { World } from '../../testing/world.ts'
import type { JobRow } from '../records/rows.ts'
import { explain } from './explain.ts'

const RATE = { limit: 1, period: 60_000, burst: 1 }

function causesOf(world: World, job: { readonly seq: number }): readonly Cause[] {
  return explain(world.store, world.tables, world.now, world.row(job)).causes
}

/** A job of each cause, and what it says. */
const CASES: Readonly<Record<CauseCode, (world: World) => readonly [job: { readonly seq: number }, cause: Omit<Cause, 'code'>]>> = {
  time: (world) => [world.enqueue('a', { delay: 1_000 }), { until: world.now.wall + 1_000 }],
  retry: (world) => {
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.fail(job)
    return [job, { until: world.row(job).runAt }]
  },
  sleep: (world) => {
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.run({ op: 'wait', seq: job.seq, run: 1, settled: 0, waits: [{ name: 'week', asked: 1, delay: 1_000 }], end: true })
    return [job, { of: 'week', until: world.now.wall + 1_000 }]
  },
  message: (world) => {
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.run({ op: 'wait', seq: job.seq, run: 1, settled: 0, waits: [{ name: 'answer', asked: 1, message: 'approved' }], end: true })
    return [job, { of: 'approved' }]
  },
  'steps-changed': (world) => {
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.run({ op: 'fail', seq: job.seq, run: 1, error: { name: 'StepsChangedError', message: 'm' }, changed: true })
    return [job, { until: world.row(job).runAt }]
  },
  parents: (world) => {
    const job = { name: 'a', data: null }
    const node = (ref: string, ...parents: number[]): FlowNode => ({ ref, job, parents, onFailure: 'fail' })
    world.run({ op: 'flow', nodes: [node('p'), node('q'), node('c', 0, 1)] })
    return [[...world.store.rows.values()].at(-1) as JobRow, { used: 2 }]
  },
  'all-paused': (world) => {
    world.run({ op: 'pauseAll', paused: true })
    return [world.enqueue('a'), {}]
  },
  'queue-paused': (world) => {
    world.pause('default', { for: 1_000 })
    return [world.enqueue('a'), { until: world.now.wall + 1_000 }]
  },
  'name-paused': (world) => {
    world.pause('default', { job: 'a' })
    return [world.enqueue('a'), {}]
  },
  'key-paused': (world) => {
    world.pause('default', { key: 'k', for: 2_000 })
    return [world.enqueue('a', { concurrencyKey: 'k' }), { of: 'k', until: world.now.wall + 2_000 }]
  },
  'no-worker': (world) => [world.enqueue('nobody'), {}],
  'workers-unavailable': (world) => {
    world.attach('s', ['a'], { paused: true })
    return [world.enqueue('a'), {}]
  },
  'workers-full': (world) => {
    world.attach('s', ['a'], { minConcurrency: 3, maxConcurrency: 3 })
    world.enqueue('a', { weight: 2 })
    return [world.enqueue('a', { weight: 2 }), { used: 2, limit: 3 }]
  },
  'queue-limit': (world) => limited(world, { concurrencyLimit: 1 }, { used: 1, limit: 1 }),
  'shared-limit': (world) => limited(world, { sharedLimit: { name: 'db', limit: 1 } }, { of: 'db', used: 1, limit: 1 }),
  'rate-limit': (world) => limited(world, { rateLimit: RATE }, { until: world.now.wall + 60_000 }),
  'key-order': (world) => limited(world, { keyOrder: 'strict' }, { of: 'k' }),
  'key-limit': (world) => limited(world, { perKeyLimit: 1 }, { of: 'k', used: 1, limit: 1 }),
  'key-rate-limit': (world) => limited(world, { perKeyRateLimit: RATE }, { of: 'k', until: world.now.wall + 60_000 }),
  line: (world) => {
    world.attach('s', ['a'], { minConcurrency: 3, maxConcurrency: 3 })
    world.enqueue('a', { weight: 2 })
    world.enqueue('a', { weight: 3 })
    world.pass(LIMITS.heavyPatienceMs)
    return [world.enqueue('a'), {}]
  },
}

/** A job behind another one of its key, in a queue with these settings. */
function limited(
  world: World,
  changes: QueueChanges,
  cause: Omit<Cause, 'code'>,
): readonly [{ readonly seq: number }, Omit<Cause, 'code'>] {
  world.configure('default', changes)
  world.attach('s', ['a'])
  world.enqueue('a', { concurrencyKey: 'k' })
  return [world.enqueue('a', { concurrencyKey: 'k' }), cause]
}

test.each(CAUSES)('the cause %s is named for the job that it holds back', (code) => {
  const world = new World()
  const [job, cause] = CASES[code](world)
  expect(causesOf(world, job)).toContainEqual({ code, ...cause })
  // The bystander of another queue is not held by what holds this one.
  if (code === 'all-paused') return
  world.attach('other', ['bystander'], { queues: ['bystander'] })
  const bystander = world.enqueue('bystander', { queue: 'bystander' })
  expect([world.stateOf(bystander), causesOf(world, bystander)]).toEqual(['active', []])
})

test('a job that waits for a rate until after the last possible Date shows that Date as the end of its wait', () => {
  const world = new World()
  world.configure('default', { rateLimit: { limit: 1, period: 365 * 86_400_000, burst: 1 } })
  world.attach('s', ['a'])
  world.enqueue('a', { tokens: LIMITS.tokens })
  expect(causesOf(world, world.enqueue('a'))).toEqual([{ code: 'rate-limit', until: LIMITS.timeMs }])
})

test('in a strict queue the first job of a key waits for the pause or the rate of the key, and later jobs for their turn', () => {
  const codes = (world: World, job: { readonly seq: number }) => causesOf(world, job).map(({ code }) => code)
  const world = new World()
  world.configure('default', { keyOrder: 'strict', perKeyRateLimit: RATE })
  world.attach('s', ['a'])
  const [first, second, third] = [0, 1, 2].map(() => world.enqueue('a', { concurrencyKey: 'k' }))
  if (first === undefined || second === undefined || third === undefined) throw new Error('no jobs')
  expect(codes(world, second)).toEqual(['key-order'])
  world.complete(first)
  expect(codes(world, second)).toEqual(['key-rate-limit'])
  world.pause('default', { key: 'other' })
  const held = world.enqueue('a', { concurrencyKey: 'other' })
  expect(codes(world, held)).toEqual(['key-paused'])
})

test('a job that runs or has ended has no cause that holds it back', () => {
  const world = new World()
  world.attach('s', ['a'])
  const job = world.enqueue('a')
  expect(explain(world.store, world.tables, world.now, world.row(job))).toEqual({
    name: 'a',
    queue: 'default',
    state: 'active',
    attempt: 1,
    maxAttempts: 4,
    deadlineAt: world.now.wall + 300_000,
    causes: [],
  })
  world.complete(job)
  expect(causesOf(world, job)).toEqual([])
})

const changes = fc.record({
  concurrencyLimit: fc.option(fc.integer({ min: 1, max: 3 })),
  perKeyLimit: fc.option(fc.integer({ min: 1, max: 2 })),
  keyOrder: fc.constantFrom('strict' as const, null),
  rateLimit: fc.option(fc.constant({ limit: 2, period: 1_000, burst: 2 })),
})
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ key: fc.constantFrom('k', 'l', undefined), weight: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: changes.map((of): Command => ({ op: 'configure', queue: 'default', changes: of })) },
  { weight: 1, arbitrary: fc.boolean().map((paused): Command => ({ op: 'pause', queue: 'default', paused })) },
  { weight: 1, arbitrary: fc.boolean().map((paused): Command => ({ op: 'pause', queue: 'default', key: 'k', paused })) },
)

test('the first waiting job always has a cause other than its place in line', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 20, size: 'max' }), (acts) => {
      const world = new World()
      world.attach('s', ['a'], { minConcurrency: 4, maxConcurrency: 4 })
      for (const each of acts)
        if ('op' in each) world.run(each)
        else world.enqueue('a', { weight: each.weight, ...(each.key !== undefined && { concurrencyKey: each.key }) })
      const waiting = [...world.store.rows.values()].filter((row) => causesOf(world, row).length > 0)
      // Whoever is first, of all that wait, is held by more than others before it.
      const first = waiting[0]
      if (first !== undefined) expect(causesOf(world, first).map(({ code }) => code)).not.toEqual(['line'])
    }),
    { numRuns: runs(200) },
  )
})
