/** Tests what operators do to jobs (update, runNow, retry, redrive, delete), and what retention deletes. */

import { describe, expect, test } from 'vitest'
import type { JobKey } from '../../id.ts'
import { ACTIVE, CANCELLED, COMPLETED, FAILED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import { parsePolicy } from '../../policy.ts'
import { DEFAULT_RETENTION, type Retention } from '../../retention.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'

const ERROR = { name: 'E', message: 'm' }
const one = { minConcurrency: 1, maxConcurrency: 1 }

/** One job of each kind, by row: 1 completed, 2 failed, 3 cancelled, 4 active, 5 waiting, 6 scheduled. */
function oneOfEach(): World {
  const world = new World()
  world.attach('s', ['a'])
  world.run(enqueueing({ name: 'a' }, { name: 'a', data: 'failed' }))
  world.run({ op: 'complete', seq: 1, run: 1, output: null }, { op: 'fail', seq: 2, run: 1, error: ERROR, retry: false })
  world.cancel(world.enqueue('b', { data: 'cancelled' }))
  world.enqueue('a')
  world.enqueue('b')
  world.enqueue('b', { delay: 1_000 })
  return world
}

describe.each([
  [
    'update',
    (world: World, seq: number): Command => ({ op: 'update', id: world.row({ seq }), changes: { priority: 3 } }),
    ['JOB_FINISHED', 'JOB_FINISHED', 'JOB_FINISHED', 'JOB_ACTIVE', undefined, undefined],
  ],
  [
    'runNow',
    (world: World, seq: number): Command => ({ op: 'runNow', id: world.row({ seq }) }),
    ['JOB_FINISHED', 'JOB_FINISHED', 'JOB_FINISHED', 'JOB_ACTIVE', undefined, undefined],
  ],
  [
    'retry',
    (world: World, seq: number): Command => ({ op: 'retry', id: world.row({ seq }) }),
    ['JOB_FINISHED', undefined, undefined, 'JOB_ACTIVE', undefined, 'JOB_SCHEDULED'],
  ],
  [
    'delete',
    (world: World, seq: number): Command => ({ op: 'delete', id: world.row({ seq }) }),
    [undefined, undefined, undefined, 'JOB_ACTIVE', undefined, undefined],
  ],
] as const)('E11: the command %s is refused when it comes too late', (_op, command, codes) => {
  test.each([
    ['completed', 1],
    ['failed', 2],
    ['cancelled', 3],
    ['active', 4],
    ['waiting', 5],
    ['scheduled', 6],
  ] as const)('a %s job changes alone, or not at all if the command is refused', (_state, seq) => {
    const world = oneOfEach()
    const others = () => JSON.stringify([...world.store.rows.values()].filter((row) => row.seq !== seq))
    const [before, own] = [others(), JSON.stringify(world.row({ seq }))]
    const { replies } = world.turn(command(world, seq))
    expect(codeOf(replies[0])).toBe(codes[seq - 1])
    expect(others()).toBe(before)
    if (codes[seq - 1] !== undefined) expect(JSON.stringify(world.row({ seq }))).toBe(own)
  })

  test('a job that does not exist is not found', () => {
    const world = oneOfEach()
    const made = command(world, 5) as Command & { id: object }
    expect(codeOf(world.turn({ ...made, id: { seq: 99, node: 7, enqueuedAt: 1 } } as never).replies[0])).toBe('JOB_NOT_FOUND')
    expect(codeOf(world.turn({ ...made, id: { ...made.id, node: 8 } } as never).replies[0])).toBe('JOB_NOT_FOUND')
  })
})

describe('E11: updating a job', () => {
  test('an update changes data, weight, checkpoint and priority, and keeps all options that it does not name', () => {
    const world = new World()
    const job = world.enqueue('a', { data: '1', priority: 1, weight: 2 })
    world.update(job, { data: '2', checkpoint: 'c' })
    expect(world.row(job)).toMatchObject({ state: WAITING, data: '2', checkpoint: 'c', priority: 1, weight: 2 })
    world.update(job, { priority: 5, weight: 6 })
    expect(world.row(job)).toMatchObject({ data: '2', checkpoint: 'c', priority: 5, weight: 6 })
    expect(world.run(...[{ op: 'attach', session: intro(), held: [] } as const]).grants).toMatchObject([{ data: '2', checkpoint: 'c' }])
  })

  test('an update changes attempts, time limit and backoff of the next run and those after it, of this job alone', () => {
    const world = new World()
    world.attach('s', ['a'])
    const [id, bystander] = [world.enqueue('a', { tokens: 3 }), world.enqueue('a', { tokens: 3 })]
    const policyOf = (job: JobKey) => parsePolicy(world.row(job).policy)
    world.run({ op: 'fail', seq: 1, run: 1, error: ERROR })
    const dueAt = world.row(id).runAt
    const { maxAttempts, timeout, backoff } = policyOf(bystander)
    world.update(id, { maxAttempts: 2, timeout: 700 })
    expect(policyOf(id)).toMatchObject({ maxAttempts: 2, timeout: 700, backoff, tokens: 3 })
    world.update(id, { backoff: { type: 'fixed', delay: 9 }, timeout: Number.POSITIVE_INFINITY, maxAttempts: 3 })
    expect(policyOf(id)).toMatchObject({
      maxAttempts: 3,
      timeout: Number.POSITIVE_INFINITY,
      backoff: { type: 'fixed', delay: 9 },
      tokens: 3,
    })
    expect(world.row(id)).toMatchObject({ state: SCHEDULED, runAt: dueAt })
    world.run({ op: 'runNow', id })
    world.run({ op: 'fail', seq: 1, run: 2, error: ERROR })
    expect(world.row(id)).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + 9 })
    world.update(id, { maxAttempts: 1 })
    world.run({ op: 'runNow', id })
    world.run({ op: 'fail', seq: 1, run: 3, error: ERROR })
    expect(world.row(id).state).toBe(FAILED)
    expect(policyOf(bystander)).toMatchObject({ maxAttempts, timeout, backoff, tokens: 3 })
  })

  test('an update changes tags and meta in every state, without a move or an event', () => {
    const world = new World()
    world.attach('s', ['a'], one)
    const options = { tags: ['old', 'both'], meta: '{"m":1}', concurrencyKey: 'k' }
    const [done, active, waiting, later] = world
      .run(
        enqueueing(
          { name: 'a', ...options },
          { name: 'a', ...options },
          { name: 'a', ...options },
          { name: 'a', delay: 9_999, ...options },
        ),
      )
      .replies.flat() as JobKey[]
    world.complete({ seq: 1 }, '"out"')
    for (const id of [done, active, waiting, later] as JobKey[]) {
      const { tags: _tags, meta: _meta, ...others } = world.row(id).extras ?? {}
      const before = { ...world.row(id), extras: others }
      const { events } = world.update(id, { tags: ['both', 'new'], meta: '{"m":2}' })
      expect(events).toEqual([])
      expect(world.row(id)).toEqual({ ...before, extras: { ...others, tags: ['both', 'new'], meta: '{"m":2}' } })
      world.update(id, { tags: [] })
      expect(world.row(id).extras).toEqual({ ...others, meta: '{"m":2}' })
    }
    expect(world.row(done as JobKey).output).toBe('"out"')
  })

  test('an update of tags beside other changes is refused as a whole', () => {
    const world = new World()
    world.attach('s', ['a'], one)
    const id = world.enqueue('a', { tags: ['old'] })
    expect(codeOf(world.turn({ op: 'update', id, changes: { tags: ['new'], priority: 1 } }).replies[0])).toBe('JOB_ACTIVE')
    expect(world.row(id).extras).toEqual({ tags: ['old'] })
  })

  test('a job that loses its only tag has no extras, and one that gets a tag and starts in one turn has it', () => {
    const world = new World()
    const id = world.enqueue('a', { tags: ['old'] })
    world.update(id, { tags: [] })
    expect(world.row(id).extras).toBeUndefined()
    world.run({ op: 'update', id, changes: { tags: ['new'] } }, { op: 'attach', session: intro(), held: [] })
    expect(world.row(id)).toMatchObject({ state: ACTIVE, run: 1, extras: { tags: ['new'] } })
  })

  test('a job in a window in memory moves to its new place in line', () => {
    const world = new World()
    world.attach('s', ['a'], one)
    world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a', data: 'old' }))
    world.update({ seq: 3 }, { priority: 9, data: 'new' })
    expect(world.complete({ seq: 1 }).grants).toMatchObject([{ seq: 3, data: 'new' }])
  })

  test('an update of runAt moves a job between waiting and scheduled', () => {
    const world = new World()
    const job = world.enqueue('a')
    world.update(job, { runAt: world.now.wall + 40 })
    expect(world.row(job)).toMatchObject({ state: SCHEDULED, runAt: world.now.wall + 40 })
    world.after(39)
    expect(world.stateOf(job)).toBe('scheduled')
    world.after(1)
    expect(world.stateOf(job)).toBe('waiting')
    world.update(job, { runAt: 5 })
    expect(world.row(job)).toMatchObject({ state: WAITING, runAt: world.now.wall })
  })

  test('a job that fails and is moved within one turn still has its payload', () => {
    for (const move of ['update', 'runNow', 'retry'] as const) {
      const world = new World()
      world.attach('s', ['a'])
      const id = world.enqueue('a', { data: 'payload' })
      const fail = { op: 'fail', seq: 1, run: 1, error: ERROR, retry: 500 } as const
      const changes = { runAt: world.now.wall }
      const { grants } = world.run(fail, move === 'update' ? { op: move, id, changes } : { op: move, id })
      expect(grants).toMatchObject([{ seq: 1, run: 2, data: 'payload' }])
    }
  })
})

