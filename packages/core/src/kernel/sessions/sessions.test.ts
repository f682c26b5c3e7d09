/** Tests sessions that attach, attach again, drain, leave, fall silent and die. */

import { describe, expect, test } from 'vitest'
import type { NewJob } from '../../commands.ts'
import { ACTIVE, FAILED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'

const two = { minConcurrency: 2, maxConcurrency: 2 }
const remote = { local: false }
const LEASE_MS = 50
let renewals = 0
const renewal = (): Command => ({ op: 'renew', renewal: ++renewals })

describe('attaching a session', () => {
  test('a new session takes the jobs that wait', () => {
    const world = new World()
    world.run(enqueueing({ name: 'a', data: '1' }, { name: 'a', data: '2' }, { name: 'a' }))
    const { replies, grants } = world.run(attaching('s', ['a'], two))
    expect(replies).toEqual([{ lost: [] }])
    expect(grants).toMatchObject([
      { session: 's', seq: 1, run: 1, data: '1' },
      { session: 's', seq: 2, run: 1, data: '2' },
    ])
    expect([...world.store.sessions]).toEqual([[1, { uuid: 's', worker: 'worker of s', remote: false, presence: 'here', process: '' }]])
  })

  test('a session stores the definitions of its handlers, and writes them again only if they have changed', () => {
    const world = new World()
    const handlers = [{ name: 'a', defaults: { priority: 1, timeout: Number.POSITIVE_INFINITY } }]
    world.attach('s', ['a'], { handlers })
    expect(world.tables.definitions.inForce.get('a')?.defaults).toEqual(handlers[0]?.defaults)
    const { writes } = world.store
    world.attach('s', ['a'], { handlers })
    expect(world.store.writes).toBe(writes)
    world.attach('s', ['a'], { handlers: [{ name: 'a', defaults: { priority: 2 } }] })
    expect(world.store.definitions.get('a')?.definition.defaults).toEqual({ priority: 2 })
  })

  test('a session that attaches again keeps the runs that it holds; runs that it never received are given back uncounted, and all others are lost', () => {
    const world = new World()
    world.attach('s', ['a'], two)
    world.run(enqueueing({ name: 'a', maxAttempts: 1 }, { name: 'a', maxAttempts: 1 }))
    const { replies, grants, notices } = world.run(
      attaching('s', ['a'], two, [
        { seq: 1, run: 1 },
        { seq: 2, run: 9 },
        { seq: 77, run: 1 },
      ]),
    )
    expect(replies).toEqual([
      {
        lost: [
          { seq: 2, run: 9 },
          { seq: 77, run: 1 },
        ],
      },
    ])
    expect(grants).toMatchObject([{ session: 's', seq: 2, run: 2, attempt: 1 }])
    // That run may have been under way to it all the same.
    expect(notices).toEqual([{ kind: 'lost', session: 's', seq: 2, run: 1 }])
    expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 1, uncounted: 0 })
    world.complete({ seq: 1 })
    expect(world.refusal({ op: 'complete', seq: 2, run: 1, output: null })).toBe('STALE_RUN')
    expect(world.tables.sessions.size).toBe(1)
  })

  test('17: a session cannot claim the runs of another one', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a')
    expect(world.attach('thief', ['a'], {}, [{ seq: 1, run: 1 }])).toEqual({ lost: [{ seq: 1, run: 1 }] })
    expect(world.tables.jobs.get(1)?.session?.intro.uuid).toBe('s')
  })

  test('a run that has ended meanwhile is lost for a session that attaches again', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a')
    world.complete({ seq: 1 })
    expect(world.attach('s', ['a'], {}, [{ seq: 1, run: 1 }])).toEqual({ lost: [{ seq: 1, run: 1 }] })
    expect(world.stateOf({ seq: 1 })).toBe('completed')
  })

  test('a session that attaches again with other job names or queues gives back only the runs that it no longer serves', () => {
    const world = new World()
    world.attach('s', ['a', 'b'], two)
    world.run(enqueueing({ name: 'a' }, { name: 'b' }))
    world.run(enqueueing({ name: 'b', queue: 'other' }))
    const held = [1, 2].map((seq) => ({ seq, run: 1 }))
    const { replies, grants, notices } = world.run(attaching('s', ['b'], two, held))
    expect(replies).toEqual([{ lost: [{ seq: 1, run: 1 }] }])
    expect(notices).toEqual([{ kind: 'lost', session: 's', seq: 1, run: 1 }])
    expect(grants).toMatchObject([{ seq: 3, session: 's' }])
    expect(world.tables.sessions.get('s')?.weight).toBe(2)
    expect(
      world.run(
        attaching('s', ['b'], { ...two, queues: ['other'] }, [
          { seq: 2, run: 1 },
          { seq: 3, run: 1 },
        ]),
      ).replies,
    ).toEqual([{ lost: [{ seq: 2, run: 1 }] }])
    expect(world.complete({ seq: 3 }).replies).toEqual([true])
  })

  test('a session that attaches again gets the abort that it may have missed', () => {
    const world = new World()
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.cancel(job)
    const { notices } = world.run(attaching('s', ['a'], {}, [{ seq: 1, run: 1 }]))
    expect(notices).toEqual([{ kind: 'abort', cause: 'cancel', session: 's', seq: 1, run: 1 }])
  })
})

