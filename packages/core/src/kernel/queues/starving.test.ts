/** Tests that each waiting key, name, queue and heavy job has its turn, however many other jobs come. */

import { describe, expect, test } from 'vitest'
import type { NewJob, RunKey } from '../../commands.ts'
import { ACTIVE } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, type Granted, World } from '../../testing/world.ts'

useSmallLimits()

const k = { concurrencyKey: 'k' }
const slots = (count: number) => ({ minConcurrency: count, maxConcurrency: count })
const complete = ({ seq, run }: RunKey): Command => ({ op: 'complete', seq, run, output: null })
const configure = (changes: QueueChanges, queue = 'default'): Command => ({ op: 'configure', queue, changes })
const seqs = (grants: readonly Granted[]) => grants.map(({ seq }) => seq)
const rows = (world: World) => [...world.store.rows.values()]
const parked = (world: World) => rows(world).filter(({ backlogId }) => backlogId !== 0).length

function withLimits(changes: Partial<Record<keyof typeof LIMITS, number>>, test: () => void): void {
  const before = { ...LIMITS }
  Object.assign(LIMITS, changes)
  try {
    test()
  } finally {
    Object.assign(LIMITS, before)
  }
}

describe('jobs that wait for their key', () => {
  test('the job that its key has held back longest starts first, although another job comes in the turn that frees the key', () => {
    const world = new World()
    world.run(configure({ perKeyLimit: 1 }))
    world.attach('s', ['a'])
    for (let each = 0; each < 3; each++) world.run(enqueueing({ name: 'a', ...k }))
    world.pass(1_000)
    expect(seqs(world.run(complete({ seq: 1, run: 1 }), enqueueing({ name: 'a', ...k })).grants)).toEqual([2])
  })

  test('jobs that enqueue their successors do not starve waiting jobs of the same key', () => {
    const world = new World()
    world.run(configure({ perKeyLimit: 1 }))
    world.attach('s', ['a'])
    world.run(enqueueing({ name: 'a', ...k }))
    world.run(enqueueing({ name: 'a', ...k }, { name: 'a', ...k }, { name: 'a', ...k, priority: 9 }))
    const order: number[] = []
    let [grant] = [{ seq: 1, run: 1 }] as readonly RunKey[]
    while (order.length < 4 && grant !== undefined) {
      world.pass(1_000)
      const { grants } = world.run({ op: 'complete', ...grant, output: null, enqueues: [{ name: 'a', data: null, ...k }] })
      order.push(...seqs(grants))
      grant = grants[0]
    }
    // The first to have come stood in line when the one of higher priority came.
    expect(order.slice(0, 3).sort()).toEqual([2, 3, 4])
  })

  test('a job that its key holds back is set aside, however full the turns are', () => {
    withLimits({ jobsPerTurn: 5 }, () => {
      const world = new World()
      world.run(configure({ perKeyLimit: 1 }, 'q'))
      world.attach('s', ['a'])
      world.run(enqueueing({ name: 'a', queue: 'q', ...k }))
      const more = enqueueing(...Array.from({ length: 5 }, () => ({ name: 'other', queue: 'r' })))
      const { grants } = world.turn(enqueueing({ name: 'a', queue: 'q', ...k }, { name: 'a', queue: 'q' }), more)
      expect(seqs([...grants, ...world.turn(more).grants])).toEqual([3])
    })
  })
})

describe('parked jobs while no worker serves their name', () => {
  function worldOf(jobs: number): World {
    const world = new World({ settings: { recovery: 'backoff' } })
    world.run(configure({ perKeyLimit: 1 }))
    world.attach('s', ['a'])
    for (let each = 0; each < jobs; each++) world.enqueue('a', k)
    expect(parked(world)).toBe(jobs - 1)
    return world
  }

  test('parked jobs stay parked when their worker leaves', () => {
    const world = worldOf(30)
    world.run(complete({ seq: 1, run: 1 }), { op: 'leave', session: 's' })
    expect(parked(world)).toBe(28)
  })

  test('parked jobs stay parked over a restart', () => {
    const world = worldOf(30)
    world.reload()
    world.run()
    expect(parked(world)).toBe(28)
  })
})

