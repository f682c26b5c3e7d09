/** Tests operations on many jobs by a filter, under limits so small that every filter takes several slices. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LabelChanges, PlaceChanges } from '../../commands.ts'
import { ACTIVE, CANCELLED, COMPLETED, FAILED, SCHEDULED, STATES, type StateCode, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { ManyCommand } from '../../manageCommands.ts'
import type { Command, CommandOf } from '../../operations.ts'
import type { ListFilter } from '../../options/filter.ts'
import { parsePolicy } from '../../policy.ts'
import type { SkipReason, Slice } from '../../replies.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { enqueueing, World } from '../../testing/world.ts'

useSmallLimits()

type Op = 'cancelMany' | 'retryMany' | 'deleteMany' | 'runNowMany' | 'updateMany'

const ERROR = { name: 'E', message: 'm' }
const OPS = ['cancelMany', 'retryMany', 'deleteMany', 'runNowMany', 'updateMany'] as const
const one = { minConcurrency: 1, maxConcurrency: 1 }

/** By row: 1 completed, 2 failed, 3 cancelled, 4 active, 5 waiting, 6 scheduled, 7 waiting for its retry. All but 5 have the tag. */
function oneOfEach(): World {
  const world = new World()
  const tags = ['t']
  world.attach('s', ['a'])
  world.run(enqueueing({ name: 'a', tags }, { name: 'a', tags }))
  world.run({ op: 'complete', seq: 1, run: 1, output: null }, { op: 'fail', seq: 2, run: 1, error: ERROR, retry: false })
  world.cancel(world.enqueue('b', { tags }))
  world.enqueue('a', { tags })
  world.enqueue('b')
  world.enqueue('b', { delay: 1_000, tags })
  world.fail(world.enqueue('a', { queue: 'q', tags }), { retry: 60_000 })
  return world
}

/** Slice after slice, as a client asks for them. */
function all(
  world: World,
  op: Op,
  filter: ListFilter,
  {
    limit = 1_000,
    dryRun = false,
    changes = { priority: 7 },
  }: Partial<ManyCommand> & { readonly changes?: PlaceChanges & LabelChanges } = {},
) {
  const sum = { matched: 0, changed: 0, skipped: {} as Partial<Record<SkipReason, number>>, slices: 0 }
  let next: number | null | undefined
  while (next !== null && sum.changed < limit) {
    const command = {
      op,
      filter,
      limit: limit - sum.changed,
      dryRun,
      ...(op === 'updateMany' && { changes }),
      ...(next !== undefined && { before: next }),
    }
    const done: Slice = world.call<Op>(command as CommandOf<Op>)
    expect(done.changed).toBeLessThanOrEqual(LIMITS.sliceRows)
    if (next !== undefined && done.next !== null) expect(done.next).toBeLessThan(next)
    sum.matched += done.matched
    sum.changed += done.changed
    for (const [reason, count] of Object.entries(done.skipped) as [SkipReason, number][])
      sum.skipped[reason] = (sum.skipped[reason] ?? 0) + count
    sum.slices++
    next = done.next
  }
  return sum
}

const states = (world: World) => Object.fromEntries([...world.store.rows.values()].map(({ seq, state }) => [seq, STATES[state]]))