describe('a session that leaves or drains', () => {
  test('close-during-fetch-returns-job: a session that leaves gives all its jobs back, uncounted, to the next session', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.run(enqueueing({ name: 'a', maxAttempts: 1, data: 'x' }, { name: 'a', maxAttempts: 1 }))
    world.attach('t', ['a'])
    const { grants } = world.leave('s')
    expect(grants).toMatchObject([
      { session: 't', seq: 1, run: 2, attempt: 1, data: 'x' },
      { session: 't', seq: 2, run: 2, attempt: 1 },
    ])
    expect(world.tables.sessions.has('s')).toBe(false)
  })

  test('a session that drains keeps its runs and can complete them, and gets no more jobs', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a')
    world.run({ op: 'drain', session: 's' })
    world.enqueue('a')
    expect(world.stateOf({ seq: 2 })).toBe('waiting')
    world.call({ op: 'heartbeat', seq: 1, run: 1 })
    world.complete({ seq: 1 })
    expect(world.stateOf({ seq: 2 })).toBe('waiting')
  })

  test('an unknown session can leave and drain, and a connection without sessions can renew', () => {
    const world = new World()
    const replies = (['leave', 'drain'] as const).map((op) => world.run({ op, session: 'nobody' }).replies[0])
    expect([...replies, world.run(renewal()).replies[0]]).toEqual([true, true, true])
  })
})

test('a connection that breaks while a renewal is on its way leaves nothing in memory', () => {
  const world = new World()
  world.attach('s', ['a'])
  world.run(renewal())
  const kept = world.tables.renewals.size
  world.gone = true
  for (world.connection = 1_000; world.connection < 2_000; world.connection++) world.run(renewal())
  expect([kept, world.tables.renewals.size]).toEqual([1, 1])
})

describe('Q4: a worker that an operator stops', () => {
  test('all sessions of the worker get no more jobs and keep their runs, and no other session is asked to stop', () => {
    const world = new World()
    for (const uuid of ['s', 't']) world.attach(uuid, ['a'], { worker: 'mine' })
    world.attach('bystander', ['b'], { worker: 'another' })
    world.run(enqueueing({ name: 'a' }, { name: 'b' }))
    const { replies, stops } = world.run({ op: 'stopWorker', worker: 'mine', timeout: 5 }, enqueueing({ name: 'a' }, { name: 'b' }))
    expect(replies[0]).toBe(true)
    expect(stops).toEqual(['s', 't'])
    const waiting = [1, 2, 3, 4].filter((seq) => world.stateOf({ seq }) === 'waiting')
    expect(waiting).toEqual([3])
    expect(['s', 't', 'bystander'].map((uuid) => world.tables.sessions.get(uuid)?.stopMs)).toEqual([5, 5, undefined])
    world.complete({ seq: 1 })
    expect(world.stateOf({ seq: 1 })).toBe('completed')
  })

  test('a session of the worker that attaches again is asked to stop again, and gets no job in between', () => {
    const world = new World()
    world.attach('s', ['a'], { worker: 'mine' })
    world.enqueue('a')
    world.run({ op: 'stopWorker', worker: 'mine', timeout: 5 })
    const { grants, stops } = world.run(attaching('s', ['a'], { worker: 'mine' }, [{ seq: 1, run: 1 }]), enqueueing({ name: 'a' }))
    expect([grants, stops]).toEqual([[], ['s']])
    world.leave('s')
    // Another one of that name is another worker.
    expect(world.run(attaching('t', ['a'], { worker: 'mine' })).stops).toEqual([])
    expect(world.stateOf({ seq: 2 })).toBe('active')
  })

  test('a stop of a worker that is not attached is refused', () => {
    const world = new World()
    world.attach('s', ['a'], { worker: 'mine' })
    expect(world.refusal({ op: 'stopWorker', worker: 'another', timeout: 5 })).toBe('WORKER_NOT_FOUND')
    world.leave('s')
    expect(world.refusal({ op: 'stopWorker', worker: 'mine', timeout: 5 })).toBe('WORKER_NOT_FOUND')
  })
})

