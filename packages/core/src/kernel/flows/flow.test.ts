/** Tests flows case by case, under limits so small that every slice is cut. Random flows are in flows.test.ts. */

import { beforeEach, describe, expect, test } from 'vitest'
import type { JobKey } from '../../id.ts'
import { COMPLETED } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { Enqueued } from '../../replies.ts'
import { DEFAULT_RETENTION } from '../../retention.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { flowOf, keyOfJob, World } from '../../testing/world.ts'
import { viewOf } from '../jobs/view.ts'

useSmallLimits()

let world: World

beforeEach(() => {
  world = new World()
})

const ERROR = { name: 'Error', message: 'no' }
const states = (jobs: readonly { readonly seq: number }[]) => jobs.map((job) => world.stateOf(job))
const complete = (job: { readonly seq: number }, output: string | null = null) => world.complete(job, output)
const fail = (job: { readonly seq: number }) => world.fail(job, { retry: false })
const errorOf = ({ seq }: { readonly seq: number }) => world.store.lastError(seq)

test('a job waits for all of its parents, and is then released once', () => {
  world.attach('s', ['a'])
  const bystander = world.flow([{ job: { name: 'b' } }, { parents: [0] }])
  const jobs = world.flow([{}, {}, { parents: [0, 1] }, { parents: [2] }])
  expect(states(jobs)).toEqual(['active', 'active', 'blocked', 'blocked'])
  const [a, b, c, d] = jobs
  complete(a)
  expect(states(jobs)).toEqual(['completed', 'active', 'blocked', 'blocked'])
  const turned = complete(b)
  expect(turned.events.filter(({ type }) => type === 'released')).toHaveLength(1)
  expect(states(jobs)).toEqual(['completed', 'completed', 'active', 'blocked'])
  complete(c)
  complete(d)
  expect(states(jobs)).toEqual(['completed', 'completed', 'completed', 'completed'])
  expect(states(bystander)).toEqual(['waiting', 'blocked'])
})

test.each(['while', 'after'] as const)(
  'a parent that is retried while its many children learn of its failure, and ends %s they learn of its return, reaches each of them',
  (when) => {
    const jobs = world.flow([{}, ...Array.from({ length: 20 }, () => ({ parents: [0] }))])
    const [parent, ...children] = jobs
    const bystanders = world.flow([{ job: { name: 'b' } }, { parents: [0] }])
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    world.turn({ op: 'fail', seq: parent.seq, run: 1, error: ERROR, retry: false })
    for (let slices = 0; slices < 3; slices++) world.turn()
    expect(states(children).filter((state) => state === 'failed')).toHaveLength(3 * LIMITS.sliceRows)
    world.turn({ op: 'retry', id: keyOfJob(parent) })
    // Those that were told of the failure are the first to hear of the return.
    world.turn()
    expect(states(children.slice(0, LIMITS.sliceRows))).toEqual(Array(LIMITS.sliceRows).fill('blocked'))
    if (when === 'after') world.run()
    expect([world.stateOf(parent), world.store.flows.due.size]).toEqual(['active', when === 'after' ? 0 : 1])
    complete(parent)
    expect(states(children)).toEqual(['active', ...Array(19).fill('waiting')])
    expect(world.store.flows.due.size).toBe(0)
    expect(states(bystanders)).toEqual(['waiting', 'blocked'])
  },
)

test('a parent of many children releases them in slices, each child once, also over restarts between two slices', () => {
  const jobs = world.flow([{}, ...Array.from({ length: 20 }, () => ({ parents: [0] }))])
  const [parent, ...children] = jobs
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  let turned = world.turn({ op: 'complete', seq: parent?.seq as number, run: 1, output: null })
  expect(states(children)).not.toContain('waiting')
  const released: number[] = []
  for (let turns = 0; world.tables.flowWork; turns++) {
    turned = world.turn()
    const now = turned.events.filter(({ type }) => type === 'released').map(({ seq }) => seq)
    expect(now.length).toBeLessThanOrEqual(LIMITS.sliceRows)
    released.push(...now)
    // As after a crash: what was told is on disk, and so is what is still to be told.
    if (turns % 2 === 0) world.reload('s')
    expect(turns).toBeLessThan(40)
  }
  expect(released.toSorted((a, b) => a - b)).toEqual(children.map(({ seq }) => seq))
  expect(world.store.flows.due.size).toBe(0)
})

