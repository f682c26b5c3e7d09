/** Tests how queues are drained, paused together and deleted. */

import { describe, expect, test } from 'vitest'
import { DEFERRED } from '../../decision.ts'
import { ACTIVE } from '../../lifecycle.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, codeOf, enqueueing, World } from '../../testing/world.ts'

useSmallLimits()

const drain = (queue = 'q') => ({ op: 'drainQueue', queue }) as const
const resume = (queue = 'q') => ({ op: 'pause', queue, paused: false }) as const
const forget = (queue = 'q') => ({ op: 'deleteQueue', queue }) as const
const job = { name: 'a', data: null, queue: 'q' }

describe('draining a queue', () => {
  test('a draining queue refuses new jobs from every source, and other queues accept theirs', () => {
    const world = new World()
    world.enqueue('a', { queue: 'q', idempotencyKey: 'i' })
    expect(world.reply(drain())).toBe(DEFERRED)
    expect(world.refusal(enqueueing({ name: 'a' }, job))).toBe('QUEUE_DRAINING')
    expect(world.refusal({ op: 'flow', nodes: [{ ref: 'r', job, parents: [], onFailure: 'fail' }] })).toBe('QUEUE_DRAINING')
    const source = { op: 'forward', source: 's', number: 3, first: 1, entries: [{ at: 1, jobs: [job] }] } as const
    expect(world.refusal(source)).toBe('QUEUE_DRAINING')
    expect(world.store.rows.size).toBe(1)
    // No new one: the first is answered.
    expect(world.enqueue('a', { queue: 'q', idempotencyKey: 'i' }).created).toBe(false)
    world.enqueue('a', { queue: 'other' })
    expect(world.store.rows.size).toBe(2)
  })

  test('jobs of a draining queue run, retry and can enqueue more into it with their completion; jobs of other queues cannot', () => {
    const world = new World()
    world.enqueue('a', { queue: 'q' })
    world.enqueue('a', { queue: 'other' })
    world.reply(drain())
    const { grants } = world.run(attaching('s', ['a']))
    const own = grants.find(({ queue }) => queue === 'q') as (typeof grants)[0]
    const other = grants.find(({ queue }) => queue === 'other') as (typeof grants)[0]
    expect(world.refusal({ op: 'complete', seq: other.seq, run: other.run, output: null, enqueues: [job] })).toBe('QUEUE_DRAINING')
    expect(world.stateOf(other)).toBe('active')
    world.fail(own, { retry: 0 })
    world.call<'complete'>({ op: 'complete', seq: own.seq, run: 2, output: null, enqueues: [job] })
    expect(world.store.rows.size).toBe(3)
    expect(world.tables.queues.get('q')?.counts[ACTIVE]).toBe(1)
  })

  test('a drain outlives a restart and a change of settings, and ends only with a resume of the whole queue', () => {
    const world = new World()
    world.reply(drain())
    world.configure('q', { maxLength: 5 })
    world.call<'pause'>({ ...resume(), job: 'a' })
    world.call<'pause'>({ ...resume(), key: 'k' })
    world.reload()
    expect(world.refusal(enqueueing(job))).toBe('QUEUE_DRAINING')
    world.configure('q', { maxLength: null })
    expect(world.refusal(enqueueing(job))).toBe('QUEUE_DRAINING')
    world.call<'pause'>(resume())
    expect(world.tables.bounded).toBe(0)
    world.enqueue('a', { queue: 'q' })
  })

  test('a job is accepted before the drain of its turn, refused after it, and accepted again after a resume', () => {
    const world = new World()
    const { replies } = world.turn(enqueueing(job), drain(), enqueueing(job), resume(), enqueueing(job))
    expect(replies.map(codeOf)).toEqual([undefined, undefined, 'QUEUE_DRAINING', undefined, undefined])
    expect(world.store.rows.size).toBe(2)
  })
})

describe('a pause of all queues', () => {
  const pauseAll = (paused: boolean) => ({ op: 'pauseAll', paused }) as const

  test('no job starts while all queues are paused, not even in a new queue; running jobs continue, and the pause outlives a restart', () => {
    const world = new World()
    world.enqueue('a', { queue: 'q' })
    const { grants } = world.run(attaching('s', ['a'], { maxConcurrency: 9 }))
    expect(grants).toHaveLength(1)
    world.call<'pauseAll'>(pauseAll(true))
    expect(world.run(enqueueing(job, { ...job, queue: 'later' })).grants).toEqual([])
    world.complete({ seq: grants[0]?.seq as number })
    world.reload()
    expect(world.run(attaching('s', ['a'], { maxConcurrency: 9 })).grants).toEqual([])
    expect(world.run(enqueueing(job)).grants).toEqual([])
    expect(world.run(pauseAll(false)).grants).toHaveLength(3)
    world.reload()
    world.enqueue('a')
    expect(world.run(attaching('s', ['a'], { maxConcurrency: 9 })).grants).toHaveLength(4)
  })

  test('a queue keeps its own pause when all queues resume, and a second pause of all queues writes nothing', () => {
    const world = new World()
    world.run(attaching('s', ['a'], { maxConcurrency: 9 }))
    world.pause('q')
    world.call<'pauseAll'>(pauseAll(true))
    const { writes } = world.store
    world.call<'pauseAll'>(pauseAll(true))
    expect(world.store.writes).toBe(writes)
    expect(world.run(enqueueing(job, { name: 'a', data: null })).grants).toEqual([])
    expect(world.run(pauseAll(false)).grants).toMatchObject([{ queue: 'default' }])
    expect(world.tables.queues.get('q')?.paused).toBe(true)
    expect(world.run(resume()).grants).toMatchObject([{ queue: 'q' }])
  })
})