describe('N4: leases of remote sessions', () => {
  function silent({ recovery = 'immediate', ...options }: { recovery?: 'immediate' | 'backoff' } & Partial<NewJob> = {}): World {
    const world = new World({ settings: { recovery } })
    world.attach('s', ['a'], { ...remote, abortGrace: 0 })
    world.enqueue('a', {
      maxAttempts: 3,
      backoff: { type: 'fixed', delay: 20 },
      data: 'x',
      heartbeatTimeout: LEASE_MS,
      ...options,
    })
    world.attach('local', ['b'])
    world.enqueue('b')
    return world
  }

  test('M8: a session that is silent for longer than its lease loses its jobs: the attempt counts, and the jobs run again', () => {
    const world = silent()
    expect(world.after(49).notices).toEqual([])
    const { notices, events } = world.after(1)
    expect(notices).toEqual([{ kind: 'lost', session: 's', seq: 1, run: 1 }])
    expect(events.map((event) => event.type)).toEqual(['stalled', 'retrying'])
    expect(world.row({ seq: 1 })).toMatchObject({ state: WAITING, run: 1, uncounted: 0 })
    expect(world.store.runs).toMatchObject([{ seq: 1, run: 1, worker: 'worker of s', error: { name: 'WorkerLostError' } }])
    expect(world.tables.sessions.get('s')).toMatchObject({ silent: true, underfilled: false })
    expect(world.stateOf({ seq: 2 })).toBe('active')
    expect(world.run(attaching('t', ['a'])).grants).toMatchObject([{ seq: 1, run: 2, attempt: 2, data: 'x' }])
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'late' })).toBe('STALE_RUN')
  })

  test('a session that renews its lease keeps its jobs, however long they take', () => {
    const world = silent()
    for (let beat = 0; beat < 20; beat++) {
      world.after(49)
      world.run(renewal())
    }
    expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 1 })
  })

  test('33: a renewal that arrives in the turn of the expiry is handled before the expiry', () => {
    const world = silent()
    world.pass(50)
    expect(world.run(renewal()).notices).toEqual([])
    expect(world.stateOf({ seq: 1 })).toBe('active')
  })

  test('a local session has no lease', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { timeout: Number.POSITIVE_INFINITY })
    world.run(renewal())
    world.after(LIMITS.durationMs)
    expect(world.stateOf({ seq: 1 })).toBe('active')
  })

  test('a lost job waits for its backoff with recovery by backoff', () => {
    const world = silent({ recovery: 'backoff' })
    world.after(50)
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + 20 })
  })

  test('16, poison-pill-dead-after-3: at its last attempt a job whose worker always dies fails with WorkerLostError', () => {
    const world = silent({ maxAttempts: 3 })
    world.after(50)
    for (let run = 2; run <= 3; run++) {
      world.attach(`s${run}`, ['a'], remote)
      expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run })
      world.after(50)
    }
    expect(world.row({ seq: 1 })).toMatchObject({ state: FAILED, run: 3 })
    expect(world.store.lastError(1)).toMatchObject({ name: 'WorkerLostError' })
    expect(world.store.runs.map((run) => run.attempt)).toEqual([1, 2, 3])
  })

  describe('maxLost: a run that loses its worker uses no attempt', () => {
    const dying = (maxLost: number, maxAttempts = 2): World => {
      const world = silent({ maxLost, maxAttempts })
      world.after(50)
      return world
    }
    const next = (world: World, run: number) => {
      world.attach(`s${run}`, ['a'], remote)
      return world.row({ seq: 1 })
    }

    test('a job survives as many lost runs as maxLost allows, across crashes; the next one fails it, and another job continues', () => {
      const world = dying(2)
      expect(world.row({ seq: 1 })).toMatchObject({ state: WAITING, run: 1, uncounted: 1, extras: { lost: 1 } })
      world.reload('local')
      world.run(attaching('local', ['b'], {}, [{ seq: 2, run: 1 }]))
      expect(next(world, 2)).toMatchObject({ state: ACTIVE, run: 2 })
      world.after(50)
      expect(world.row({ seq: 1 })).toMatchObject({ state: WAITING, uncounted: 2, extras: { lost: 2 } })
      next(world, 3)
      const { events } = world.after(50)
      expect(events.map(({ type }) => type)).toEqual(['stalled', 'failed'])
      expect(world.row({ seq: 1 })).toMatchObject({ state: FAILED, run: 3, extras: { lost: 3 } })
      expect(world.store.lastError(1)).toMatchObject({ name: 'WorkerLostError', message: expect.stringContaining('maxLost allows 2') })
      expect(world.store.runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
      expect([world.stateOf({ seq: 2 }), world.row({ seq: 2 }).extras]).toEqual(['active', undefined])
    })

    test('a job with maxLost 0 fails at its first lost run, whatever attempts are left', () => {
      const world = dying(0, 9)
      expect(world.row({ seq: 1 })).toMatchObject({ state: FAILED, run: 1 })
    })

    test('a failed run uses an attempt, and is not counted as a lost run', () => {
      const world = dying(9)
      next(world, 2)
      world.fail({ seq: 1 }, { retry: 0 })
      expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 3, uncounted: 1, extras: { lost: 1 } })
      world.fail({ seq: 1 }, { retry: 0 })
      expect(world.row({ seq: 1 })).toMatchObject({ state: FAILED, extras: { lost: 1 } })
    })

    test('a retry by hand resets the count of lost runs', () => {
      const world = dying(0)
      world.retry({ seq: 1 })
      expect(world.row({ seq: 1 }).extras?.lost).toBeUndefined()
    })

    test('a job whose cancel is requested ends as cancelled when its run is lost', () => {
      const world = silent({ maxLost: 0 })
      world.cancel({ seq: 1 })
      world.after(50)
      expect(world.stateOf({ seq: 1 })).toBe('cancelled')
    })

    test('a job with recovery by backoff waits longer after each lost run, and fails after its maxAge', () => {
      const world = silent({ recovery: 'backoff', maxLost: 9, maxAge: 250, backoff: { type: 'linear', delay: 20 } })
      for (const [run, pause] of [
        [1, 20],
        [2, 40],
      ] as const) {
        world.after(50)
        expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + pause })
        world.after(pause)
        next(world, run + 1)
      }
      world.after(50)
      expect(world.row({ seq: 1 })).toMatchObject({ state: FAILED, extras: { lost: 3 } })
      expect(world.store.lastError(1)?.message).not.toContain('maxLost')
    })
  })

  test('reap-then-reregister: a session that lost its lease attaches again, and the reply names the runs that it lost', () => {
    const world = silent()
    world.after(50)
    const { replies, grants } = world.run(attaching('s', ['a'], remote, [{ seq: 1, run: 1 }]))
    expect(replies).toEqual([{ lost: [{ seq: 1, run: 1 }] }])
    expect(grants).toMatchObject([{ session: 's', seq: 1, run: 2 }])
  })
})