test('a job that waits for its parents takes no memory', () => {
  world.attach('s', ['a'])
  world.flow([{}, ...Array.from({ length: 50 }, () => ({ parents: [0] }))])
  expect(world.tables.jobs.size).toBe(1)
})

test('a turn whose ended jobs have no children does no work for flows', () => {
  world.attach('s', ['a'])
  const job = world.enqueue('a')
  complete(job)
  expect(world.tables.flowWork).toBe(false)
  expect(world.store.flows.due.size).toBe(0)
})

describe('a child that runs if a parent fails, and a child that is cancelled then', () => {
  const flow = () => world.flow([{}, {}, { parents: [0, 1], onFailure: 'run' }, { parents: [0, 1], onFailure: 'cancel' }, { parents: [3] }])

  test('at the first failure the child for failures runs, and the child for success is cancelled, together with its own children', () => {
    world.attach('s', ['a'])
    const bystander = world.flow([{ job: { name: 'b' } }, { parents: [0], onFailure: 'run' }])
    const jobs = flow()
    const { events } = fail(jobs[0])
    expect(states(jobs)).toEqual(['failed', 'active', 'active', 'cancelled', 'failed'])
    expect(world.row(jobs[3]).extras?.cancel?.reason).toMatch(/^job .* is failed$/)
    complete(jobs[1])
    complete(jobs[2])
    expect(states(jobs)).toEqual(['failed', 'completed', 'completed', 'cancelled', 'failed'])
    expect(events.filter(({ type, seq }) => type === 'released' && seq === jobs[2].seq)).toHaveLength(1)
    expect(states(bystander)).toEqual(['waiting', 'blocked'])
  })

  test('if no parent fails, the child for failures is cancelled and leaves no row, and the child for success runs', () => {
    world.attach('s', ['a'])
    const jobs = flow()
    complete(jobs[0])
    expect(states(jobs)).toEqual(['completed', 'active', 'blocked', 'blocked', 'blocked'])
    const { events } = complete(jobs[1])
    expect(states(jobs)).toEqual(['completed', 'completed', 'gone', 'active', 'blocked'])
    expect(events.filter(({ seq }) => seq === jobs[2].seq).map(({ type }) => type)).toEqual(['cancelled'])
    complete(jobs[3])
    complete(jobs[4])
    expect(states(jobs)).toEqual(['completed', 'completed', 'gone', 'completed', 'completed'])
  })

  test('a retry of a failed parent brings back the child that was cancelled for it, and no child that a caller has cancelled', () => {
    world.attach('s', ['a'])
    const [jobs, others] = [flow(), flow()]
    world.cancel(others[3])
    fail(jobs[0])
    fail(others[0])
    world.run({ op: 'retry', id: keyOfJob(jobs[0]) }, { op: 'retry', id: keyOfJob(others[0]) })
    expect(states(jobs)).toEqual(['active', 'active', 'active', 'blocked', 'blocked'])
    expect(states(others)).toEqual(['active', 'active', 'active', 'cancelled', 'failed'])
    expect(world.row(jobs[3]).extras?.cancel).toBeUndefined()
    complete(jobs[0])
    complete(jobs[1])
    expect(states(jobs)).toEqual(['completed', 'completed', 'active', 'active', 'blocked'])
  })

  test('a retry of the tree below a completed parent runs the children for failures once more while another parent has failed', () => {
    world.attach('s', ['a'])
    const others = Array.from({ length: 4 }, () => ({ parents: [0, 1], onFailure: 'run' as const }))
    const jobs = world.flow([{}, {}, ...others, { parents: [0] }])
    complete(jobs[0])
    fail(jobs[1])
    for (const job of jobs.slice(2, 6)) fail(job)
    world.run({ op: 'retryTree', id: keyOfJob(jobs[0]) })
    expect(states(jobs)).toEqual(['completed', 'failed', 'active', 'active', 'active', 'active', 'active'])
  })

  test('a child for failures that fails itself can be retried although another parent has yet to end', () => {
    world.attach('s', ['a'])
    const jobs = flow()
    fail(jobs[0])
    fail(jobs[2])
    expect(world.refusal({ op: 'retry', id: keyOfJob(jobs[3]) })).toBe('PARENT_FAILED')
    world.retry(jobs[2])
    expect(states(jobs)).toEqual(['failed', 'active', 'active', 'cancelled', 'failed'])
  })

  test.each([
    ['all', [0, 1], 'blocked'],
    ['one', [0], 'active'],
    ['the other', [1], 'active'],
  ] as const)('a child for failures that is retried with %s of its failed parents runs if a parent is still failed', (_, which, state) => {
    world.attach('s', ['a'])
    // Their children are told of a return in slices of three.
    const others = [{ parents: [0] }, { parents: [0] }] as const
    const jobs = world.flow([{}, {}, ...others, { parents: [0, 1], onFailure: 'run' }, ...others])
    const one = jobs[4]
    world.cancel(one)
    for (const job of [jobs[0], jobs[1]]) fail(job)
    world.run(...[...which.map((index) => jobs[index]), one].map((job): Command => ({ op: 'retry', id: keyOfJob(job) })))
    expect(world.stateOf(one)).toBe(state)
    if (state === 'blocked') fail(jobs[0])
    expect(world.stateOf(one)).toBe('active')
  })
})