function intro() {
  const handlers = [{ name: 'a', defaults: {} }]
  return { uuid: 's', worker: 'w', host: 'h', pid: 1, local: true, handlers, ...one, abortGrace: 1 }
}

describe('running a job now', () => {
  test('runNow makes a scheduled job due, and leaves a waiting job as it is', () => {
    const world = oneOfEach()
    world.run({ op: 'runNow', id: world.row({ seq: 6 }) }, { op: 'runNow', id: world.row({ seq: 5 }) })
    expect(world.row({ seq: 6 })).toMatchObject({ state: WAITING, runAt: world.now.wall })
    expect(world.stateOf({ seq: 5 })).toBe('waiting')
  })

  test('a job that is run now starts in the same turn if a worker waits', () => {
    const world = new World()
    world.attach('s', ['a'])
    const id = world.enqueue('a', { delay: 1_000, data: 'x' })
    expect(world.turn({ op: 'runNow', id }).grants).toMatchObject([{ seq: 1, data: 'x' }])
    expect(world.after(1_000).grants).toEqual([])
  })
})

describe('retrying and redriving jobs', () => {
  test('a retried job starts from its first attempt: earlier runs do not count, and their numbers are not used again', () => {
    const world = new World()
    world.attach('s', ['a'])
    const id = world.enqueue('a', { maxAttempts: 2, data: 'x' })
    for (let run = 1; run <= 2; run++) world.fail({ seq: 1 }, { retry: 0 })
    expect(world.stateOf(id)).toBe('failed')
    expect(world.retry(id).grants).toMatchObject([{ seq: 1, run: 3, attempt: 1, data: 'x' }])
    expect(world.row(id)).toMatchObject({ finishedAt: 0, uncounted: 2 })
    world.fail({ seq: 1 }, { retry: 0 })
    expect(world.row(id)).toMatchObject({ state: ACTIVE, run: 4 })
  })

  test('a cancelled job can be retried, and its cancel is forgotten', () => {
    const world = oneOfEach()
    world.retry({ seq: 3 })
    expect(world.row({ seq: 3 })).toMatchObject({ state: WAITING, cancelRequested: false, data: 'cancelled' })
  })

  test('a job that was cancelled while it ran can be retried, and then completes', () => {
    const world = new World()
    world.attach('s', ['a'])
    const id = world.enqueue('a')
    world.cancel(id)
    world.giveBack({ seq: 1 })
    expect(world.row(id)).toMatchObject({ state: CANCELLED, cancelRequested: true })
    world.retry(id)
    world.complete({ seq: 1 }, 'done')
    expect(world.row(id)).toMatchObject({ state: COMPLETED, output: 'done', cancelRequested: false })
  })

  test('a job that fails and is retried in one turn still has its payload', () => {
    const world = new World()
    world.attach('s', ['a'])
    const id = world.enqueue('a', { data: 'x' })
    const { grants } = world.run({ op: 'fail', seq: 1, run: 1, error: ERROR, retry: false }, { op: 'retry', id })
    expect(grants).toMatchObject([{ seq: 1, run: 2, attempt: 1, data: 'x' }])
  })

  test('a retried job takes its unique key again, and the retry is refused if another live job has the key', () => {
    const world = new World()
    const unique = { unique: { key: 'k', onConflict: 'error' as const } }
    const first = world.enqueue('a', unique)
    world.cancel(first)
    const second = world.enqueue('a', unique)
    expect(world.refusal({ op: 'retry', id: first })).toBe('UNIQUE_CONFLICT')
    world.cancel(second)
    expect(world.refusal({ op: 'retry', id: first })).toBeUndefined()
    expect(world.refusal(enqueueing({ name: 'a', ...unique }))).toBe('UNIQUE_CONFLICT')
  })

  function failed(): World {
    const world = new World()
    world.attach('s', ['a', 'b'])
    world.run(enqueueing({ name: 'a' }, { name: 'b' }, { name: 'a', queue: 'q' }, { name: 'a' }))
    for (let seq = 4; seq >= 1; seq--) {
      world.pass(1)
      world.fail({ seq }, { retry: false })
    }
    world.leave('s')
    return world
  }
  const waiting = (world: World) => [...world.store.rows.values()].filter((row) => row.state === WAITING).map((row) => row.seq)

  test('Q5: redrive takes the oldest failures first, a slice at a time', () => {
    const world = failed()
    expect(world.call({ op: 'redrive', limit: 1 })).toMatchObject({ count: 1 })
    expect(waiting(world)).toEqual([4])
    expect(world.call({ op: 'redrive', limit: 10 })).toMatchObject({ count: 3 })
    expect(world.call({ op: 'redrive', limit: 10 })).toMatchObject({ count: 0 })
  })

  test.each([
    [{ name: 'a' }, [1, 3, 4]],
    [{ queue: 'q' }, [3]],
    [{ queue: 'default', name: 'a' }, [1, 4]],
    [{ queue: 'none' }, []],
    [{ name: 'none' }, []],
  ])('a redrive with the filter %j retries the failed jobs that match', (filter, expected) => {
    const world = failed()
    expect(world.call({ op: 'redrive', limit: 10, ...filter })).toMatchObject({ count: expected.length })
    expect(waiting(world)).toEqual(expected)
  })

  test('two redrives in one turn retry different jobs', () => {
    const world = failed()
    const { replies } = world.turn({ op: 'redrive', queue: 'q', limit: 10 }, { op: 'redrive', name: 'b', limit: 10 })
    expect(replies).toMatchObject([{ count: 1 }, { count: 1 }])
    expect(waiting(world)).toEqual([2, 3])
  })

  test('rescue-pagination-starvation: a slice of jobs that cannot be retried does not hide the jobs behind it', () => {
    const world = failed()
    const [oldest] = [...world.store.rows.values()].filter((row) => row.state === FAILED).sort((a, b) => a.finishedAt - b.finishedAt)
    const first = world.call({ op: 'redrive', limit: 1 })
    expect(first).toEqual({ count: 1, next: { finishedAt: oldest?.finishedAt, seq: oldest?.seq }, failed: 4 })
    const rest = world.call({ op: 'redrive', limit: 10, after: first.next ?? { finishedAt: 0, seq: 0 } })
    expect(rest.count).toBe(3)
    expect(world.call({ op: 'redrive', limit: 10, after: rest.next ?? { finishedAt: 0, seq: 0 } })).toEqual({
      count: 0,
      next: null,
      failed: 0,
    })
  })

  test('a job that an earlier command of the turn has deleted is not retried', () => {
    const world = failed()
    const id = world.row({ seq: 3 })
    const { replies } = world.turn({ op: 'delete', id }, { op: 'redrive', queue: 'q', limit: 10 }, { op: 'retry', id })
    expect(replies.map((reply) => codeOf(reply) ?? reply)).toMatchObject([true, { count: 0 }, 'JOB_NOT_FOUND'])
    expect(world.stateOf({ seq: 3 })).toBe('gone')
  })
})

