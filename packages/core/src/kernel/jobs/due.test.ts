/** The due time of a job's first run, through everything that moves `runAt`. */

import { describe, expect, test } from 'vitest'
import type { RunKey } from '../../commands.ts'
import { ACTIVE } from '../../lifecycle.ts'
import { enqueueing, keyOfJob, World } from '../../testing/world.ts'
import { viewOf } from './view.ts'

const HOUR = 3_600_000
const JOB = { seq: 1 }
const BYSTANDER = { seq: 2 }

const error = { name: 'E', message: 'm' }
const runOf = (world: World): RunKey => ({ ...JOB, run: world.row(JOB).run })
const idOf = (world: World) => keyOfJob(world.row(JOB))
const fail = (world: World, retry: number | false) => world.run({ op: 'fail', ...runOf(world), error, retry })

/** `runAt` and `originalRunAt`, from the enqueue. */
function dueOf(world: World, job: { readonly seq: number } = JOB) {
  const { runAt, originalRunAt, enqueuedAt } = viewOf(world.row(job), 'q', 'a', [])
  return [runAt - enqueuedAt, originalRunAt && originalRunAt - enqueuedAt]
}

/** A job that was due in an hour and has run for 5 ms, and a bystander that was due at once. */
function running(options: object = { delay: HOUR }): World {
  const world = new World()
  world.run(enqueueing({ name: 'a', maxAttempts: 9, timeout: Number.POSITIVE_INFINITY, ...options }, { name: 'b' }))
  world.attach('s', ['a'])
  world.after(HOUR)
  world.pass(5)
  expect(world.row(JOB)).toMatchObject({ state: ACTIVE, run: 1 })
  return world
}

const MOVES: Record<string, { readonly move: (world: World) => void; readonly runAt: number }> = {
  'a retry': { move: (world) => fail(world, 60_000), runAt: HOUR + 60_005 },
  'a retry at once': { move: (world) => fail(world, 0), runAt: HOUR + 5 },
  'a second retry': {
    move: (world) => {
      fail(world, 1_000)
      world.after(1_000)
      fail(world, 60_000)
    },
    runAt: HOUR + 61_005,
  },
  'a snooze': { move: (world) => world.run({ op: 'snooze', ...runOf(world), delay: 7 }), runAt: HOUR + 12 },
  'a lost worker': {
    move: (world) => {
      world.reload()
      world.run()
    },
    runAt: HOUR + 5,
  },
  'runNow before the retry': {
    move: (world) => {
      fail(world, 60_000)
      world.pass(1)
      world.call<'runNow'>({ op: 'runNow', id: idOf(world) })
    },
    runAt: HOUR + 6,
  },
  'a retry by hand': {
    move: (world) => {
      fail(world, 60_000)
      world.pass(1)
      world.call<'retry'>({ op: 'retry', id: idOf(world) })
    },
    runAt: HOUR + 6,
  },
  'a retry of the failed job': {
    move: (world) => {
      fail(world, false)
      world.pass(1)
      world.call<'retry'>({ op: 'retry', id: idOf(world) })
    },
    runAt: HOUR + 6,
  },
  'an update before the retry': {
    move: (world) => {
      fail(world, 60_000)
      world.call<'update'>({ op: 'update', id: idOf(world), changes: { runAt: world.now.wall + 9 } })
    },
    runAt: HOUR + 14,
  },
  'the end of the jobs that it joined': {
    move: (world) => {
      world.attach('t', ['child'])
      world.run({ op: 'join', ...runOf(world), name: 'part', jobs: [{ name: 'child', data: null }] })
      world.pass(1)
      world.complete({ seq: 3 })
    },
    runAt: HOUR + 6,
  },
}

describe.each(Object.entries(MOVES))('%s moves the due time', (_what, { move, runAt }) => {
  test('and the first one stays, also when the tables are built again', () => {
    const world = running()
    expect(dueOf(world)).toEqual([HOUR, undefined])
    move(world)
    expect(dueOf(world)).toEqual([runAt, HOUR])
    world.reload('s', 't')
    world.run()
    expect(dueOf(world)[1]).toBe(HOUR)
    expect(dueOf(world, BYSTANDER)).toEqual([0, undefined])
  })
})

describe('the due time of a job that has not run', () => {
  test('is moved by its caller, and is then the first one', () => {
    const world = new World()
    world.run(enqueueing({ name: 'a', delay: HOUR }))
    world.call<'update'>({ op: 'update', id: idOf(world), changes: { runAt: world.now.wall + 9 } })
    expect(dueOf(world)).toEqual([9, undefined])
    world.pass(2)
    world.call<'runNow'>({ op: 'runNow', id: idOf(world) })
    expect(dueOf(world)).toEqual([2, undefined])
  })

  test('is the one of the job when it is brought back, or when its key lets it go', () => {
    const world = new World()
    world.call<'configure'>({ op: 'configure', queue: 'default', changes: { perKeyLimit: 1 } })
    world.run(enqueueing({ name: 'a', concurrencyKey: 'k' }, { name: 'b', concurrencyKey: 'k' }))
    world.call<'cancel'>({ op: 'cancel', id: idOf(world) })
    world.pass(3)
    world.call<'retry'>({ op: 'retry', id: idOf(world) })
    expect(dueOf(world)).toEqual([3, undefined])
    world.attach('s', ['a', 'b'])
    expect(world.row(BYSTANDER)).toMatchObject({ state: ACTIVE })
    world.pass(4)
    world.run({ op: 'complete', ...BYSTANDER, run: 1, output: null })
    expect(world.row(JOB)).toMatchObject({ state: ACTIVE })
    expect(dueOf(world)).toEqual([7, undefined])
    fail(world, 1)
    expect(dueOf(world)).toEqual([8, 7])
  })
})