describe('a parent that fails', () => {
  test('a parent that fails also fails its children and their children, without a run', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, {}, { parents: [0, 1] }, { parents: [2] }])
    fail(jobs[0])
    expect(states(jobs)).toEqual(['failed', 'active', 'failed', 'failed'])
    for (const job of jobs.slice(2)) {
      expect(errorOf(job)).toMatchObject({ name: 'ParentFailedError', message: expect.stringMatching(/is failed$/) })
      expect(world.row(job).run).toBe(0)
    }
  })

  test.each(['continue', 'ignore'] as const)(
    'a parent that fails releases its children with onFailure %s once all parents have ended',
    (onFailure) => {
      world.attach('s', ['a'])
      const jobs = world.flow([{}, {}, { parents: [0, 1], onFailure }])
      fail(jobs[0])
      expect(states(jobs)).toEqual(['failed', 'active', 'blocked'])
      complete(jobs[1])
      expect(states(jobs)).toEqual(['failed', 'completed', 'active'])
    },
  )

  test('a parent that is cancelled, expired, deleted or lost fails its children', () => {
    const cancelled = world.flow([{}, { parents: [0] }])
    const expired = world.flow([{ job: { ttl: 10 } }, { parents: [0] }])
    const deleted = world.flow([{}, { parents: [0] }])
    world.cancel(cancelled[0])
    world.delete(deleted[0])
    world.after(10)
    for (const [jobs, word] of [
      [cancelled, 'cancelled'],
      [expired, 'failed'],
      [deleted, 'deleted'],
    ] as const) {
      expect(world.stateOf(jobs[1])).toBe('failed')
      expect(errorOf(jobs[1])?.message).toMatch(new RegExp(`is ${word}$`))
    }
    const lost = world.flow([{ job: { maxAttempts: 1 } }, { parents: [0] }])
    world.attach('s', ['a'])
    world.reload()
    world.run()
    expect(states(lost)).toEqual(['failed', 'failed'])
  })

  test('a parent that is retried brings back the jobs that failed because of it, and no others', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, { parents: [0] }, { parents: [1] }, { parents: [0], onFailure: 'continue' }, { parents: [0] }])
    world.cancel(jobs[4])
    fail(jobs[0])
    complete(jobs[3])
    expect(states(jobs)).toEqual(['failed', 'failed', 'failed', 'completed', 'cancelled'])
    world.retry(jobs[0])
    expect(states(jobs)).toEqual(['active', 'blocked', 'blocked', 'completed', 'cancelled'])
    complete(jobs[0])
    complete(jobs[1])
    complete(jobs[2])
    expect(states(jobs)).toEqual(['completed', 'completed', 'completed', 'completed', 'cancelled'])
  })

  test('a child whose parent has failed cannot be retried alone, and a redrive retries the parent', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, { parents: [0] }])
    fail(jobs[0])
    expect(world.refusal({ op: 'retry', id: keyOfJob(jobs[1]) })).toBe('PARENT_FAILED')
    expect(world.call<'redrive'>({ op: 'redrive', limit: 10 })).toMatchObject({ count: 1 })
    expect(states(jobs)).toEqual(['active', 'blocked'])
  })

  test('a child with two failed parents stays failed until both are retried', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, {}, { parents: [0, 1] }])
    fail(jobs[0])
    fail(jobs[1])
    world.retry(jobs[0])
    expect(states(jobs)).toEqual(['active', 'failed', 'failed'])
    world.retry(jobs[1])
    expect(states(jobs)).toEqual(['active', 'active', 'blocked'])
  })
})

