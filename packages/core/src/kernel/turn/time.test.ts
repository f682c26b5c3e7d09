/** Tests what happens by time alone: deadlines of runs, due times and the ttl of jobs. */

import { describe, expect, test } from 'vitest'
import { COMPLETED, FAILED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { enqueueing, World } from '../../testing/world.ts'

const ERROR = { name: 'E', message: 'm' }

describe('E7: the deadline of a run', () => {
  function late(options: { abortGrace?: number; maxAttempts?: number } = {}): World {
    const world = new World()
    world.attach('s', ['a'], { abortGrace: options.abortGrace ?? 30, minConcurrency: 3, maxConcurrency: 3 })
    world.enqueue('a', { timeout: 100, maxAttempts: options.maxAttempts ?? 2, backoff: { type: 'fixed', delay: 10 } })
    world.enqueue('a', { timeout: Number.POSITIVE_INFINITY })
    return world
  }

  test('timeout-aborts-handler-signal: a run that times out is asked to stop, and its job keeps its state and its slot until the run ends', () => {
    const world = late()
    expect(world.after(99).notices).toEqual([])
    expect(world.after(1).notices).toEqual([{ kind: 'abort', cause: 'timeout', session: 's', seq: 1, run: 1 }])
    expect([world.stateOf({ seq: 1 }), world.tables.sessions.get('s')?.weight]).toEqual(['active', 2])
    expect(world.after(29).notices).toEqual([])
    expect(world.fail({ seq: 1 }).replies).toEqual([true])
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, run: 1, runAt: world.now.wall + 10 })
    // Its error is the engine's, not what the handler made of the abort.
    expect(world.store.runs).toMatchObject([{ seq: 1, run: 1, error: { name: 'JobTimeoutError' } }])
    expect(world.tables.sessions.get('s')).toMatchObject({ weight: 1, zombies: 0 })
    expect(world.stateOf({ seq: 2 })).toBe('active')
  })

  test('a completion after the deadline is stale and ends the run, and the job is retried', () => {
    const world = late()
    world.after(100)
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'late' })).toBe('STALE_RUN')
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, output: null })
    expect(world.tables.sessions.get('s')?.weight).toBe(1)
    expect(world.after(10).grants).toMatchObject([{ seq: 1, run: 2, attempt: 2 }])
  })

  test('a job whose last attempt completes after the deadline fails, and stays failed', () => {
    const world = late({ maxAttempts: 1 })
    world.after(100)
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'late' })).toBe('STALE_RUN')
    expect(world.row({ seq: 1 })).toMatchObject({ state: FAILED, output: null })
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'late' })).toBe('STALE_RUN')
    expect(world.store.lanes.get(1)?.totals).toMatchObject({ failed: 1, completed: 0 })
  })

  test('24, zombie-finish-does-not-signal-twice: a run past its grace is lost and counted as a zombie, and its slot becomes free exactly once', () => {
    const world = late({ maxAttempts: 1 })
    world.after(100)
    expect(world.after(30).notices).toEqual([{ kind: 'lost', session: 's', seq: 1, run: 1 }])
    const session = world.tables.sessions.get('s')
    expect(session).toMatchObject({ weight: 1, zombies: 1 })
    // The slot was taken by another by now; the zombie's late word frees nothing.
    world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a' }))
    expect(session?.weight).toBe(3)
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'late' })).toBe('STALE_RUN')
    expect(session).toMatchObject({ weight: 3, zombies: 0 })
    expect(world.refusal({ op: 'fail', seq: 1, run: 1, error: ERROR })).toBe('STALE_RUN')
    expect(session).toMatchObject({ weight: 3, zombies: 0 })
    expect(world.stateOf({ seq: 1 })).toBe('failed')
  })

  test('a zombie run is forgotten with its session', () => {
    const world = late({ maxAttempts: 1 })
    world.after(100)
    world.after(30)
    world.leave('s')
    expect(world.tables.zombies.size).toBe(0)
  })

  test('a run of a session without a grace ends at its deadline', () => {
    const world = late({ abortGrace: 0, maxAttempts: 1 })
    expect(world.after(100).notices).toEqual([{ kind: 'lost', session: 's', seq: 1, run: 1 }])
    expect(world.stateOf({ seq: 1 })).toBe('failed')
  })

  test('rescue-cas-after-complete: a job that completes in the turn of its deadline stays completed', () => {
    const world = late()
    world.pass(100)
    expect(world.complete({ seq: 1 }, 'in time').replies).toEqual([true])
    expect(world.row({ seq: 1 })).toMatchObject({ state: COMPLETED, output: 'in time' })
    world.after(1_000_000)
    expect(world.row({ seq: 1 })).toMatchObject({ state: COMPLETED, run: 1 })
  })

  test('a handler that snoozes after its deadline has failed its run all the same', () => {
    const world = late()
    world.after(100)
    world.snooze({ seq: 1 }, 5)
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, uncounted: 0 })
  })

  test('rescue-pagination-starvation: all runs past their deadline end, however many there are', () => {
    const world = new World({ audited: false })
    const count = LIMITS.sliceRows + 100
    world.attach('s', ['a'], { abortGrace: 0, minConcurrency: 9_999, maxConcurrency: 9_999 })
    world.run(enqueueing(...Array.from({ length: count }, () => ({ name: 'a', timeout: 10, maxAttempts: 1 }))))
    world.after(10)
    expect([...world.store.rows.values()].every((row) => row.state === FAILED)).toBe(true)
  })
})