describe('an operation on many jobs changes what it can of one job of each kind, and counts the others by reason', () => {
  test('cancelMany cancels all jobs that have not ended, and counts the others by their state', () => {
    const world = oneOfEach()
    expect(all(world, 'cancelMany', {})).toMatchObject({
      matched: 7,
      changed: 4,
      skipped: { completed: 1, failed: 1, cancelled: 1 },
      slices: 3,
    })
    expect(world.row({ seq: 4 })).toMatchObject({ state: ACTIVE, cancelRequested: true })
    expect(all(world, 'cancelMany', { state: ACTIVE })).toMatchObject({ matched: 1, changed: 0, skipped: { cancelling: 1 } })
    world.complete({ seq: 4 })
    expect(states(world)).toEqual({
      1: 'completed',
      2: 'failed',
      3: 'cancelled',
      4: 'cancelled',
      5: 'cancelled',
      6: 'cancelled',
      7: 'cancelled',
    })
  })

  test('cancelMany asks the workers of running jobs to stop', () => {
    const world = oneOfEach()
    const { notices } = world.run({ op: 'cancelMany', filter: { state: ACTIVE }, limit: 10, dryRun: false })
    expect(notices).toMatchObject([{ kind: 'abort', cause: 'cancel', seq: 4 }])
  })

  test('retryMany brings back failed and cancelled jobs and those that wait for a retry, and counts the others by their state', () => {
    const world = oneOfEach()
    expect(all(world, 'retryMany', { tag: 't' })).toMatchObject({
      matched: 6,
      changed: 3,
      skipped: { completed: 1, active: 1, scheduled: 1 },
    })
    expect(states(world)).toEqual({
      1: 'completed',
      2: 'active',
      3: 'waiting',
      4: 'active',
      5: 'waiting',
      6: 'scheduled',
      7: 'active',
    })
    expect([2, 7].map((seq) => world.attemptOf({ seq }))).toEqual([1, 2])
  })

  test('runNowMany makes scheduled jobs due, also those that wait for a retry, and counts the others by their state', () => {
    const world = oneOfEach()
    expect(all(world, 'runNowMany', { tag: 't' })).toMatchObject({
      matched: 6,
      changed: 2,
      skipped: { completed: 1, failed: 1, cancelled: 1, active: 1 },
    })
    // The one that waited for its retry goes on with its next attempt.
    expect(states(world)).toMatchObject({ 5: 'waiting', 6: 'waiting', 7: 'active' })
    expect(world.attemptOf({ seq: 7 })).toBe(2)
    expect(all(world, 'runNowMany', { state: WAITING })).toMatchObject({ matched: 2, changed: 0, skipped: { waiting: 2 } })
  })

  test('updateMany changes jobs that are not running and have not ended, and counts the others by their state', () => {
    const world = oneOfEach()
    const by = JSON.stringify(world.row({ seq: 5 }))
    const changes = { priority: 3, weight: 2, runAt: world.now.wall + 5_000 }
    expect(all(world, 'updateMany', { tag: 't' }, { changes })).toMatchObject({
      matched: 6,
      changed: 2,
      skipped: { completed: 1, failed: 1, cancelled: 1, active: 1 },
    })
    for (const seq of [6, 7]) expect(world.row({ seq })).toMatchObject({ state: SCHEDULED, ...changes })
    expect(all(world, 'updateMany', { tag: 't' }, { changes: { maxAttempts: 9 } })).toMatchObject({ changed: 2 })
    for (const seq of [6, 7]) expect(parsePolicy(world.row({ seq }).policy).maxAttempts).toBe(9)
    expect(JSON.stringify(world.row({ seq: 5 }))).toBe(by)
    expect(all(world, 'updateMany', { tag: 't', state: SCHEDULED }, { changes: { runAt: 0 } })).toMatchObject({ changed: 2 })
    expect(states(world)).toMatchObject({ 6: 'waiting', 7: 'active' })
    expect(world.row({ seq: 6 })).toMatchObject({ priority: 3, weight: 2 })
  })

  test('updateMany changes tags and meta of jobs in every state', () => {
    const world = oneOfEach()
    const by = JSON.stringify(world.row({ seq: 5 }))
    const changes = { tags: ['u'], meta: '{"by":"many"}' }
    expect(all(world, 'updateMany', { tag: 't' }, { changes })).toMatchObject({ matched: 6, changed: 6, skipped: {} })
    expect(all(world, 'updateMany', { tag: 't' }, { changes })).toMatchObject({ matched: 0 })
    expect(all(world, 'updateMany', { tag: 'u' }, { changes: { ...changes, priority: 3 } })).toMatchObject({ matched: 6, changed: 2 })
    for (const seq of [1, 2, 3, 4, 6, 7]) expect(world.row({ seq }).extras).toMatchObject(changes)
    expect(JSON.stringify(world.row({ seq: 5 }))).toBe(by)
  })

  test('deleteMany deletes all jobs that are not running, and counts the others by their state', () => {
    const world = oneOfEach()
    expect(all(world, 'deleteMany', { tag: 't' })).toMatchObject({ matched: 6, changed: 5, skipped: { active: 1 } })
    expect(states(world)).toEqual({ 4: 'active', 5: 'waiting' })
  })
})