describe('a job that waits for its parents', () => {
  test('a blocked job counts its delay from its release, and its ttl from its creation', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, { parents: [0], job: { delay: 100 } }, { parents: [0], job: { ttl: 50 } }])
    world.after(60)
    expect(states(jobs)).toEqual(['active', 'blocked', 'failed'])
    expect(errorOf(jobs[2])?.name).toBe('JobExpiredError')
    complete(jobs[0])
    expect(world.stateOf(jobs[1])).toBe('scheduled')
    world.after(99)
    expect(world.stateOf(jobs[1])).toBe('scheduled')
    world.after(1)
    expect(world.stateOf(jobs[1])).toBe('active')
  })

  test('a blocked job can be updated in its place, and cannot be run by hand', () => {
    const jobs = world.flow([{}, { parents: [0] }])
    const id = keyOfJob(jobs[1])
    expect(world.refusal({ op: 'runNow', id })).toBe('JOB_BLOCKED')
    world.update(id, { priority: 5, data: 'new' })
    expect(world.row(jobs[1])).toMatchObject({ priority: 5, data: 'new' })
    expect(world.stateOf(jobs[1])).toBe('blocked')
  })

  test('a blocked job that is cancelled and retried waits again, or runs if its parent has completed since', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, { parents: [0] }])
    const id = keyOfJob(jobs[1])
    world.cancel(id)
    world.retry(id)
    expect(world.stateOf(jobs[1])).toBe('blocked')
    world.cancel(id)
    complete(jobs[0])
    expect(world.stateOf(jobs[1])).toBe('cancelled')
    world.retry(id)
    expect(world.stateOf(jobs[1])).toBe('active')
  })
})

test.each(['at once', 'first the parent'])('a child that is retried with its parent (%s) waits for it again', (how) => {
  world.attach('s', ['a'])
  const jobs = world.flow([{}, { parents: [0], onFailure: 'continue' }])
  const [parent, child] = jobs.map((job) => ({ op: 'retry', id: keyOfJob(job) }) as const)
  world.cancel((child as { id: JobKey }).id)
  fail(jobs[0])
  expect(states(jobs)).toEqual(['failed', 'cancelled'])
  if (how === 'at once') world.turn(parent as Command, child as Command)
  else {
    world.turn(parent as Command)
    world.turn(child as Command)
  }
  world.run()
  expect(states(jobs)).toEqual(['active', 'blocked'])
  complete(jobs[0])
  expect(states(jobs)).toEqual(['completed', 'active'])
})

test('a child whose parents have ended runs when it is retried in one turn with a job of another flow', () => {
  world.attach('s', ['a'])
  const jobs = world.flow([{}, { parents: [0], onFailure: 'continue' }])
  const others = world.flow([{}, { parents: [0], onFailure: 'continue' }])
  world.cancel(jobs[1])
  fail(jobs[0])
  fail(others[0])
  world.turn({ op: 'retry', id: keyOfJob(others[0]) }, { op: 'retry', id: keyOfJob(jobs[1]) })
  world.run()
  expect(states([...jobs, ...others])).toEqual(['failed', 'active', 'active', 'active'])
})

