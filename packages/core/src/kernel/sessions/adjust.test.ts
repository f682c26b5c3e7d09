/** Tests sessions that change how much they take: by a pause, or by another weight. */

import { describe, expect, test } from 'vitest'
import type { AdjustCommand } from '../../commands.ts'
import { attaching, enqueueing, type Granted, World } from '../../testing/world.ts'

const two = { minConcurrency: 2, maxConcurrency: 2 }
const adjusting = (to: Partial<AdjustCommand> = {}): AdjustCommand => ({ op: 'adjust', session: 's', ...two, ...to })
const pausing = adjusting({ paused: true })
const seqs = (grants: readonly Granted[]) => grants.map(({ seq }) => seq)
const complete = (seq: number) => ({ op: 'complete', seq, run: 1, output: null }) as const

describe('a paused session', () => {
  test('a paused session gets no job from the turn of its pause on, keeps its runs, and takes jobs again when it resumes', () => {
    const world = new World()
    world.attach('s', ['a'], two)
    const runs = world.enqueue('a')
    // Of the same turn, too.
    expect(world.run(pausing, enqueueing({ name: 'a' }))).toMatchObject({ replies: [true, [{ created: true }]], grants: [] })
    expect(world.stateOf(runs)).toBe('active')
    expect(world.run(complete(1), enqueueing({ name: 'a' })).grants).toEqual([])
    expect(seqs(world.run(adjusting()).grants)).toEqual([2, 3])
  })

  test('a paused session leaves its jobs to other sessions', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.attach('other', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    world.run(adjusting({ paused: true }))
    const { grants } = world.run(enqueueing({ name: 'a' }, { name: 'a' }))
    expect(grants).toMatchObject([{ session: 'other', seq: 1 }])
    expect(world.leave('other').grants).toEqual([])
  })

  test('a paused session stays paused when it attaches again after a failed commit and after a crash', () => {
    const world = new World()
    world.attach('s', ['a'], two)
    world.enqueue('a')
    world.run(pausing)
    world.enqueue('a')
    for (const reload of ['failCommit', 'reload'] as const) {
      world[reload]('s')
      expect(world.run(attaching('s', ['a'], { ...two, paused: true }, [{ seq: 1, run: 1 }]))).toMatchObject({ grants: [] })
    }
    expect(seqs(world.run(adjusting()).grants)).toEqual([2])
  })

  test('a paused session can still be stopped', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.run(pausing)
    expect(world.run({ op: 'stopWorker', worker: 'worker of s', timeout: 0 })).toMatchObject({ replies: [true], stops: ['s'] })
    // Resumed, it is still to stop.
    world.run(adjusting())
    expect(world.run(enqueueing({ name: 'a' })).grants).toEqual([])
  })

  test('a pause of a session is not written to the store', () => {
    const world = new World()
    world.attach('s', ['a'])
    const { writes } = world.store
    world.run(pausing)
    expect(world.store.writes).toBe(writes)
  })
})

describe('the weight that a session runs at a time', () => {
  test('a session that raises its weight gets more jobs at once', () => {
    const world = new World()
    world.attach('s', ['a'], two)
    expect(seqs(world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a' }, { name: 'a' })).grants)).toEqual([1, 2])
    expect(seqs(world.run(adjusting({ minConcurrency: 3, maxConcurrency: 3 })).grants)).toEqual([3])
  })

  test('a session that lowers its weight keeps its runs, and gets no job before there is room', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 3, maxConcurrency: 3 })
    world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a' }, { name: 'a' }, { name: 'a' }))
    expect(world.run(adjusting({ minConcurrency: 1, maxConcurrency: 1 }))).toMatchObject({ grants: [], notices: [] })
    expect(world.run(complete(1)).grants).toEqual([])
    expect(world.run(complete(2)).grants).toEqual([])
    expect(seqs(world.run(complete(3)).grants)).toEqual([4])
    expect(world.run(enqueueing({ name: 'a' })).grants).toEqual([])
  })

  test('a heavy job counts with its weight, and a job that is heavier than the lowered weight runs alone', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 5, maxConcurrency: 5 })
    world.run(enqueueing({ name: 'a', weight: 4 }))
    world.run(adjusting())
    world.run(enqueueing({ name: 'a', weight: 9 }))
    expect(seqs(world.run(complete(1)).grants)).toEqual([2])
  })
})

describe('changes of a session from elsewhere', () => {
  test('a connection that no longer holds the session cannot change it', () => {
    const world = new World()
    world.attach('s', ['a'], { ...two, local: false })
    world.connection = 2
    world.attach('s', ['a'], { ...two, local: false })
    world.connection = 1
    expect(world.call<'adjust'>(pausing)).toBe(true)
    expect(seqs(world.run(enqueueing({ name: 'a' })).grants)).toEqual([1])
  })

  test('a change of a session that is not attached has no effect', () => {
    const world = new World()
    world.attach('bystander', ['a'])
    expect(world.call<'adjust'>(pausing)).toBe(true)
    expect(world.run(enqueueing({ name: 'a' })).grants).toMatchObject([{ session: 'bystander' }])
  })
})
