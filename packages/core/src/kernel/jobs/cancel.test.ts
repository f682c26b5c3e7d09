/** Tests how jobs are cancelled: before they start, while they run, for a reason, and by their own handler. */

import { describe, expect, test } from 'vitest'
import { ACTIVE, CANCELLED } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'

const ERROR = { name: 'E', message: 'm' }

describe('E11: a job that has not started is cancelled at once', () => {
  test.each([
    ['waiting', {}],
    ['scheduled', { delay: 100 }],
  ] as const)('a %s job is cancelled at once, and another one stays as it was', (state, options) => {
    const world = new World()
    const job = world.enqueue('a', options)
    const bystander = world.enqueue('a', options)
    expect(world.stateOf(job)).toBe(state)
    const { replies, events } = world.cancel(job)
    expect([replies, events.map((event) => event.type)]).toEqual([['cancelled'], ['cancelled']])
    expect([world.stateOf(job), world.stateOf(bystander)]).toEqual(['cancelled', state])
    expect(world.row(job).finishedAt).toBe(world.now.wall)
    expect(world.store.lanes.get(1)?.totals.cancelled).toBe(1)
    world.attach('s', ['a'])
    world.after(100)
    expect([world.stateOf(job), world.stateOf(bystander)]).toEqual(['cancelled', 'active'])
  })

  test('a job that waits for its retry is cancelled at once', () => {
    const world = new World()
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.fail({ seq: 1 }, { retry: 50 })
    world.cancel(job)
    expect(world.stateOf(job)).toBe('cancelled')
    expect(world.after(50).grants).toEqual([])
  })

  test('a job in the middle of a window in memory is cancelled, and those around it start in their order', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    for (let count = 0; count < 4; count++) world.enqueue('a')
    world.cancel({ seq: 3 })
    expect(world.complete({ seq: 1 }).grants).toMatchObject([{ seq: 2 }])
    expect(world.complete({ seq: 2 }).grants).toMatchObject([{ seq: 4 }])
  })

  test('a job is found although its record has left memory in the same turn', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    world.enqueue('a')
    const waiting = world.enqueue('a')
    expect(world.turn({ op: 'giveBack', seq: 1, run: 1 }, { op: 'cancel', id: waiting }).replies).toEqual([true, 'cancelled'])
  })
})

describe('E11: a running job is cancelled through its signal', () => {
  function cancelling(): World {
    const world = new World()
    world.attach('s', ['a'], { abortGrace: 30 })
    const job = world.enqueue('a', { maxAttempts: 4, timeout: 1_000 })
    world.enqueue('a')
    const turned = world.cancel(job)
    expect(turned.replies).toEqual(['cancelling'])
    expect(turned.notices).toEqual([{ kind: 'abort', cause: 'cancel', session: 's', seq: 1, run: 1 }])
    expect(world.row(job)).toMatchObject({ state: ACTIVE, cancelRequested: true })
    expect(world.tables.sessions.get('s')?.weight).toBe(2)
    return world
  }

  test.each([
    ['complete', { op: 'complete', seq: 1, run: 1, output: 'ignored', enqueues: [{ name: 'child', data: null }] }],
    ['fail', { op: 'fail', seq: 1, run: 1, error: ERROR, retry: 0 }],
    ['snooze', { op: 'snooze', seq: 1, run: 1, delay: 5 }],
    ['giveBack', { op: 'giveBack', seq: 1, run: 1 }],
    ['leave', { op: 'leave', session: 's' }],
  ] as const)('a running job that is asked to stop ends as cancelled, whatever its worker does: %s', (_what, command) => {
    const world = cancelling()
    expect(world.run(command).replies).toEqual([true])
    expect(world.row({ seq: 1 })).toMatchObject({ state: CANCELLED, output: null })
    expect(world.store.rows.has(3)).toBe(false)
    expect(world.stateOf({ seq: 2 })).toBe(command.op === 'leave' ? 'waiting' : 'active')
    expect(world.store.runs.map((run) => [run.seq, run.run])).toEqual([[1, 1]])
  })

  test('a handler is asked to stop once, however often its job is cancelled', () => {
    const world = cancelling()
    expect(world.cancel({ seq: 1 })).toMatchObject({ replies: ['cancelling'], notices: [] })
  })

  test('a handler that continues loses its run when the grace is over', () => {
    const world = cancelling()
    expect(world.after(29).notices).toEqual([])
    expect(world.after(1).notices).toEqual([{ kind: 'lost', session: 's', seq: 1, run: 1 }])
    expect([world.stateOf({ seq: 1 }), world.tables.sessions.get('s')?.weight]).toEqual(['cancelled', 1])
    expect(world.tables.sessions.get('s')?.zombies).toBe(1)
  })

  test('a heartbeat does not prolong the grace of a cancelled run', () => {
    const world = cancelling()
    world.pass(29)
    expect(world.run({ op: 'heartbeat', seq: 1, run: 1 }).replies).toEqual([true])
    world.after(1)
    expect(world.stateOf({ seq: 1 })).toBe('cancelled')
  })

  test('an acknowledged cancel survives a crash, whether the session comes back or not', () => {
    for (const alive of [['s'], []]) {
      const world = cancelling()
      world.reload(...alive)
      world.run()
      if (alive.length > 0) {
        const { notices } = world.run({ ...attachAgain(), held: [{ seq: 1, run: 1 }] })
        // The other run is given back: it is not among what the session holds.
        expect(notices).toEqual([
          { kind: 'abort', cause: 'cancel', session: 's', seq: 1, run: 1 },
          { kind: 'lost', session: 's', seq: 2, run: 1 },
        ])
        world.complete({ seq: 1 }, 'x')
      }
      expect(world.stateOf({ seq: 1 })).toBe('cancelled')
    }
  })
})