describe('the tree of jobs below a parent', () => {
  const tree = [{}, { parents: [0] }, { parents: [0], onFailure: 'continue' }, { parents: [1, 2] }, {}] as const

  test('a tree is cancelled as a whole: running jobs are asked to stop, waiting jobs are cancelled at once', () => {
    world.attach('s', ['a'])
    const jobs = world.flow(tree)
    expect(world.call<'cancelTree'>({ op: 'cancelTree', id: keyOfJob(jobs[0]) })).toBe('cancelling')
    expect(states(jobs)).toEqual(['active', 'cancelled', 'cancelled', 'cancelled', 'active'])
    complete(jobs[0])
    expect(states(jobs)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled', 'active'])
    expect(world.call<'retryTree'>({ op: 'retryTree', id: keyOfJob(jobs[0]) })).toBe(true)
    expect(states(jobs)).toEqual(['active', 'blocked', 'blocked', 'blocked', 'active'])
  })

  test('the reason of a cancelled tree is stored with all its cancelled jobs, also below a job that has ended otherwise', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([...tree, { parents: [2] }])
    const said = { reason: 'wrong file', by: 'ada' }
    complete(jobs[0], '"out"')
    world.call<'cancelTree'>({ op: 'cancelTree', id: keyOfJob(jobs[0]), ...said })
    expect(world.row(jobs[0]).output).toBe('"out"')
    const told = jobs.map((job) => world.row(job).extras?.cancel)
    // The first one has completed: it passes on what was said, and `get` says nothing of it.
    expect(told).toEqual([said, said, said, said, undefined, said])
    expect(jobs.map((job) => viewOf(world.row(job), 'default', 'a', []).cancellation)).toEqual([
      undefined,
      said,
      said,
      said,
      undefined,
      said,
    ])
    world.call<'retryTree'>({ op: 'retryTree', id: keyOfJob(jobs[3]) })
    expect(world.row(jobs[3]).extras?.cancel).toBeUndefined()
  })

  test('a completed job in the middle of a tree passes the reason of a cancel on, and keeps its output', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, { parents: [0] }, {}, { parents: [1, 2] }])
    complete(jobs[0])
    complete(jobs[1], '"out"')
    const said = { reason: 'wrong file' }
    world.call<'cancelTree'>({ op: 'cancelTree', id: keyOfJob(jobs[0]), ...said })
    expect(states(jobs)).toEqual(['completed', 'completed', 'active', 'cancelled'])
    expect(jobs.map((job) => world.row(job).extras?.cancel)).toEqual([said, said, undefined, said])
    expect(world.row(jobs[1]).output).toBe('"out"')
  })

  test.each(['retry', 'retryTree'] as const)(
    'a %s of the parent while the cancel of its tree is under way reaches a child before a retry of that child starts it',
    (op) => {
      const jobs = world.flow([{}, ...Array.from({ length: 20 }, () => ({ parents: [0], onFailure: 'continue' as const }))])
      const [parent, ...children] = jobs
      const child = children[2 * LIMITS.sliceRows] as Enqueued
      world.turn({ op: 'cancelTree', id: keyOfJob(parent) })
      for (let slices = 0; slices < 3; slices++) world.turn()
      expect(states([parent, child, children.at(-1) as Enqueued])).toEqual(['cancelled', 'cancelled', 'blocked'])
      // The children are told from the first on, and this one not yet.
      const turns = [world.turn({ op, id: keyOfJob(parent) }), world.turn({ op: 'retry', id: keyOfJob(child) }), world.run()]
      expect(turns.flatMap(({ events }) => events).filter(({ type }) => type === 'released')).toEqual([])
      // A retry of the one job leaves the cancel of the others to its course; one of the tree is its end.
      expect(new Set(states(children))).toEqual(new Set([op === 'retry' ? 'cancelled' : 'blocked']))
      expect(world.stateOf(parent)).toBe('waiting')
    },
  )

  test('a later cancel of a tree without a reason passes on no reason', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, { parents: [0] }, { parents: [1] }])
    complete(jobs[0])
    complete(jobs[1])
    const id = keyOfJob(jobs[0])
    world.call<'cancelTree'>({ op: 'cancelTree', id, reason: 'wrong file' })
    complete(jobs[2])
    expect(states(jobs)).toEqual(['completed', 'completed', 'cancelled'])
    world.call<'retryTree'>({ op: 'retryTree', id })
    world.call<'cancelTree'>({ op: 'cancelTree', id })
    expect(jobs.map((job) => world.row(job).extras?.cancel)).toEqual([undefined, undefined, undefined])
    expect(world.row(jobs[2]).cancelRequested).toBe(true)
  })

  test('a tree below a job that has ended can be retried and cancelled', () => {
    world.attach('s', ['a'])
    const jobs = world.flow(tree)
    complete(jobs[0])
    fail(jobs[2])
    expect(states(jobs)).toEqual(['completed', 'active', 'failed', 'failed', 'active'])
    world.call<'retryTree'>({ op: 'retryTree', id: keyOfJob(jobs[0]) })
    expect(states(jobs)).toEqual(['completed', 'active', 'active', 'blocked', 'active'])
    expect(world.call<'cancelTree'>({ op: 'cancelTree', id: keyOfJob(jobs[0]) })).toBe('finished')
    expect(states(jobs)).toEqual(['completed', 'active', 'active', 'cancelled', 'active'])
    expect(world.row(jobs[1]).cancelRequested).toBe(true)
    expect(world.row(jobs[4]).cancelRequested).toBe(false)
  })
})