describe('deleting a queue', () => {
  test('a queue can be deleted only when it is empty, and its settings and pauses go with it', () => {
    const world = new World()
    const done = world.enqueue('a', { queue: 'q' })
    const bystander = world.enqueue('a', { queue: 'other' })
    world.configure('q', { maxLength: 5, perKeyLimit: 1 })
    world.pause('q', { key: 'k' })
    world.pause('q', { job: 'b' })
    expect(world.refusal(forget())).toBe('QUEUE_NOT_EMPTY')
    world.cancel(done)
    expect(world.refusal(forget())).toBe('QUEUE_NOT_EMPTY')
    world.delete(done)
    expect(world.call<'deleteQueue'>(forget())).toBe(true)
    expect(world.call<'deleteQueue'>(forget())).toBe(false)
    expect([...world.store.lanes.values()].map(({ queue }) => queue)).toEqual(['other'])
    expect(world.store.queues.size).toBe(0)
    expect([world.tables.bounded, world.tables.keys.backlogsById.size]).toEqual([0, 0])
    expect(world.stateOf(bystander)).toBe('waiting')
  })

  test('a deleted queue starts over with its next job, under new numbers, with workers attached and after a restart', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 9, maxConcurrency: 9 })
    for (let round = 0; round < 3; round++) {
      const { grants } = world.run(enqueueing(job))
      expect(grants).toHaveLength(1)
      world.complete(grants[0] as (typeof grants)[0])
      world.call<'deleteMany'>({ op: 'deleteMany', filter: { queue: 'q' }, limit: 500, dryRun: false })
      const lane = world.tables.lane('q', 'a')?.id
      expect(world.call<'deleteQueue'>(forget())).toBe(true)
      if (round === 1) {
        world.reload()
        world.attach('t', ['a'], { minConcurrency: 9, maxConcurrency: 9 })
      }
      world.enqueue('b', { queue: 'q' })
      expect(world.tables.lane('q', 'b')?.id).toBe((lane as number) + 1)
      expect(world.tables.queues.get('q')?.totals).toMatchObject({ enqueued: 1, completed: 0 })
      world.call<'deleteMany'>({ op: 'deleteMany', filter: { queue: 'q' }, limit: 500, dryRun: false })
      world.call<'deleteQueue'>(forget())
    }
  })

  test('a queue can be created, emptied, deleted and created again in one turn', () => {
    const world = new World()
    const { replies } = world.turn(
      enqueueing(job),
      { op: 'deleteMany', filter: { queue: 'q' }, limit: 9, dryRun: false },
      forget(),
      drain(),
      forget(),
      enqueueing(job),
      forget(),
    )
    expect(replies.map(codeOf)).toEqual([...Array(6).fill(undefined), 'QUEUE_NOT_EMPTY'])
    expect([...world.store.lanes.values()]).toMatchObject([{ queue: 'q', totals: { enqueued: 1 } }])
  })
})

describe('bugs that other systems had with keys', () => {
  const limited = () => {
    const world = new World()
    world.configure('q', { perKeyLimit: 1 })
    world.reply(attaching('s', ['a'], { minConcurrency: 5, maxConcurrency: 5 }))
    return world
  }
  const keyed = { queue: 'q', concurrencyKey: 'k' }

  test('serial-key-released-on-dead: the next job of a key starts when the last attempt of the one before has failed, was lost or was cancelled', () => {
    const world = limited()
    const jobs = [1, 2, 3, 4].map(() => world.enqueue('a', { ...keyed, maxAttempts: 1 }))
    const states = () => jobs.map((each) => world.stateOf(each))
    expect(states()).toEqual(['active', 'waiting', 'waiting', 'waiting'])
    world.fail({ seq: 1 })
    expect(states()).toEqual(['failed', 'active', 'waiting', 'waiting'])
    // Its process has died.
    world.reload()
    world.run(attaching('t', ['a'], { minConcurrency: 5, maxConcurrency: 5 }))
    expect(states()).toEqual(['failed', 'failed', 'active', 'waiting'])
    world.cancel({ seq: 3 })
    world.fail({ seq: 3 })
    expect(states()).toEqual(['failed', 'failed', 'cancelled', 'active'])
  })

  test.each(['before', 'behind'])(
    'blocked-insert-vs-release: a job that is enqueued in the turn that frees its key, %s the end of the other job, starts',
    (where) => {
      const world = limited()
      const first = world.enqueue('a', keyed)
      const bystander = world.enqueue('a', { queue: 'q', concurrencyKey: 'other' })
      const ends = { op: 'complete', seq: first.seq, run: 1, output: null } as const
      const comes = enqueueing({ name: 'a', data: null, ...keyed })
      const { replies } = world.turn(...(where === 'before' ? [comes, ends] : [ends, comes]))
      world.run()
      const [created] = replies.flatMap((reply) => (Array.isArray(reply) ? reply : [])) as { seq: number }[]
      const rows = [...world.store.rows.values()].map(({ seq, state }) => [seq, state])
      expect(rows).toContainEqual([(created as { seq: number }).seq, ACTIVE])
      expect(world.stateOf(bystander)).toBe('active')
    },
  )
})