describe('E3: jobs become due', () => {
  test('due-boundary-inclusive: a job starts at its due time, not a millisecond before or after', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { delay: 50 })
    expect(world.after(49).grants).toEqual([])
    const { grants, events } = world.after(1)
    expect(grants).toMatchObject([{ seq: 1, run: 1 }])
    expect(events.map((event) => event.type)).toEqual(['promoted', 'started'])
  })

  test('the next due time of all jobs is known exactly, so that the engine need not poll', () => {
    const world = new World()
    const { wall } = world.now
    world.enqueue('a', { delay: 70 })
    expect(world.tables.dueAt).toBe(wall + 70)
    world.enqueue('a', { delay: 30 })
    expect(world.tables.dueAt).toBe(wall + 30)
    world.after(30)
    expect(world.tables.dueAt).toBe(wall + 70)
    world.after(40)
    expect(world.tables.dueAt).toBe(0)
  })

  test('a due time of a job that was cancelled does not make the engine spin', () => {
    const world = new World()
    const soon = world.enqueue('a', { delay: 10, ttl: 10 })
    world.enqueue('a', { delay: 1_000 })
    world.cancel(soon)
    world.after(10)
    expect(world.tables.dueAt).toBe(world.now.wall + 990)
    expect(world.tables.expiresAt).toBe(0)
    const { writes } = world.store
    world.after(100)
    expect(world.store.writes).toBe(writes)
  })

  test('all jobs that are due at once become due in slices, in their order', () => {
    const world = new World({ audited: false })
    const count = LIMITS.sliceRows * 2 + 1
    world.run(enqueueing(...Array.from({ length: count }, (_, index) => ({ name: 'a', delay: count - index }))))
    world.pass(count)
    const first = world.turn()
    expect(first.events.map((event) => event.seq)).toEqual(Array.from({ length: LIMITS.sliceRows }, (_, index) => count - index))
    world.run()
    expect([...world.store.rows.values()].every((row) => row.state === WAITING)).toBe(true)
  })

  test('22, delay-over-2^31ms: a job with a delay of more than 2^31 ms starts at its time', () => {
    const world = new World()
    world.attach('s', ['a'])
    const delay = 2 ** 31 + 5
    world.enqueue('a', { delay })
    expect(world.after(delay - 1).grants).toEqual([])
    expect(world.after(1).grants).toHaveLength(1)
    world.enqueue('a', { delay: LIMITS.durationMs })
    expect(world.row({ seq: 2 }).runAt).toBe(world.now.wall + LIMITS.durationMs)
  })

  test('22: a wall clock that jumps affects due times, and neither deadlines nor leases', () => {
    const world = new World()
    world.attach('s', ['a'], { local: false })
    world.enqueue('a', { timeout: 500, heartbeatTimeout: 1_000 })
    world.enqueue('a', { delay: 3_600_000 })
    world.now = { wall: world.now.wall + 7_200_000, mono: world.now.mono }
    const { grants, notices } = world.run()
    expect([grants.map((grant) => grant.seq), notices]).toEqual([[2], []])
    world.now = { wall: world.now.wall - 10_800_000, mono: world.now.mono + 499 }
    expect(world.run().notices).toEqual([])
    world.now = { wall: world.now.wall, mono: world.now.mono + 1 }
    expect(world.run().notices).toMatchObject([{ kind: 'abort', cause: 'timeout', seq: 1 }])
  })
})

