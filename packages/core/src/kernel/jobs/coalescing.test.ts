/** Tests debounce and throttle: which calls create a job, through restarts and whatever else happens to the job. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob } from '../../commands.ts'
import { attaching, codeOf, enqueueing, World } from '../../testing/world.ts'

const debounce = (options: Partial<NonNullable<NewJob['debounce']>> = {}) => ({
  debounce: { key: 'k', delay: 100, mode: 'trailing' as const, ...options },
})
const throttle = (period = 100, key = 'k') => ({ throttle: { key, period } })

describe('a trailing debounce', () => {
  test('a debounced job runs once, after a quiet time, with the data of the last call and the id of the first', () => {
    const world = new World()
    world.attach('s', ['a', 'b'])
    const first = world.enqueue('a', { ...debounce(), data: '1' })
    const bystander = world.enqueue('a', { data: '9', delay: 150 })
    expect(first.created).toBe(true)
    for (const data of ['2', '3']) {
      expect(world.after(90).grants).toMatchObject(data === '3' ? [{ seq: bystander.seq, data: '9' }] : [])
      expect(world.enqueue('a', { ...debounce(), data })).toEqual({ ...first, created: false })
    }
    expect(world.after(99).grants).toEqual([])
    expect(world.after(1).grants).toMatchObject([{ seq: first.seq, data: '3' }])
    expect(world.store.rows.size).toBe(2)
  })

  test('a debounced job takes the delay of the last call, and its priority and weight if the call states them', () => {
    const world = new World()
    const first = world.enqueue('a', { ...debounce(), priority: 1, weight: 2 })
    world.enqueue('a', { ...debounce({ delay: 500 }), priority: 7 })
    expect(world.row(first)).toMatchObject({ priority: 7, weight: 2, runAt: world.now.wall + 500 })
  })

  test('a debounced job is due at most maxDelay after the first call, and keeps that place in line', () => {
    const world = new World()
    const { wall } = world.now
    const first = world.enqueue('a', debounce({ maxDelay: 250 }))
    for (const elapsed of [80, 160, 240]) {
      world.after(80)
      world.enqueue('a', { ...debounce({ maxDelay: 250 }), data: String(elapsed) })
    }
    expect(world.row(first).runAt).toBe(wall + 250)
    world.after(60)
    const other = world.enqueue('a')
    // Due, and nobody there to start it: it still takes the newest data.
    expect(world.enqueue('a', { ...debounce({ maxDelay: 250 }), data: '"late"' })).toEqual({ ...first, created: false })
    expect([world.stateOf(first), world.row(first).runAt]).toEqual(['waiting', wall + 250])
    const { grants } = world.run(attaching('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 }))
    expect(grants).toMatchObject([{ seq: first.seq, data: '"late"' }])
    expect(world.stateOf(other)).toBe('waiting')
  })

  test('a debounced job that is due and waits for a worker is delayed by another call without maxDelay', () => {
    const world = new World()
    const first = world.enqueue('a', debounce())
    world.after(100)
    expect(world.stateOf(first)).toBe('waiting')
    world.enqueue('a', debounce())
    expect([world.stateOf(first), world.row(first).runAt]).toEqual(['scheduled', world.now.wall + 100])
  })

  test('a call while a debounced job runs creates another job, so that the call is not lost', () => {
    const world = new World()
    world.attach('s', ['a'])
    const first = world.enqueue('a', debounce())
    expect(world.after(100).grants).toHaveLength(1)
    const second = world.enqueue('a', debounce())
    expect(second).toMatchObject({ seq: first.seq + 1, created: true })
    expect(world.enqueue('a', debounce())).toEqual({ ...second, created: false })
    // The first one's end, its retry and its second end leave the key of the second alone.
    world.fail(first, { retry: 10 })
    expect(world.enqueue('a', debounce())).toEqual({ ...second, created: false })
    world.after(10)
    world.complete(first)
    expect(world.enqueue('a', debounce())).toEqual({ ...second, created: false })
  })

  test('a call in the turn that starts a debounced job still changes that job', () => {
    const world = new World()
    world.attach('s', ['a'])
    const first = world.enqueue('a', debounce())
    world.pass(100)
    const { replies, grants } = world.run(enqueueing({ name: 'a', ...debounce({ maxDelay: 100 }), data: '"newest"' }))
    expect(replies).toEqual([[{ ...first, created: false }]])
    expect(grants).toMatchObject([{ seq: first.seq, data: '"newest"' }])
    expect(world.enqueue('a', debounce()).created).toBe(true)
  })

  test('several jobs of one call are debounced too', () => {
    const world = new World()
    const job = { name: 'a', ...debounce() }
    const reply = world.reply(
      enqueueing({ ...job, data: '1' }, { ...job, data: '2' }, { ...job, debounce: { ...job.debounce, key: 'other' } }),
    )
    expect(reply).toMatchObject([
      { seq: 1, created: true },
      { seq: 1, created: false },
      { seq: 2, created: true },
    ])
    expect(world.row({ seq: 1 }).data).toBe('2')
  })

  test.each(['cancel', 'delete', 'expire', 'runNow'] as const)(
    'a debounce key is free once its job has started or cannot start any more: %s',
    (end) => {
      const world = new World()
      if (end === 'runNow') world.attach('s', ['a'])
      const first = world.enqueue('a', { ...debounce({ delay: 1_000 }), ttl: 10 })
      if (end === 'expire') world.after(10)
      else world.call({ op: end, id: first })
      expect(world.enqueue('a', debounce())).toMatchObject({ seq: first.seq + 1, created: true })
    },
  )

  test('a job that was cancelled before it started takes its debounce key again when it is retried, unless another job has it', () => {
    const world = new World()
    const first = world.enqueue('a', debounce())
    world.cancel(first)
    world.retry(first)
    expect(world.enqueue('a', debounce())).toEqual({ ...first, created: false })
    world.cancel(first)
    const second = world.enqueue('a', debounce())
    expect(codeOf(world.reply({ op: 'retry', id: first }))).toBe('UNIQUE_CONFLICT')
    expect(world.enqueue('a', debounce())).toEqual({ ...second, created: false })
  })

  test('a job that has run is retried beside the job that has the debounce key now', () => {
    const world = new World()
    world.attach('s', ['a'])
    const first = world.enqueue('a', debounce())
    world.after(100)
    world.fail(first, { retry: false })
    const second = world.enqueue('a', debounce())
    expect(world.call({ op: 'retry', id: first })).toBe(true)
    expect(world.enqueue('a', debounce())).toEqual({ ...second, created: false })
  })

  test('a debounce survives a restart, before its job starts and while it runs', () => {
    const world = new World()
    const first = world.enqueue('a', debounce())
    world.reload()
    world.attach('s', ['a'])
    expect(world.enqueue('a', { ...debounce(), data: '"again"' })).toEqual({ ...first, created: false })
    expect(world.after(100).grants).toMatchObject([{ seq: first.seq, data: '"again"' }])
    world.reload()
    world.run()
    expect(world.enqueue('a', debounce())).toMatchObject({ seq: first.seq + 1, created: true })
    // Given back by the crash, it runs again, and has no key.
    world.attach('t', ['a'])
    expect(world.after(100).grants).toMatchObject([{ seq: first.seq + 1 }])
    expect(world.row(first).run).toBeGreaterThan(1)
  })
})

describe('a leading debounce', () => {
  const leading = (maxDelay?: number) => debounce({ mode: 'leading', ...(maxDelay !== undefined && { maxDelay }) })

  test('the job of a leading debounce runs at once, with the data of the first call; no other is created until a quiet time has passed', () => {
    const world = new World()
    world.attach('s', ['a'])
    const first = world.enqueue('a', { ...leading(), data: '1' })
    expect(world.stateOf(first)).toBe('active')
    for (let call = 0; call < 5; call++) {
      world.after(99)
      expect(world.enqueue('a', { ...leading(), data: '2' })).toEqual({ ...first, created: false })
    }
    expect(world.row(first).data).toBe('1')
    world.after(100)
    expect(world.enqueue('a', leading())).toMatchObject({ seq: 2, created: true })
  })

  test('a leading debounce creates another job after maxDelay, even without a quiet time', () => {
    const world = new World()
    const first = world.enqueue('a', leading(250))
    for (const elapsed of [90, 180]) {
      world.after(90)
      expect(world.enqueue('a', leading(250)).created, `after ${elapsed} ms`).toBe(false)
    }
    world.after(69)
    expect(world.enqueue('a', leading(250))).toEqual({ ...first, created: false })
    world.after(1)
    expect(world.enqueue('a', leading(250)).created).toBe(true)
  })

  test('a leading debounce holds after its job is deleted, and through a restart', () => {
    const world = new World()
    const first = world.enqueue('a', leading())
    world.after(50)
    world.delete(first)
    expect(world.enqueue('a', leading())).toEqual({ ...first, created: false })
    world.reload()
    world.after(99)
    expect(world.enqueue('a', leading())).toEqual({ ...first, created: false })
  })
})

describe('a throttle', () => {
  test('a throttle creates one job per period, which begins with that job and not with a period of the clock', () => {
    const world = new World()
    const first = world.enqueue('a', { ...throttle(), data: '1' })
    world.after(99)
    expect(world.enqueue('a', { ...throttle(), data: '2' })).toEqual({ ...first, created: false })
    expect(world.row(first).data).toBe('1')
    world.after(1)
    expect(world.enqueue('a', throttle())).toMatchObject({ seq: 2, created: true })
    world.reload()
    world.after(99)
    expect(world.enqueue('a', throttle())).toMatchObject({ seq: 2, created: false })
  })

  test('a throttle counts within one turn and one call too', () => {
    const world = new World()
    const job = { name: 'a', ...throttle() }
    expect(world.turn(enqueueing(job, job), enqueueing(job)).replies).toMatchObject([
      [
        { seq: 1, created: true },
        { seq: 1, created: false },
      ],
      [{ seq: 1, created: false }],
    ])
  })
})

test('debounce and throttle keys are separate by name, text and kind, and separate from unique and idempotency keys', () => {
  const world = new World()
  const jobs = [
    { name: 'a', ...debounce() },
    { name: 'a', ...debounce({ mode: 'leading' }) },
    { name: 'a', ...throttle() },
    { name: 'a', ...throttle(100, 'other') },
    { name: 'b', ...throttle() },
    { name: 'a', idempotencyKey: 'k' },
    { name: 'a', unique: { key: 'k', onConflict: 'error' as const } },
    { name: 'a' },
  ]
  for (let round = 0; round < 2; round++) {
    const reply = world.reply(enqueueing(...jobs.filter((job) => round === 0 || !('unique' in job))))
    expect(reply).toMatchObject((round === 0 ? jobs : jobs.slice(0, 7)).map((_, index) => ({ created: round === 0 || index === 6 })))
  }
})

test('a call that a debounce or a throttle merges is accepted by a full queue', () => {
  const world = new World()
  world.configure('default', { maxLength: 2 })
  world.enqueue('a', debounce())
  world.enqueue('a', throttle())
  expect(codeOf(world.reply(enqueueing({ name: 'a' })))).toBe('QUEUE_FULL')
  expect(world.enqueue('a', debounce()).created).toBe(false)
  expect(world.enqueue('a', throttle()).created).toBe(false)
})

test.each(['trailing', 'leading', 'throttle'] as const)('deleteMany forgets the debounce or throttle key of a job: %s', (by) => {
  const world = new World()
  const job = by === 'throttle' ? throttle() : debounce({ mode: by })
  const bystander = world.enqueue('b', job)
  world.enqueue('a', { ...job, tags: ['ada'] })
  world.call({ op: 'deleteMany', filter: { tag: 'ada' }, limit: 10, dryRun: false })
  expect(world.enqueue('a', job).created).toBe(true)
  expect(world.enqueue('b', job)).toEqual({ ...bystander, created: false })
})

type Step = { readonly kind: 'call' | 'pass' | 'start' | 'crash' | 'cancel' | 'complete'; readonly ms: number }

const kinds = ['call', 'call', 'call', 'pass', 'pass', 'start', 'crash', 'cancel', 'complete'] as const
const steps = fc.array(fc.record({ kind: fc.constantFrom(...kinds), ms: fc.integer({ min: 1, max: 150 }) }) as fc.Arbitrary<Step>, {
  maxLength: 60,
})

test('a debounce key has at most one unstarted job, which is due on time, and no call is lost, after any sequence of events', () => {
  fc.assert(
    fc.property(steps, fc.option(fc.integer({ min: 100, max: 400 }), { nil: undefined }), (played, maxDelay) => {
      const world = new World()
      const wanted = debounce(maxDelay === undefined ? {} : { maxDelay })
      let calls = 0
      let last: { seq: number; wall: number; data: string } | undefined
      let sessions = 0
      for (const { kind, ms } of played) {
        if (kind === 'call') {
          const data = String(++calls)
          const { seq, created, node, enqueuedAt } = world.enqueue('a', { ...wanted, data })
          const open =
            last !== undefined && !['active', 'cancelled', 'completed', 'gone'].includes(world.stateOf(last)) && world.row(last).run === 0
          expect(created).toBe(!open)
          if (open) expect(seq).toBe(last?.seq)
          last = { seq, wall: world.now.wall, data }
          expect(world.row(last)).toMatchObject({
            data,
            node,
            runAt: Math.min(world.now.wall + 100, enqueuedAt + (maxDelay ?? Number.POSITIVE_INFINITY)),
          })
        } else if (kind === 'pass') {
          for (const { seq, data, run } of world.after(ms).grants) {
            if (last === undefined || seq !== last.seq || run !== 1) continue
            expect(data).toBe(last.data)
            expect(world.now.wall).toBeGreaterThanOrEqual(maxDelay === undefined ? last.wall + 100 : last.wall)
          }
        } else if (kind === 'start') world.attach(`s${++sessions}`, ['a'])
        else if (kind === 'crash') {
          world.reload()
          world.run()
        } else if (kind === 'cancel' && last !== undefined && world.stateOf(last) === 'scheduled') world.cancel(last)
        else if (kind === 'complete' && last !== undefined && world.stateOf(last) === 'active')
          world.reply({ op: 'complete', seq: last.seq, run: world.row(last).run, output: null })
      }
      // Every key that is held is held by a job that is yet to start: the audit of each turn says the rest.
      expect(world.store.uniqueKeys.size).toBeLessThanOrEqual(1)
    }),
    { numRuns: runs(200) },
  )
})