describe('E10: recovery of jobs whose process is gone', () => {
  function crashed(recovery: 'immediate' | 'backoff', maxAttempts = 2): World {
    const world = new World({ settings: { recovery } })
    world.attach('dead', ['a'])
    world.run(
      enqueueing(
        { name: 'a', maxAttempts, backoff: { type: 'fixed', delay: 20 }, data: 'x' },
        { name: 'a', maxAttempts, backoff: { type: 'fixed', delay: 20 }, data: 'y' },
      ),
    )
    world.complete({ seq: 2 })
    world.enqueue('a', { delay: 1_000 })
    world.reload()
    return world
  }

  test('crash-recovery-under-2-leases: the first turn recovers all jobs at once, and their attempt counts', () => {
    const world = crashed('immediate')
    const { events } = world.turn()
    expect(events).toMatchObject([
      { type: 'stalled', seq: 1 },
      { type: 'retrying', seq: 1 },
    ])
    expect(world.row({ seq: 1 })).toMatchObject({ state: WAITING, run: 1, uncounted: 0 })
    expect([world.stateOf({ seq: 2 }), world.stateOf({ seq: 3 })]).toEqual(['completed', 'scheduled'])
    expect(world.run(attaching('next', ['a'])).grants).toMatchObject([{ seq: 1, run: 2, attempt: 2, data: 'x' }])
  })

  test('crash-recovery by backoff: a job waits for its backoff', () => {
    const world = crashed('backoff')
    world.turn()
    expect(world.row({ seq: 1 })).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + 20 })
  })

  test('crash-recovery at the last attempt: the job fails with WorkerLostError and an event', () => {
    const world = crashed('immediate', 1)
    const { events } = world.turn()
    expect(events.map((event) => event.type)).toEqual(['stalled', 'failed'])
    expect([world.stateOf({ seq: 1 }), world.store.lastError(1)?.name]).toEqual(['failed', 'WorkerLostError'])
  })

  test('a run of a dead session accepts no command, not even in the first turn', () => {
    const world = crashed('immediate')
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: 'done' })).toBe('STALE_RUN')
    expect(world.row({ seq: 1 })).toMatchObject({ state: WAITING, output: null })
  })

  test('reused-hostname-orphans-recovered: a new session of the same worker, host and pid does not inherit the runs of the dead one', () => {
    const world = crashed('immediate')
    const { replies, grants } = world.run(attaching('boot2', ['a'], { worker: 'worker of dead' }, [{ seq: 1, run: 1 }]))
    expect(replies).toEqual([{ lost: [{ seq: 1, run: 1 }] }])
    expect(grants).toMatchObject([{ session: 'boot2', seq: 1, run: 2 }])
  })

  test('no-running-row-older-than-lease: after the first turn no job runs for a session that is not there', () => {
    const world = new World({ audited: false })
    const count = LIMITS.sliceRows + 50
    world.attach('dead', ['a'], { minConcurrency: 9_999, maxConcurrency: 9_999 })
    world.run(enqueueing(...Array.from({ length: count }, () => ({ name: 'a' }))))
    world.reload()
    world.turn()
    expect([...world.store.rows.values()].filter((row) => row.state === ACTIVE)).toEqual([])
  })
})