describe('workers for different job names share what their queue can start', () => {
  const jobs = [...Array.from({ length: 12 }, () => ({ name: 'a' })), { name: 'b', priority: 9 }]

  test('workers share the places of a queue with a limit', () => {
    const world = new World()
    world.run(configure({ concurrencyLimit: 1 }))
    world.run(attaching('A', ['a'], slots(1)))
    world.run(attaching('B', ['b'], slots(1)))
    const names: string[] = []
    for (let { grants } = world.run(enqueueing(...jobs)); names.length < 4; { grants } = world.run(complete(grants[0] as Granted)))
      names.push(...grants.map(({ name }) => name))
    expect(names).toEqual(['a', 'b', 'a', 'a'])
  })

  test('workers share the tokens of a queue with a rate', () => {
    const world = new World()
    world.run(configure({ rateLimit: { limit: 1, period: 10, burst: 1 } }))
    world.attach('A', ['a'])
    world.attach('B', ['b'])
    const names = world.run(enqueueing(...jobs)).grants.map(({ name }) => name)
    while (names.length < 4) names.push(...world.after(10).grants.map(({ name }) => name))
    expect(names).toEqual(['a', 'b', 'a', 'a'])
  })
})

describe('a token of a key starts one job as soon as the token is there', () => {
  /** A key whose bucket holds ten has one token, and a job is in the way that has none. */
  function oneToken(places: number): World {
    const world = new World()
    world.run(configure({ perKeyRateLimit: { limit: 1, period: 1_000, burst: 10 } }))
    world.attach('s', ['a'], slots(places))
    for (let seq = 1; seq <= 10; seq++) {
      if (seq === 10) world.after(1_000)
      world.run(enqueueing({ name: 'a', ...k }))
      world.run(complete({ seq, run: 1 }))
    }
    world.run(enqueueing({ name: 'a' }))
    return world
  }

  test('a job uses the token of its key although an earlier job of the key does not fit', () => {
    withLimits({ heavyPatienceMs: 5_000 }, () => {
      const world = oneToken(4)
      world.run(enqueueing({ name: 'a', ...k, weight: 4 }))
      world.run(enqueueing({ name: 'a', ...k }))
      expect(seqs(world.after(1_000).grants)).toEqual([13])
    })
  })

  test('a job uses the token of its key although another job of the key waits at the end of the line', () => {
    const world = oneToken(1)
    world.run(enqueueing({ name: 'a', ...k, priority: -5 }))
    world.run(enqueueing({ name: 'a', ...k, priority: 9 }), enqueueing({ name: 'a' }))
    world.after(1_000)
    expect(seqs(world.run(complete({ seq: 11, run: 1 })).grants)).toEqual([13])
  })
})

describe('a heavy job that leaves memory still has its turn in time', () => {
  /** Steps of a quarter of its patience until job 5 starts, as lighter ones come and go. */
  function stepsOf(world: World, disturb: (step: number) => void, kept = 0): number {
    for (let step = 1; step <= 60; step++) {
      world.run(enqueueing({ name: 'b' }))
      disturb(step)
      world.pass(LIMITS.heavyPatienceMs / 4)
      const light = rows(world).find(({ seq, state, weight }) => state === ACTIVE && weight === 1 && seq !== kept)
      if (light !== undefined) world.run(complete(light))
      if (rows(world).some(({ seq, state }) => seq === 5 && state === ACTIVE)) return step
    }
    return Number.POSITIVE_INFINITY
  }

  function worldOf(first: Pick<NewJob, 'name' | 'priority'>): World {
    const world = new World()
    world.attach('s', ['a', 'b'], slots(4))
    world.run(enqueueing(first, { name: 'b' }, { name: 'b' }, { name: 'b' }))
    world.run(enqueueing({ name: 'a', weight: 3, data: 'x'.repeat(30) }))
    return world
  }

  test('a heavy job starts in time although the payload of an earlier job pushes it out of memory', () => {
    const world = worldOf({ name: 'b' })
    const large = enqueueing({ name: 'a', priority: 1, data: 'x'.repeat(50) })
    expect(stepsOf(world, (step) => step % 3 === 0 && world.run(large))).toBeLessThan(40)
  })

  test('a heavy job starts in time although an earlier job that is given back pushes it out of memory', () => {
    const world = worldOf({ name: 'a', priority: 1 })
    const giveBack = (step: number) => {
      const first = rows(world).find(({ seq, state }) => seq === 1 && state === ACTIVE)
      if (step % 5 === 0 && first !== undefined) world.giveBack({ seq: 1 })
    }
    expect(stepsOf(world, giveBack, 1)).toBeLessThan(40)
  })
})