test('a cancel does not delay the deadline of a run whose session has yet to come back', () => {
  const world = new World()
  world.attach('s', ['a'])
  const policy = { timeout: 1_000, heartbeatTimeout: 1_000 }
  const job = world.enqueue('a', policy)
  const bystander = world.enqueue('a', policy)
  world.reload('s')
  world.after(LIMITS.reattachGraceMs - 10)
  expect(world.cancel(job).replies).toEqual(['cancelling'])
  world.after(9)
  expect([world.stateOf(job), world.stateOf(bystander)]).toEqual(['active', 'active'])
  world.after(1)
  expect([world.stateOf(job), world.stateOf(bystander)]).toEqual(['cancelled', 'waiting'])
})

function attachAgain() {
  return {
    op: 'attach' as const,
    session: {
      uuid: 's',
      worker: 'w',
      host: 'h',
      pid: 1,
      local: true,
      handlers: [{ name: 'a', defaults: {} }],
      minConcurrency: 9,
      maxConcurrency: 9,
      abortGrace: 30,
    },
  }
}

test('a cancel is refused with JOB_FINISHED after the end of the job, and with JOB_NOT_FOUND for an unknown id', () => {
  const world = new World()
  world.attach('s', ['a'])
  const job = world.enqueue('a')
  world.complete({ seq: 1 })
  expect(world.refusal({ op: 'cancel', id: job })).toBe('JOB_FINISHED')
  expect(world.refusal({ op: 'cancel', id: { ...job, seq: 9 } })).toBe('JOB_NOT_FOUND')
  expect(world.refusal({ op: 'cancel', id: { ...job, node: 9 } })).toBe('JOB_NOT_FOUND')
  expect(world.refusal({ op: 'cancel', id: { ...job, enqueuedAt: 9 } })).toBe('JOB_NOT_FOUND')
})

test('a second cancel of a job in one turn is refused as too late', () => {
  const world = new World()
  const job = world.enqueue('a')
  expect(world.turn({ op: 'cancel', id: job }, { op: 'cancel', id: job }).replies.map(codeOf)).toEqual([undefined, 'JOB_FINISHED'])
})

test('many jobs are cancelled in one turn', () => {
  const world = new World()
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  const jobs = Array.from({ length: 35 }, () => world.enqueue('a'))
  world.turn(...jobs.filter((job) => job.seq % 2 === 0).map((id) => ({ op: 'cancel', id }) as const), enqueueing({ name: 'a' }))
  const states = [...world.store.rows.values()].map((row) => row.state)
  expect(states.filter((state) => state === CANCELLED)).toHaveLength(17)
})