test.each(OPS)('a dry run of %s reports what the real one does, and changes nothing', (op) => {
  for (const filter of [
    {},
    { tag: 't' },
    { queue: 'q' },
    { name: 'b' },
    { state: FAILED },
    { state: WAITING, name: 'b' },
    { states: [WAITING, FAILED] },
    { states: [SCHEDULED, ACTIVE, CANCELLED], name: 'a' },
  ] as ListFilter[]) {
    const [dry, wet] = [oneOfEach(), oneOfEach()]
    const before = JSON.stringify([...dry.store.rows.values()])
    const said = all(dry, op, filter, { dryRun: true })
    expect(JSON.stringify([...dry.store.rows.values()])).toBe(before)
    expect(said).toEqual(all(wet, op, filter))
  }
})

test('a filter with several states selects jobs in any of them, and no others', () => {
  const world = oneOfEach()
  expect(all(world, 'deleteMany', { states: [SCHEDULED, FAILED] })).toMatchObject({ matched: 3, changed: 3, skipped: {} })
  expect(states(world)).toEqual({ 1: 'completed', 3: 'cancelled', 4: 'active', 5: 'waiting' })
  expect(all(world, 'cancelMany', { states: [ACTIVE, WAITING], tag: 't' })).toMatchObject({ matched: 1, changed: 1 })
  expect(all(world, 'deleteMany', { states: [COMPLETED, WAITING], retrying: true })).toMatchObject({ matched: 0 })
  expect(all(world, 'deleteMany', { states: [WAITING, CANCELLED], finishedBefore: Number.MAX_SAFE_INTEGER })).toMatchObject({ changed: 1 })
  expect(all(world, 'deleteMany', { states: [] })).toMatchObject({ matched: 0 })
  expect(Object.keys(states(world))).toEqual(['1', '4', '5'])
})

test('a limit on many jobs counts the jobs that change, and not those that are skipped', () => {
  const world = oneOfEach()
  expect(all(world, 'deleteMany', { name: 'a' }, { limit: 2 })).toMatchObject({ matched: 3, changed: 2, skipped: { active: 1 } })
  expect(Object.keys(states(world))).toEqual(['1', '3', '4', '5', '6'])
})

test('a job that an earlier command of the turn has changed is filtered by its new state', () => {
  const world = new World()
  world.attach('s', ['a'], { worker: 'w' })
  world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'b', data: '"needle"' }, { name: 'b', data: '"needle"' }))
  const fail = (seq: number) => ({ op: 'fail', seq, run: 1, error: { name: 'E', message: 'm' }, retry: 60_000 }) as const
  const many = (op: Op, filter: ListFilter, of: object = {}) => ({ op, filter, limit: 9, dryRun: false, ...of }) as CommandOf<Op>
  const last = (...commands: Command[]) => world.run(...commands).replies.at(-1)
  // Its run is over by then: it is neither active, nor is its last run the one that was looked up.
  expect(last(fail(1), many('deleteMany', { worker: 'w' }))).toMatchObject({ matched: 1, changed: 0, skipped: { active: 1 } })
  // The last run is the same, whatever became of the job.
  const again = last({ op: 'runNow', id: world.row({ seq: 1 }) }, many('retryMany', { error: 'E' }))
  expect(again).toMatchObject({ matched: 1, changed: 0, skipped: { waiting: 1 } })
  const update = { op: 'update', id: world.row({ seq: 3 }), changes: { data: '"other"' } } as const
  expect(last(update, many('cancelMany', {}, { search: 'needle' }))).toMatchObject({ matched: 1, changed: 1 })
  expect(states(world)).toMatchObject({ 2: 'active', 3: 'waiting', 4: 'cancelled' })
})

