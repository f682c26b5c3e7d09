/** Tests how a flow is read: the ids that find it, what a page shows, and what is not part of the flow. */

import { beforeEach, expect, test } from 'vitest'
import type { FlowCursor } from '../../flowCommands.ts'
import type { JobKey } from '../../id.ts'
import type { CommandOf } from '../../operations.ts'
import type { Enqueued } from '../../replies.ts'
import { keyOfJob, World } from '../../testing/world.ts'
import type { LaneRow } from '../records/rows.ts'
import { readFlow } from './flowPage.ts'

let world: World

beforeEach(() => {
  world = new World()
})

function pageOf(id: JobKey, options: Partial<CommandOf<'getFlow'>> = {}) {
  const command = { op: 'getFlow' as const, limit: 50, ...options, id: keyOfJob(id) }
  return readFlow(world.store, command, (laneId) => world.store.lanes.get(laneId) as LaneRow)
}

function read(...asked: Parameters<typeof pageOf>) {
  const page = pageOf(...asked)
  if (page === null) return null
  const { states: _, ...rest } = page
  return { ...rest, jobs: page.jobs.map(({ ref }) => ref) }
}

test('a flow is found by the id of each of its jobs', () => {
  world.flow([{}, { parents: [0] }])
  const jobs = world.flow([{}, {}, { parents: [0, 1] }])
  world.flow([{}])
  world.enqueue('a')
  for (const job of jobs) expect(read(job)).toEqual({ first: keyOfJob(jobs[0]), jobs: ['n0', 'n1', 'n2'], next: null })
})

test('a flow is read page by page, and a page never reaches into another flow', () => {
  const jobs = world.flow([{}, {}, { parents: [0, 1] }])
  const page = read(jobs[2], { limit: 2 })
  expect(page).toMatchObject({ jobs: ['n0', 'n1'], next: { seq: jobs[2].seq, place: 0 } })
  expect(read(jobs[0], { limit: 2, from: page?.next as FlowCursor })).toMatchObject({ jobs: ['n2'], next: null })
  expect(read(jobs[0], { from: { seq: jobs[2].seq + 1, place: 0 } })).toMatchObject({ jobs: [], next: null })
  expect(read(jobs[0], { limit: 10_000 })?.jobs).toHaveLength(3)
})

test('a flow is found by the id of its first job while any of its jobs is kept', () => {
  const bystander = world.flow([{}, { parents: [0] }])
  const jobs = world.flow([{}, {}, { parents: [0, 1] }])
  const remove = (id: Enqueued) => world.delete(id)
  remove(jobs[0])
  expect(read(jobs[0])).toEqual({ first: keyOfJob(jobs[0]), jobs: ['n1', 'n2'], next: null })
  expect(read(jobs[2])).toEqual(read(jobs[0]))
  expect(read(jobs[0], { from: { seq: jobs[2].seq + 1, place: 0 } })).toMatchObject({ jobs: [] })
  remove(jobs[1])
  // Of that job nothing is left that says whose it was.
  expect(read(jobs[1])).toBeNull()
  remove(jobs[2])
  expect(read(jobs[0])).toBeNull()
  expect(read(bystander[1])).toMatchObject({ jobs: ['n0', 'n1'] })
})

test('each job of a flow shows its state, and the outcome of each parent that it knows of', () => {
  world.attach('s', ['a'])
  const [a, b, c] = world.flow([{}, {}, { parents: [1, 0], onFailure: 'continue', job: { name: 'b', queue: 'q' } }])
  const told = () => pageOf(a)?.jobs.at(-1)
  expect(told()).toEqual({
    seq: c.seq,
    ref: 'n2',
    name: 'b',
    queue: 'q',
    state: 'blocked',
    attempt: 0,
    runAt: expect.any(Number),
    startedAt: 0,
    finishedAt: 0,
    onParentFailure: 'continue',
    parents: 2,
    dependsOn: [
      { seq: b.seq, ref: 'n1', told: null },
      { seq: a.seq, ref: 'n0', told: null },
    ],
  })
  world.fail(a, { retry: false })
  expect(told()?.dependsOn).toMatchObject([{ told: null }, { told: 'failed' }])
  world.giveBack(b)
  world.leave('s')
  world.delete(b)
  expect(told()).toMatchObject({ state: 'waiting', dependsOn: [{ ref: 'n1', told: 'deleted' }, { told: 'failed' }] })
})

test('each page counts all kept jobs of the flow by their state', () => {
  world.flow([{}, { parents: [0] }])
  const jobs = world.flow([{}, {}, { parents: [0, 1] }])
  const none = { scheduled: 0, waiting: 0, active: 0, blocked: 0, completed: 0, failed: 0, cancelled: 0 }
  expect(pageOf(jobs[1], { limit: 1 })?.states).toEqual({ ...none, waiting: 2, blocked: 1 })
  world.delete(jobs[0])
  expect(pageOf(jobs[1], { from: { seq: jobs[2].seq + 1, place: 0 } })?.states).toEqual({ ...none, waiting: 1, failed: 1 })
})

test('the id of a job without a flow, of another file or of another time finds no flow', () => {
  const [first] = world.flow([{}, { parents: [0] }])
  const plain = world.enqueue('a')
  expect(read(plain)).toBeNull()
  for (const other of [{ node: first.node + 1 }, { enqueuedAt: first.enqueuedAt + 1 }, { seq: first.seq + 1_000 }])
    expect(read({ ...first, ...other })).toBeNull()
  world.delete(first)
  expect(read({ ...first, enqueuedAt: 1 })).toBeNull()
  expect(read(first)).not.toBeNull()
})