describe('a cancel with a reason and the name of its author', () => {
  const SAID = { reason: 'wrong file', by: 'ada' }

  test('the reason is stored with a job that has not started, and with no other job', () => {
    const world = new World()
    const [job, tagged, bystander] = world.enqueueAll({ name: 'a' }, { name: 'a', tags: ['t'] }, { name: 'a' })
    world.turn({ op: 'cancel', id: job, ...SAID }, { op: 'cancel', id: tagged, by: 'ada' })
    expect([job, tagged, bystander].map((one) => world.row(one).extras)).toEqual([
      { cancel: SAID },
      { tags: ['t'], cancel: { by: 'ada' } },
      undefined,
    ])
    expect(world.stateOf(bystander)).toBe('waiting')
  })

  test('a cancel with an empty reason stores no reason', () => {
    const world = new World()
    const job = world.enqueue('a')
    world.cancel(job, { reason: '', by: '' })
    expect([world.stateOf(job), world.row(job).extras]).toEqual(['cancelled', undefined])
  })

  test('the reason is stored, and reaches the handler of a running job, again after a crash', () => {
    const world = new World()
    world.attach('s', ['a'], { abortGrace: 30 })
    const job = world.enqueue('a')
    const bystander = world.enqueue('a')
    const notice = { kind: 'abort', cause: 'cancel', ...SAID, session: 's', seq: 1, run: 1 }
    expect(world.cancel(job, SAID).notices).toEqual([notice])
    // What is said second comes too late.
    expect(world.cancel(job, { reason: 'another' }).notices).toEqual([])
    expect(world.row(job)).toMatchObject({ state: ACTIVE, extras: { cancel: SAID } })
    world.reload('s')
    world.run()
    const held = [job, bystander].map(({ seq }) => ({ seq, run: 1 }))
    expect(world.run({ ...attachAgain(), held }).notices).toEqual([notice])
    world.fail({ seq: 1 })
    expect([world.row(job).extras, world.row(bystander).extras]).toEqual([{ cancel: SAID }, undefined])
  })

  test('an abort after a timeout has no reason of a cancel', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: 10 })
    expect(world.after(10).notices).toEqual([{ kind: 'abort', cause: 'timeout', session: 's', seq: 1, run: 1 }])
  })

  test('the reason of a cancelMany is stored with each job that it cancels', () => {
    const world = new World()
    const jobs = [world.enqueue('a'), world.enqueue('a'), world.enqueue('b')]
    world.run({ op: 'cancelMany', filter: { name: 'a' }, limit: 9, dryRun: false, ...SAID })
    expect(jobs.map((job) => world.row(job).extras)).toEqual([{ cancel: SAID }, { cancel: SAID }, undefined])
  })

  test('the reason is forgotten when the job is retried', () => {
    const world = new World()
    const [job, tagged] = [world.enqueue('a'), world.enqueue('a', { tags: ['t'] })]
    for (const id of [job, tagged]) world.run({ op: 'cancel', id, ...SAID }, { op: 'retry', id })
    expect([world.row(job).extras?.cancel, world.row(tagged).extras]).toEqual([undefined, { tags: ['t'], explicit: ['ttl'] }])
    world.cancel(job)
    expect([world.stateOf(job), world.row(job).extras?.cancel]).toEqual(['cancelled', undefined])
  })
})

describe('a handler that cancels its own job', () => {
  const cancelling = {
    op: 'fail',
    seq: 1,
    run: 1,
    error: { name: 'CancelJobError', message: 'no longer wanted' },
    retry: false,
    cancel: true,
  } as const

  test('the job ends as cancelled, whatever attempts are left, and its worker is named as the author', () => {
    const world = new World()
    world.attach('s', ['a'])
    const [job, bystander] = [world.enqueue('a', { maxAttempts: 4 }), world.enqueue('a')]
    const { replies, events } = world.run(cancelling)
    expect([replies, events.map(({ type }) => type)]).toEqual([[true], ['cancelled']])
    expect(world.row(job)).toMatchObject({ state: CANCELLED, extras: { cancel: { reason: 'no longer wanted', by: 'worker of s' } } })
    expect(world.store.runs.map(({ seq, error }) => [seq, error?.name])).toEqual([[1, 'CancelJobError']])
    expect(world.stateOf(bystander)).toBe('active')
    expect(world.store.failures(undefined, 9, 'last')).toEqual([])
  })

  test('the message of the handler is cut at the length of a reason', () => {
    const world = new World()
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.run({ ...cancelling, error: { name: 'CancelJobError', message: 'x'.repeat(4_000) } })
    expect(world.row(job).extras?.cancel?.reason).toHaveLength(LIMITS.reasonLength)
  })

  test('the cancel of a handler comes too late for a run that has timed out or ended', () => {
    const world = new World()
    world.attach('s', ['a'])
    const job = world.enqueue('a', { timeout: 10, maxAttempts: 1 })
    world.after(10)
    world.run(cancelling)
    expect([world.stateOf(job), world.row(job).extras]).toEqual(['failed', undefined])
    expect(world.refusal(cancelling)).toBe('STALE_RUN')
  })
})