describe('an operation on jobs that are named by their ids', () => {
  test('each named job is checked by itself, and must match the filter', () => {
    const world = oneOfEach()
    const ids = [...[1, 4, 5].map((seq) => world.row({ seq })), { seq: 99, node: 7, enqueuedAt: 1 }]
    const ask = (filter: ListFilter) => world.call<'deleteMany'>({ op: 'deleteMany', filter, ids, limit: 10, dryRun: false })
    expect(ask({ tag: 't' })).toEqual({ matched: 2, changed: 1, skipped: { active: 1, notFound: 2 }, next: null })
    expect(states(world)[5]).toBe('waiting')
    expect(ask({})).toEqual({ matched: 2, changed: 1, skipped: { active: 1, notFound: 2 }, next: null })
  })

  test('no more jobs change than the limit allows, however many are named', () => {
    const world = oneOfEach()
    const ids = [1, 2, 3].map((seq) => world.row({ seq }))
    expect(world.call<'deleteMany'>({ op: 'deleteMany', filter: {}, ids, limit: 2, dryRun: false })).toMatchObject({
      changed: 2,
      next: null,
    })
    expect(states(world)[3]).toBe('cancelled')
  })

  test('a job that is named twice counts once', () => {
    const world = oneOfEach()
    const id = world.row({ seq: 5 })
    expect(world.call<'cancelMany'>({ op: 'cancelMany', filter: {}, ids: [id, id], limit: 9, dryRun: false })).toMatchObject({ changed: 1 })
  })
})

describe('an operation on many jobs beside other commands of one turn', () => {
  test('jobs that an earlier command of the turn has created are included, and jobs of a later command are not', () => {
    const world = new World()
    const many: CommandOf<'deleteMany'> = { op: 'deleteMany', filter: { tag: 't' }, limit: 2, dryRun: false }
    const { replies } = world.turn(enqueueing(...Array(3).fill({ name: 'a', tags: ['t'] })), many, enqueueing({ name: 'a', tags: ['t'] }))
    expect(replies[1]).toEqual({ matched: 2, changed: 2, skipped: {}, next: 2 })
    expect(states(world)).toEqual({ 1: 'waiting', 4: 'waiting' })
  })

  test('two slices of one turn do not take the same job, and a deleted job is not found again', () => {
    const world = oneOfEach()
    const slice: CommandOf<'deleteMany'> = { op: 'deleteMany', filter: { state: FAILED }, before: 4, limit: 9, dryRun: false }
    const { replies } = world.turn(slice, { ...slice }, { ...slice, op: 'retryMany' })
    expect(replies).toMatchObject([
      { matched: 1, changed: 1 },
      { matched: 0, changed: 0 },
      { matched: 0, changed: 0 },
    ])
  })

  test('a job that an earlier command has completed no longer matches a filter for active jobs', () => {
    const world = oneOfEach()
    const { replies } = world.turn(
      { op: 'complete', seq: 4, run: 1, output: null },
      { op: 'deleteMany', filter: { tag: 't', state: ACTIVE }, limit: 9, dryRun: false },
    )
    expect(replies).toMatchObject([true, { matched: 0, changed: 0 }])
    expect(states(world)[4]).toBe('completed')
  })
})