describe('the ttl of a job', () => {
  const expired = (world: World) => world.store.runs.map(({ seq, error }) => [seq, error?.name])

  test.each([
    ['waiting', {}],
    ['scheduled', { delay: 100 }],
  ] as const)('a job that has not started when its ttl is over fails: %s', (_state, options) => {
    const world = new World()
    world.enqueue('a', { ...options, ttl: 50 })
    world.enqueue('a', options)
    world.after(49)
    expect(world.stateOf({ seq: 1 })).not.toBe('failed')
    const { events } = world.after(1)
    expect(events.map((event) => [event.type, event.seq])).toEqual([['failed', 1]])
    expect([world.stateOf({ seq: 1 }), world.stateOf({ seq: 2 })]).toEqual(['failed', _state])
    expect(expired(world)).toEqual([[1, 'JobExpiredError']])
    expect(world.store.lanes.get(1)?.totals.failed).toBe(1)
  })

  test('a job in a window in memory fails when its ttl is over, and does not start', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    world.run(enqueueing({ name: 'a' }, { name: 'a', ttl: 50 }, { name: 'a' }))
    world.pass(50)
    expect(world.complete({ seq: 1 }).grants).toMatchObject([{ seq: 3 }])
    expect(world.stateOf({ seq: 2 })).toBe('failed')
  })

  test('a job that started in time is not affected by its ttl, nor is its retry', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { ttl: 50, maxAttempts: 2 })
    world.after(60)
    expect(world.stateOf({ seq: 1 })).toBe('active')
    world.fail({ seq: 1 }, { retry: 10 })
    expect(world.after(10).grants).toMatchObject([{ run: 2 }])
  })

  test('a job that its handler snoozed is not affected by its ttl', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { ttl: 50 })
    world.snooze({ seq: 1 }, 100)
    expect(world.after(100).grants).toMatchObject([{ seq: 1, run: 2 }])
  })

  test('a job that was given back before it started expires when its ttl is over', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { ttl: 50 })
    // Another job's expiry, so that the earliest one is read anew while the first runs.
    world.enqueue('b', { ttl: 10 })
    world.after(10)
    world.leave('s')
    expect(world.stateOf({ seq: 1 })).toBe('waiting')
    world.after(40)
    expect(world.stateOf({ seq: 1 })).toBe('failed')
  })

  describe('more jobs whose ttl is over than one turn can fail', () => {
    const many = enqueueing(...Array.from({ length: LIMITS.sliceRows + 9 }, () => ({ name: 'a', ttl: 10, priority: 1 })))

    test('no expired job starts although it is first in line', () => {
      const world = new World({ audited: false })
      world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
      const running = world.enqueue('a')
      const lasting = world.enqueue('a')
      world.run(many)
      world.pass(10)
      expect(world.turn({ op: 'complete', seq: running.seq, run: 1, output: null }).grants).toMatchObject([{ seq: lasting.seq }])
    })

    test('no expired job starts by passing a heavy job', () => {
      const world = new World({ audited: false })
      world.attach('s', ['a'], { minConcurrency: 2, maxConcurrency: 2 })
      const [running] = [world.enqueue('a'), world.enqueue('a'), world.enqueue('a', { weight: 2, priority: 2 })]
      world.run(many)
      world.pass(10)
      expect(world.turn({ op: 'complete', seq: running?.seq ?? 0, run: 1, output: null }).grants).toEqual([])
    })
  })

  test('all jobs whose ttl is over fail, a slice at a time', () => {
    const world = new World({ audited: false })
    world.run(enqueueing(...Array.from({ length: LIMITS.sliceRows + 9 }, () => ({ name: 'a', ttl: 10 }))))
    world.after(10)
    expect([...world.store.rows.values()].every((row) => row.state === FAILED)).toBe(true)
    expect(world.tables.expiresAt).toBe(0)
  })
})
