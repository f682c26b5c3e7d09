/** Tests that a job keeps the due time of its first run through everything that moves `runAt`. */

import { describe, expect, test } from 'vitest'
import { ACTIVE } from '../../lifecycle.ts'
import { enqueueing, World } from '../../testing/world.ts'
import { viewOf } from './view.ts'

const HOUR = 3_600_000
const JOB = { seq: 1 }
const BYSTANDER = { seq: 2 }

const fail = (world: World, retry: number | false) => world.fail(JOB, { retry })

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
  'a snooze': { move: (world) => world.snooze(JOB, 7), runAt: HOUR + 12 },
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
      world.call<'runNow'>({ op: 'runNow', id: world.keyOf(JOB) })
    },
    runAt: HOUR + 6,
  },
  'a retry by hand': {
    move: (world) => {
      fail(world, 60_000)
      world.pass(1)
      world.retry(JOB)
    },
    runAt: HOUR + 6,
  },
  'a retry of the failed job': {
    move: (world) => {
      fail(world, false)
      world.pass(1)
      world.retry(JOB)
    },
    runAt: HOUR + 6,
  },
  'an update before the retry': {
    move: (world) => {
      fail(world, 60_000)
      world.update(JOB, { runAt: world.now.wall + 9 })
    },
    runAt: HOUR + 14,
  },
  'the end of the jobs that it joined': {
    move: (world) => {
      world.attach('t', ['child'])
      world.run({ op: 'join', ...world.runOf(JOB), name: 'part', jobs: [{ name: 'child', data: null }] })
      world.pass(1)
      world.complete({ seq: 3 })
    },
    runAt: HOUR + 6,
  },
}

describe.each(Object.entries(MOVES))('the due times of a job after %s', (_what, { move, runAt }) => {
  test('the job has a new due time and keeps the due time of its first run, also after a reload', () => {
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
  test('the due time that the caller sets counts as the first one', () => {
    const world = new World()
    world.run(enqueueing({ name: 'a', delay: HOUR }))
    world.update(JOB, { runAt: world.now.wall + 9 })
    expect(dueOf(world)).toEqual([9, undefined])
    world.pass(2)
    world.call<'runNow'>({ op: 'runNow', id: world.keyOf(JOB) })
    expect(dueOf(world)).toEqual([2, undefined])
  })

  test('the due time after a retry or a wait for the key counts as the first one', () => {
    const world = new World()
    world.configure('default', { perKeyLimit: 1 })
    world.run(enqueueing({ name: 'a', concurrencyKey: 'k' }, { name: 'b', concurrencyKey: 'k' }))
    world.cancel(JOB)
    world.pass(3)
    world.retry(JOB)
    expect(dueOf(world)).toEqual([3, undefined])
    world.attach('s', ['a', 'b'])
    expect(world.row(BYSTANDER)).toMatchObject({ state: ACTIVE })
    world.pass(4)
    world.complete(BYSTANDER)
    expect(world.row(JOB)).toMatchObject({ state: ACTIVE })
    expect(dueOf(world)).toEqual([7, undefined])
    fail(world, 1)
    expect(dueOf(world)).toEqual([8, 7])
  })
})