describe('the keys of jobs that many-job operations delete or bring back', () => {
  test('deleteMany forgets the idempotency keys of a job: its own, and those of calls that its unique key has answered', () => {
    const world = new World()
    const unique = { key: 'u', onConflict: 'skip' } as const
    world.enqueue('a', { idempotencyKey: 'first', unique, tags: ['t'] })
    expect(world.enqueue('a', { idempotencyKey: 'second', unique }).created).toBe(false)
    world.enqueue('a', { idempotencyKey: 'bystander' })
    world.enqueue('b', { idempotencyKey: 'first' })
    const { replies } = world.turn(
      { op: 'deleteMany', filter: { tag: 't' }, limit: 9, dryRun: false },
      enqueueing({ name: 'a', idempotencyKey: 'second' }),
    )
    expect(replies).toMatchObject([{ changed: 1 }, [{ created: true, seq: 4 }]])
    expect([...world.store.idempotencyKeys].map(([key, { seq }]) => [key.split('\0').join('/'), seq]).toSorted()).toEqual([
      ['a/bystander', 2],
      ['a/second', 4],
      ['b/first', 3],
    ])
    expect(world.store.uniqueKeys.size).toBe(0)
  })

  test('delete keeps the idempotency key of a job, so a repeat creates nothing', () => {
    const world = new World()
    const id = world.enqueue('a', { idempotencyKey: 'k' })
    world.delete(id)
    expect(world.enqueue('a', { idempotencyKey: 'k' }).created).toBe(false)
  })

  test('retryMany skips a job whose unique key another job holds by now, and brings back one of two that share a key', () => {
    const world = new World()
    const unique = { key: 'u', onConflict: 'skip' } as const
    for (let n = 0; n < 2; n++) world.cancel(world.enqueue('a', { unique }))
    expect(all(world, 'retryMany', { state: CANCELLED })).toMatchObject({ matched: 2, changed: 1, skipped: { uniqueConflict: 1 } })
    expect(states(world)).toEqual({ 1: 'cancelled', 2: 'waiting' })
  })
})

test('an operation with any filter and limit changes or counts each job that matches, and leaves all others as they were', () => {
  const job = fc.record({
    name: fc.constantFrom('a', 'b'),
    queue: fc.constantFrom('q', 'r'),
    tags: fc.subarray(['t', 'u']),
    end: fc.constantFrom('wait', 'later', 'complete', 'fail', 'cancel', 'run'),
  })
  const filter = fc.record(
    {
      state: fc.constantFrom<StateCode>(SCHEDULED, WAITING, ACTIVE, COMPLETED, FAILED, CANCELLED),
      name: fc.constantFrom('a', 'b', 'none'),
      queue: fc.constantFrom('q', 'r'),
      tag: fc.constantFrom('t', 'u', 'none'),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(job, { maxLength: 20 }), filter, fc.constantFrom(...OPS), fc.nat({ max: 8 }), (jobs, wanted, op, most) => {
      const world = new World()
      for (const { end, ...rest } of jobs) {
        const runs = end === 'complete' || end === 'fail' || end === 'run'
        if (runs) world.attach('s', [rest.name], { ...one, queues: [rest.queue], maxConcurrency: 100, minConcurrency: 100 })
        const id = world.enqueue(rest.name, { ...rest, priority: 9, ...(end === 'later' && { delay: 1_000 }) })
        if (end === 'complete') world.complete(id)
        if (end === 'fail') world.fail(id, { retry: false })
        if (end === 'cancel') world.cancel(id)
        if (runs) world.run({ op: 'drain', session: 's' })
      }
      const before = new Map([...world.store.rows].map(([seq, row]) => [seq, { ...row }]))
      const isMeant = (seq: number) => {
        const row = before.get(seq)
        const lane = world.store.lanes.get(row?.laneId ?? 0)
        return (
          (wanted.state === undefined || row?.state === wanted.state) &&
          (wanted.name === undefined || lane?.name === wanted.name) &&
          (wanted.queue === undefined || lane?.queue === wanted.queue) &&
          (wanted.tag === undefined || row?.extras?.tags?.includes(wanted.tag) === true)
        )
      }
      const limit = most === 0 ? 1_000 : most
      const { matched, changed, skipped } = all(world, op, wanted, { limit })
      const skips = Object.values(skipped).reduce((sum, count) => sum + count, 0)
      expect(matched).toBe(changed + skips)
      expect(changed).toBeLessThanOrEqual(limit)
      const meant = [...before.keys()].filter(isMeant)
      if (changed < limit) expect(matched).toBe(meant.length)
      const touched = [...before.keys()].filter((seq) => JSON.stringify(world.store.rows.get(seq)) !== JSON.stringify(before.get(seq)))
      expect(touched.length).toBe(changed)
      expect(touched.filter((seq) => !isMeant(seq))).toEqual([])
    }),
  )
})