describe('a reload while the sessions live', () => {
  function reloaded(timeout = 1_000): World {
    const world = new World()
    world.attach('s', ['a'], two)
    world.run(enqueueing({ name: 'a', timeout, heartbeatTimeout: 40 }, { name: 'a', timeout, heartbeatTimeout: 40 }))
    world.pass(100)
    world.reload('s')
    return world
  }
  const deadlineOf = (world: World, seq: number) => (world.tables.jobs.get(seq)?.deadlineMono ?? Number.NaN) - world.now.mono

  test('15: the jobs of living sessions stay active, and continue their run', () => {
    const world = reloaded()
    world.run()
    expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 1 })
    const { replies, grants, notices } = world.run(
      attaching('s', ['a'], two, [
        { seq: 1, run: 1 },
        { seq: 2, run: 1 },
      ]),
    )
    expect([replies, grants, notices]).toEqual([[{ lost: [] }], [], []])
    expect(world.tables.sessions.get('s')?.weight).toBe(2)
    world.complete({ seq: 1 })
  })

  test('a run can be completed or failed before its session has attached again, by the connection of that session', () => {
    const world = new World()
    world.attach('s', ['a'], two)
    world.run(enqueueing({ name: 'a' }, { name: 'a' }))
    world.failCommit('s')
    // Once more, before the session has come back from the first.
    world.failCommit('s')
    world.connection = 2
    expect(world.refusal({ op: 'complete', seq: 1, run: 1, output: null })).toBe('STALE_RUN')
    world.connection = 1
    world.complete({ seq: 1 })
    world.fail({ seq: 2 }, { retry: false })
    expect(world.attach('s', ['a'], two, [{ seq: 2, run: 1 }])).toEqual({ lost: [{ seq: 2, run: 1 }] })
    expect([world.stateOf({ seq: 1 }), world.stateOf({ seq: 2 })]).toEqual(['completed', 'failed'])
  })

  test('pop-only-after-commit: a job that was stored for a session and never received by it is given back uncounted', () => {
    const world = reloaded()
    const { grants } = world.run(attaching('s', ['a'], two, [{ seq: 1, run: 1 }]))
    expect(grants).toMatchObject([{ seq: 2, run: 2, attempt: 1 }])
  })

  test('a session that leaves without having attached again gives back the jobs that are stored for it', () => {
    const world = reloaded()
    world.leave('s')
    expect([world.row({ seq: 1 }), world.row({ seq: 2 })]).toMatchObject([
      { state: WAITING, run: 1, uncounted: 1 },
      { state: WAITING, run: 1, uncounted: 1 },
    ])
    expect(world.tables.unattached.size).toBe(0)
  })

  test('a session that never comes back leaves nothing in memory once its runs have ended', () => {
    const world = reloaded(100_000)
    world.pass(LIMITS.reattachGraceMs)
    world.run()
    expect(world.tables.unattached.size).toBe(1)
    world.pass(100_000)
    world.run()
    expect([world.row({ seq: 1 }).uncounted, world.tables.unattached.size]).toEqual([0, 0])
  })

  test('rebuild-rearms-all-timers: a run keeps the rest of its deadline, and its session has time to come back', () => {
    const world = reloaded(100_000)
    expect(deadlineOf(world, 1)).toBe(99_900)
    expect(deadlineOf(reloaded(110), 1)).toBe(LIMITS.reattachGraceMs)
  })

  test('a wall clock that was set back gives no run more than its timeout', () => {
    const world = new World()
    world.attach('s', ['a'], { abortGrace: 0 })
    world.run(enqueueing({ name: 'a', timeout: 100_000, heartbeatTimeout: 1_000 }, { name: 'a', timeout: Number.POSITIVE_INFINITY }))
    world.now = { ...world.now, wall: world.now.wall - 3_600_000 }
    world.reload('s')
    expect(deadlineOf(world, 1)).toBe(100_000)
    const held = [1, 2].map((seq) => ({ seq, run: 1 }))
    world.attach('s', ['a'], { abortGrace: 0 }, held)
    expect(world.after(99_999).notices).toEqual([])
    expect(world.after(1).notices).toEqual([{ kind: 'lost', session: 's', seq: 1, run: 1 }])
    expect(world.stateOf({ seq: 2 })).toBe('active')
  })

  test('a session that never comes back loses its jobs, deadline or not', () => {
    for (const timeout of [110, Number.POSITIVE_INFINITY]) {
      const world = reloaded(timeout)
      const world2 = world.after(LIMITS.reattachGraceMs - 1)
      expect([world2.events, world.stateOf({ seq: 1 })]).toEqual([[], 'active'])
      world.after(1)
      expect([world.stateOf({ seq: 1 }), world.stateOf({ seq: 2 })]).toEqual(['waiting', 'waiting'])
      expect(world.store.lastError(1)?.name).toBe('WorkerLostError')
    }
  })

  test('a run without a deadline has none again once its session is back', () => {
    const world = reloaded(Number.POSITIVE_INFINITY)
    world.attach('s', ['a'], two, [
      { seq: 1, run: 1 },
      { seq: 2, run: 1 },
    ])
    expect(world.tables.deadlines.size).toBe(0)
    world.after(LIMITS.durationMs)
    expect(world.stateOf({ seq: 1 })).toBe('active')
  })

  test('7: a reload keeps the counters, the due times and the row numbers', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a')
    world.enqueue('b', { delay: 50, ttl: 90 })
    world.enqueue('b')
    const { dueAt, expiresAt, nextSeq, nextEvent, nextSession } = world.tables
    world.reload('s')
    expect(world.tables).toMatchObject({ dueAt, expiresAt, nextSeq, nextEvent, nextSession })
    expect(world.tables.queues.get('default')?.counts).toEqual([1, 1, 1, 0, 0, 0, 0])
  })
})
