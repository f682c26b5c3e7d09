/** Tests several commands for one thing in one turn: each sees the changes of those before it, as in turns of their own. */

import { describe, expect, test, vi } from 'vitest'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import type { Enqueued } from '../../replies.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, keyOfJob, World } from '../../testing/world.ts'

useSmallLimits()

const one = { minConcurrency: 1, maxConcurrency: 1 }
const failing = ({ seq }: Enqueued): Command => ({ op: 'fail', seq, run: 1, error: { name: 'Error', message: 'no' }, retry: false })
const retrying = (job: Enqueued): Command => ({ op: 'retry', id: keyOfJob(job) })
const configure = (changes: QueueChanges, queue = 'default'): Command => ({ op: 'configure', queue, changes })

/** A parent, and the child that goes on where it fails. */
function family(world: World, child = {}): [Enqueued, Enqueued] {
  return world.flow([{ job: { name: 'p' } }, { job: { name: 'c', ...child }, parents: [0], onFailure: 'continue' }])
}

describe('commands for a flow in one turn', () => {
  test('a child that fails and is retried waits again if its parent was retried', () => {
    const world = new World()
    world.attach('s', ['p', 'c'])
    const [parent, child] = family(world)
    world.run(failing(parent))
    world.run(retrying(parent))
    expect([world.stateOf(parent), world.stateOf(child)]).toEqual(['active', 'active'])
    world.run(failing(child), retrying(child))
    expect(world.stateOf(child)).toBe('blocked')
  })

  test('a waiting child that is cancelled and retried waits again if its parent was retried', () => {
    const world = new World()
    world.attach('s', ['p'])
    world.run(attaching('t', ['c'], one))
    world.enqueue('c')
    const [parent, child] = family(world)
    world.run(failing(parent))
    expect(world.stateOf(child)).toBe('waiting')
    world.run(retrying(parent))
    world.run({ op: 'cancel', id: keyOfJob(child) }, retrying(child))
    expect(world.stateOf(child)).toBe('blocked')
  })

  test('a cancel of a tree reaches a child that another job pushes out of memory in the same turn', () => {
    const world = new World()
    world.attach('s', ['p', 'q'])
    world.run(attaching('t', ['c'], one))
    world.enqueue('c')
    const [first] = world.flow([{ job: { name: 'p' } }, { job: { name: 'c', priority: 9, data: null }, parents: [0] }])
    const [parent, child] = family(world, { data: null })
    world.run(failing(parent))
    for (let each = 0; each < 3; each++) world.enqueue('c', { priority: 5 })
    expect([world.stateOf(child), world.tables.jobs.has(child.seq)]).toEqual(['waiting', true])
    world.run({ op: 'complete', seq: first.seq, run: 1, output: null }, { op: 'cancelTree', id: keyOfJob(parent) })
    expect(world.stateOf(child)).toBe('cancelled')
  })
})

describe('a redrive beside other commands of one turn', () => {
  function failed(count: number): { world: World; jobs: readonly Enqueued[] } {
    const world = new World()
    world.attach('s', ['a'])
    const jobs = Array.from({ length: count }, () => world.enqueue('a'))
    for (const job of jobs) {
      world.pass(1)
      world.run(failing(job))
    }
    world.pass(100)
    return { world, jobs }
  }

  test('a redrive continues behind a job that an earlier command has retried', () => {
    const { world, jobs } = failed(3)
    const [oldest] = jobs as [Enqueued]
    const { finishedAt } = world.row(oldest)
    const [, reply] = world.turn(retrying(oldest), { op: 'redrive', limit: 1 }).replies
    expect(reply).toEqual({ count: 0, next: { finishedAt, seq: oldest.seq }, failed: 2 })
  })

  test('a redrive continues at the place of a job that was retried and has ended again', () => {
    const { world, jobs } = failed(4)
    const [, second] = jobs as [Enqueued, Enqueued]
    const { finishedAt } = world.row(second)
    const [, , reply] = world.turn(retrying(second), { op: 'cancel', id: keyOfJob(second) }, { op: 'redrive', limit: 2 }).replies
    expect(reply).toMatchObject({ count: 1, next: { finishedAt, seq: second.seq } })
  })
})

describe('commands for an export in one turn', () => {
  test('an export that is deleted and created again exists, and begins at the oldest event that is kept', () => {
    const world = new World()
    world.enqueue('a')
    world.turn({ op: 'export', name: 'x', limit: 10 })
    // The journal has forgotten the first two.
    vi.spyOn(world.store, 'journal').mockReturnValue({ firstEvent: 3, firstAt: 0, firstTurnEnd: 3, lastEvent: 2, bytes: 0 })
    world.turn({ op: 'deleteExport', name: 'x' }, { op: 'export', name: 'x', limit: 10 })
    expect([...world.tables.exports]).toEqual([['x', 2]])
    expect(world.store.load().exports).toEqual([{ name: 'x', cursor: 2 }])
  })

  test('an export that is moved and deleted is gone', () => {
    const world = new World()
    world.enqueue('a')
    world.turn({ op: 'export', name: 'x', limit: 10 })
    world.turn({ op: 'export', name: 'x', limit: 10, upTo: 1 }, { op: 'deleteExport', name: 'x' })
    expect([[...world.tables.exports], world.store.load().exports]).toEqual([[], []])
  })
})

describe('a full queue that drops its oldest job accepts a new job', () => {
  test('a full queue accepts a new job if its oldest job is deleted with its schedule in the same turn', () => {
    const world = new World()
    const spec = { every: 100_000, jitter: 0, overlap: 'skip', catchUp: 'latest' } as const
    world.call<'upsertSchedule'>({ op: 'upsertSchedule', id: 's', spec, job: { name: 'a', data: null }, runImmediately: false })
    world.run(configure({ maxLength: 3, onFull: 'drop-oldest' }))
    world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    world.enqueue('b')
    world.enqueue('a')
    world.attach('w', ['b'])
    world.enqueue('a')
    // What it ran comes back: one more than may be.
    world.leave('w')
    const { replies } = world.turn({ op: 'deleteSchedule', id: 's' }, enqueueing({ name: 'a' }))
    expect(replies[1]).toEqual([expect.objectContaining({ created: true })])
  })

  test('a full queue accepts a new job if a worker of the same turn defines that the job goes there', () => {
    const world = new World()
    world.run(configure({ maxLength: 1, onFull: 'drop-oldest' }, 'q'))
    world.enqueue('a', { queue: 'q' })
    const attach = attaching('w', ['a'], { ...one, queues: ['other'] })
    const session = { ...attach.session, handlers: [{ name: 'a', defaults: { queue: 'q' } }] }
    const { replies } = world.turn({ ...attach, session }, enqueueing({ name: 'a' }))
    expect(replies[1]).toEqual([expect.objectContaining({ created: true })])
  })
})