describe('deleting a job', () => {
  test('stalled-vs-remove-race: a deleted job is not brought back by a later command of the turn', () => {
    for (const op of ['cancel', 'update', 'retry', 'runNow', 'delete'] as const) {
      const world = new World()
      const id = world.enqueue('a', { delay: 10, ttl: 10 })
      const bystander = world.enqueue('a')
      world.pass(10)
      const { replies } = world.turn({ op: 'delete', id }, op === 'update' ? { op, id, changes: { priority: 1 } } : { op, id })
      expect(replies.map((reply) => codeOf(reply) ?? reply)).toEqual([true, 'JOB_NOT_FOUND'])
      world.attach('s', ['a'])
      expect([world.stateOf(id), world.stateOf(bystander)]).toEqual(['gone', 'active'])
    }
  })

  test('a job whose time comes in the turn that deletes it neither starts nor expires', () => {
    for (const options of [{ delay: 10 }, { delay: 10, ttl: 5 }, { ttl: 10 }]) {
      const world = new World()
      const id = world.enqueue('a', options)
      world.attach('s', ['b'])
      world.pass(10)
      const { events } = world.turn({ op: 'delete', id })
      expect(events.map((event) => event.type)).toEqual(['deleted'])
      expect(world.store.lanes.get(1)?.counts).toEqual([0, 0, 0, 0, 0, 0, 0])
    }
  })

  test('a job can be created and deleted in one turn, which frees its unique key', () => {
    const world = new World()
    const { replies } = world.turn(enqueueing({ name: 'a', unique: { key: 'k', onConflict: 'skip' } }), {
      op: 'delete',
      id: { seq: 1, node: 7, enqueuedAt: world.now.wall },
    })
    expect(replies).toMatchObject([[{ created: true }], true])
    expect([world.store.rows.size, world.store.uniqueKeys.size]).toEqual([0, 0])
    expect(world.enqueue('a', { unique: { key: 'k', onConflict: 'error' } }).created).toBe(true)
  })

  test('a job in the middle of a window in memory is deleted, and those around it start in order', () => {
    const world = new World()
    world.attach('s', ['a'], one)
    world.run(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a' }))
    world.delete({ seq: 2 })
    expect(world.complete({ seq: 1 }).grants).toMatchObject([{ seq: 3 }])
  })
})

describe('E16, M10: the retention of jobs', () => {
  const keeping = (retention: Partial<Retention>) => new World({ settings: { retention: { ...DEFAULT_RETENTION, ...retention } } })

  function complete(world: World, count: number): void {
    for (let job = 0; job < count; job++) {
      const { seq } = world.enqueue('a')
      world.complete({ seq })
      world.pass(1)
    }
  }
  const prune = (world: World) => {
    world.pruning = world.settings.retention
    world.turn()
    world.pruning = undefined
  }
  const left = (world: World) => [...world.store.rows.keys()]

  test('jobs are pruned by age for each state, and live jobs never', () => {
    const world = keeping({ completed: { ageMs: 100, count: 1_000 } })
    world.attach('s', ['a'])
    complete(world, 2)
    const failed = world.enqueue('a')
    world.fail(failed, { retry: false })
    const running = world.enqueue('a', { timeout: Number.POSITIVE_INFINITY })
    const waiting = world.enqueue('b')
    world.after(100)
    prune(world)
    expect(left(world)).toEqual([failed.seq, running.seq, waiting.seq])
    expect(world.store.lanes.get(1)).toMatchObject({ counts: [0, 0, 1, 0, 0, 1, 0], totals: { completed: 2, failed: 1 } })
  })

  test('a job is kept until its age reaches the limit', () => {
    const world = keeping({ completed: { ageMs: 100, count: 1_000 } })
    world.attach('s', ['a'])
    complete(world, 1)
    world.pass(99)
    prune(world)
    expect(left(world)).toEqual([1])
    world.pass(1)
    prune(world)
    expect(left(world)).toEqual([])
  })

  test('the oldest jobs are pruned when there are more than the count', () => {
    const world = keeping({ completed: { ageMs: 1e9, count: 3 } })
    world.attach('s', ['a'])
    complete(world, 7)
    prune(world)
    expect(left(world)).toEqual([5, 6, 7])
  })

  test('jobs are pruned in bounded slices, one for each turn', () => {
    const world = new World({
      audited: false,
      settings: { retention: { ...DEFAULT_RETENTION, cancelled: { ageMs: 1, count: 1_000_000 } } },
    })
    const count = LIMITS.sliceRows + 5
    world.run(enqueueing(...Array.from({ length: count }, () => ({ name: 'a' }))))
    world.run(...[...world.store.rows.values()].map((id) => ({ op: 'cancel', id }) as const))
    world.pass(10)
    prune(world)
    expect(world.store.rows.size).toBe(5)
    prune(world)
    expect(world.store.rows.size).toBe(0)
  })

  test.each([
    ['completed', { op: 'complete', seq: 1, run: 1, output: null }],
    ['failed', { op: 'fail', seq: 1, run: 1, error: ERROR, retry: false }],
    ['cancelled', { op: 'cancel', id: { seq: 1 } }],
  ] as const)('a %s job is deleted at once if its retention is 0, and still counts in the totals', (state, command) => {
    const world = keeping({ [state]: { ageMs: 0, count: 1_000 } })
    if (state !== 'cancelled') world.attach('s', ['a'])
    const job = world.enqueue('a', { unique: { key: 'k', onConflict: 'error' } })
    const bystander = world.enqueue('b')
    world.run(command.op === 'cancel' ? { op: 'cancel', id: job } : command)
    expect(left(world)).toEqual([bystander.seq])
    expect(world.store.lanes.get(1)?.totals).toMatchObject({ [state]: 1 })
    expect(world.enqueue('a', { unique: { key: 'k', onConflict: 'error' } }).created).toBe(true)
  })

  test('a job that is retried in the turn that would prune it stays', () => {
    const world = keeping({ cancelled: { ageMs: 10, count: 1_000 } })
    const id = world.enqueue('a')
    world.cancel(id)
    world.pass(100)
    world.pruning = world.settings.retention
    world.turn({ op: 'retry', id })
    expect(world.stateOf(id)).toBe('waiting')
  })

  test('a job that is retried in the turn that would prune it and ends again is kept for its whole time from its new end', () => {
    const world = keeping({ cancelled: { ageMs: 10, count: 1_000 } })
    const [id, bystander] = [world.enqueue('a'), world.enqueue('a')]
    world.cancel(id)
    world.cancel(bystander)
    world.pass(100)
    world.pruning = world.settings.retention
    world.turn({ op: 'retry', id }, { op: 'cancel', id })
    expect(left(world)).toEqual([id.seq])
    expect(world.stateOf(id)).toBe('cancelled')
    world.pass(11)
    world.turn()
    expect(left(world)).toEqual([])
  })
})