describe('a parent whose row is deleted', () => {
  test('a deleted parent leaves its output to its blocked children, and nothing once they have ended', () => {
    world = new World({ settings: { retention: { ...DEFAULT_RETENTION, completed: { ageMs: 0, count: 0 } } } })
    world.attach('s', ['a'])
    const jobs = world.flow([{}, {}, { parents: [0, 1] }])
    complete(jobs[0], '"out"')
    expect(states(jobs)).toEqual(['gone', 'active', 'blocked'])
    complete(jobs[1])
    expect(world.stateOf(jobs[2])).toBe('active')
    expect(world.store.parents(jobs[2]?.seq as number, 0, 10, 1_000).rows).toMatchObject([
      { ref: 'n0', state: COMPLETED, output: '"out"' },
      { ref: 'n1', state: COMPLETED, output: null },
    ])
    complete(jobs[2])
    const { edges, ends, counters, due, gone } = world.store.flows
    expect([edges.size, ends.size, counters.size, due.size, gone.size]).toEqual([0, 0, 0, 0, 0])
  })

  test('a parent that retention deletes keeps its output for its blocked children', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, {}, { parents: [0, 1] }])
    complete(jobs[0], '"out"')
    world.pass(8 * 86_400_000)
    world.pruning = world.settings.retention
    world.turn()
    world.pruning = undefined
    expect(world.stateOf(jobs[0])).toBe('gone')
    expect(world.store.parents(jobs[2]?.seq as number, 0, 10, 1_000).rows[0]).toMatchObject({
      ref: 'n0',
      state: COMPLETED,
      output: '"out"',
    })
  })

  test('a parent that is deleted by hand keeps its state for its children, and not its output', () => {
    world.attach('s', ['a'])
    const jobs = world.flow([{}, {}, { parents: [0, 1] }])
    complete(jobs[0], '"secret"')
    world.delete(jobs[0])
    complete(jobs[1])
    expect(world.stateOf(jobs[2])).toBe('active')
    expect(world.store.parents(jobs[2]?.seq as number, 0, 10, 1_000).rows[0]).toMatchObject({ state: COMPLETED, output: null })
  })
})

test('a flow with an idempotency key is created once', () => {
  const nodes = [{}, { parents: [0], onFailure: 'ignore' as const }]
  const first = world.call<'flow'>(flowOf(nodes, { idempotencyKey: 'k', idempotencyTtl: 100 }))
  expect(world.call<'flow'>(flowOf(nodes, { idempotencyKey: 'k' }))).toEqual({ ...first, created: false })
  world.pass(100)
  // The first has ended, the second lives: so does the flow.
  world.cancel(first)
  expect(world.call<'flow'>(flowOf(nodes, { idempotencyKey: 'k' }))).toEqual({ ...first, created: false })
  world.cancel({ seq: first.seq + 1 })
  expect(world.call<'flow'>(flowOf(nodes, { idempotencyKey: 'k' }))).toMatchObject({ created: true })
})

test('a flow is refused while the disk is full', () => {
  world.refusing = { code: 'DISK_FULL', message: 'full' }
  expect(world.refusal(flowOf([{}]))).toBe('DISK_FULL')
  expect(world.store.rows.size).toBe(0)
})
