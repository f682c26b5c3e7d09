/** Tests full queues that drop their oldest job for a new one. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import { ACTIVE, BLOCKED, isLive, SCHEDULED, WAITING } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import type { Enqueued } from '../../replies.ts'
import { DEFAULT_RETENTION } from '../../retention.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, flowOf, keyOfJob, type Turned, World } from '../../testing/world.ts'
import { lengthOf } from '../records/lane.ts'

useSmallLimits()

/** A world whose queue takes so many, and drops its oldest for more. */
function full(maxLength: number, changes: QueueChanges = {}): World {
  const world = new World()
  world.configure('default', { maxLength, onFull: 'drop-oldest', ...changes })
  return world
}

function errorsOf(world: World, job: { readonly seq: number }): readonly (string | undefined)[] {
  return world.store.attempts(world.store.jobs([job.seq]))[0]?.map(({ error }) => error?.name) ?? []
}

function states(world: World, jobs: readonly { readonly seq: number }[]): string {
  return jobs.map((job) => world.stateOf(job)[0]).join('')
}

describe('a full queue that drops its oldest job', () => {
  test('a full queue cancels the job that arrived first, whatever its priority and due time, and no job of another queue', () => {
    const world = full(2)
    const bystander = world.enqueue('a', { queue: 'other' })
    const jobs = [world.enqueue('a', { priority: 9 }), world.enqueue('b', { delay: 50 }), world.enqueue('b')]
    expect(states(world, jobs)).toBe('csw')
    expect(world.row(jobs[0] as Enqueued)).toMatchObject({ dropped: true, data: null })
    expect(errorsOf(world, jobs[0] as Enqueued)).toEqual(['JobDroppedError'])
    const last = world.enqueue('a')
    expect(states(world, [...jobs, last])).toBe('ccww')
    expect(states(world, [bystander])).toBe('w')
    const { counts, totals } = world.tables.queues.get('default') ?? { counts: [], totals: undefined }
    expect([counts[WAITING], totals?.cancelled, totals?.enqueued]).toEqual([2, 2, 4])
  })

  test('each call of one turn makes room for itself, and can take the places of earlier calls', () => {
    const world = full(2)
    const { replies } = world.run(enqueueing({ name: 'a' }), enqueueing({ name: 'a' }, { name: 'b' }), enqueueing({ name: 'a' }))
    const jobs = replies.flat() as Enqueued[]
    expect(states(world, jobs)).toBe('ccww')
  })

  test('a call with more jobs than the queue holds is refused, and changes nothing', () => {
    const world = full(2)
    const first = world.enqueue('a')
    expect(world.refusal(enqueueing({ name: 'a' }, { name: 'a' }, { name: 'a' }))).toBe('QUEUE_FULL')
    expect(states(world, [first])).toBe('w')
  })

  test('jobs that wait for their parents count and stay; if they alone are left, a new job is refused', () => {
    const world = full(3)
    world.call<'flow'>(flowOf([{}, { parents: [0] }, { parents: [0] }]))
    const jobs = [{ seq: 1 }, { seq: 2 }, { seq: 3 }]
    expect(states(world, jobs)).toBe('wbb')
    const next = world.enqueue('b')
    // What waited for the job that was dropped fails with it, and makes room.
    expect(states(world, [...jobs, next])).toBe('cffw')
    world.call<'flow'>(flowOf([{ job: { queue: 'other' } }, { parents: [0] }, { parents: [0] }, { parents: [0] }]))
    expect(states(world, [next])).toBe('c')
    expect(world.refusal(enqueueing({ name: 'a' }))).toBe('QUEUE_FULL')
  })

  test('a repeat of an earlier call drops no job', () => {
    const world = full(2)
    const keys = { idempotencyKey: 'i', unique: { key: 'u', onConflict: 'replace' as const } }
    const jobs = [world.enqueue('a', keys), world.enqueue('a', { debounce: { key: 'd', delay: 50, mode: 'trailing' } })]
    world.enqueue('a', keys)
    world.enqueue('a', { unique: keys.unique })
    world.enqueue('a', { debounce: { key: 'd', delay: 60, mode: 'trailing' } })
    expect(states(world, jobs)).toBe('ws')
  })

  test('a dropped job frees its unique key, also for a call of the same turn', () => {
    const world = full(1)
    const unique = { key: 'u', onConflict: 'skip' as const }
    const first = world.enqueue('a', { unique })
    const { replies } = world.run(enqueueing({ name: 'b' }), enqueueing({ name: 'a', unique }))
    const [[second], [third]] = replies as [Enqueued[], Enqueued[]]
    expect(states(world, [first, second as Enqueued, third as Enqueued])).toBe('ccw')
    expect(third).toMatchObject({ created: true })
  })

  test('a job between two attempts can be dropped and keeps its errors; after a retry it no longer counts as dropped', () => {
    const world = full(1)
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    const job = world.enqueue('a', { maxAttempts: 3, backoff: { type: 'fixed', delay: 50 } })
    world.fail(job, { error: { name: 'Oops', message: '' } })
    const next = world.enqueue('b')
    expect(states(world, [job, next])).toBe('cw')
    expect(errorsOf(world, job)).toEqual(['Oops', 'JobDroppedError'])
    // It takes nobody's place.
    world.retry(job)
    expect(states(world, [job, next])).toBe('aw')
    expect(world.row(job).dropped).toBe(false)
  })

  test('later calls of a turn see which jobs its earlier commands have cancelled or brought back', () => {
    const world = full(2)
    const [gone, first] = [world.enqueue('a'), world.enqueue('a')]
    world.run({ op: 'cancel', id: keyOfJob(gone) }, enqueueing({ name: 'a' }))
    expect(states(world, [gone, first])).toBe('cw')
    const { replies } = world.run({ op: 'retry', id: keyOfJob(gone) }, enqueueing({ name: 'b' }), enqueueing({ name: 'b' }))
    // It came before all others.
    expect(states(world, [gone, first])).toBe('cc')
    expect(states(world, (replies.slice(1) as Enqueued[][]).flat())).toBe('ww')
  })

  test('a job that is parked behind its key, or that has its key in strict order, gives up its place like a cancelled job', () => {
    for (const keys of [{ perKeyLimit: 1 }, { keyOrder: 'strict' as const }]) {
      const world = full(2, keys)
      world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
      const jobs = ['k', 'k', 'l', 'k', 'k'].map((concurrencyKey) => world.enqueue('a', { concurrencyKey }))
      expect(states(world, jobs)).toBe('accww')
      world.complete({ seq: 1 })
      expect(states(world, jobs)).toBe('cccaw')
    }
  })

  test('jobs from a completion, a journal and a schedule drop the oldest job too, and a tick is never refused', () => {
    const world = full(2)
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    const running = world.enqueue('a')
    const [one, two] = [world.enqueue('b'), world.enqueue('b')]
    world.run({ op: 'complete', seq: running.seq, run: 1, output: null, enqueues: [{ name: 'b', data: null }] })
    expect(states(world, [one, two])).toBe('cw')
    const entries = [{ at: world.now.wall, jobs: [{ name: 'b', data: null }] }]
    const forward: Command = { op: 'forward', source: 'journal', number: 9, first: 1, entries }
    world.run(forward)
    // Told twice, it is done once.
    world.run(forward)
    expect(states(world, [two, { seq: 4 }, { seq: 5 }])).toBe('cww')
    const spec = { every: 60_000, jitter: 0, overlap: 'skip' as const, catchUp: 'latest' as const }
    const job = { name: 'b', data: null }
    const upsert = (id: string, runImmediately = false) =>
      world.call<'upsertSchedule'>({ op: 'upsertSchedule', id, spec, job, runImmediately })
    upsert('s', true)
    expect(states(world, [{ seq: 4 }, { seq: 5 }, { seq: 6 }])).toBe('cww')
    upsert('t')
    world.after(60_000)
    expect(states(world, [{ seq: 5 }, { seq: 6 }, { seq: 7 }])).toBe('cww')
    world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    expect(states(world, [{ seq: 6 }, { seq: 7 }])).toBe('ww')
    world.call<'flow'>(flowOf([{ job: { queue: 'other' } }, { job: { name: 'b' }, parents: [0] }, { job: { name: 'b' }, parents: [0] }]))
    expect(states(world, [{ seq: 6 }, { seq: 7 }])).toBe('cc')
    world.after(60_000)
    const queue = world.tables.queues.get('default')
    // The second of these ticks has taken the first one's place.
    expect(queue && lengthOf(queue)).toBe(3)
  })

  test('a dropped job is deleted at once if cancelled jobs are not kept', () => {
    const none = { ageMs: 0, count: 0 }
    const world = new World({ settings: { retention: { ...DEFAULT_RETENTION, cancelled: none } } })
    world.configure('default', { maxLength: 1, onFull: 'drop-oldest' })
    const job = world.enqueue('a')
    world.enqueue('a')
    expect(world.stateOf(job)).toBe('gone')
  })
})

describe('the setting onFull', () => {
  test('the setting onFull requires a maxLength, also after both are set', () => {
    const world = new World()
    const configure = (changes: QueueChanges): Command => ({ op: 'configure', queue: 'default', changes })
    expect(world.refusal(configure({ onFull: 'drop-oldest' }))).toBe('UNSUPPORTED')
    expect(world.refusal(configure({ onFull: 'drop-oldest', maxLength: 1 }))).toBe(undefined)
    expect(world.refusal(configure({ maxLength: null }))).toBe('UNSUPPORTED')
    expect(world.refusal(configure({ onFull: null }))).toBe(undefined)
    world.enqueue('a')
    expect(world.refusal(enqueueing({ name: 'a' }))).toBe('QUEUE_FULL')
  })

  test('the setting onFull covers jobs that are enqueued or updated after it, also over a restart', () => {
    const world = new World()
    const [first, second] = [world.enqueue('a'), world.enqueue('a')]
    const before = [first, second]
    world.configure('default', { maxLength: 3, onFull: 'drop-oldest' })
    const after = [world.enqueue('a')]
    world.reload()
    after.push(world.enqueue('a'))
    expect(states(world, [...before, ...after])).toBe('wwcw')
    world.update(second, { priority: 1 })
    after.push(world.enqueue('a'))
    expect(states(world, [...before, ...after])).toBe('wccww')
  })

  test('a maxLength that is lowered drops no job until new jobs come: each takes the place of one', () => {
    const world = full(4)
    const jobs = Array.from({ length: 4 }, () => world.enqueue('a'))
    const { replies } = world.run({ op: 'configure', queue: 'default', changes: { maxLength: 2 } }, enqueueing({ name: 'a' }))
    expect(replies[1]).toMatchObject([{ created: true }])
    expect(states(world, jobs)).toBe('cwww')
  })
})

const job = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    queue: fc.constantFrom('q', 'q', 'q', 'other'),
    data: fc.string({ maxLength: 30 }),
    delay: fc.constantFrom(0, 10),
    ttl: fc.constantFrom(20, 200),
    priority: fc.constantFrom(0, 1),
    concurrencyKey: fc.constantFrom('k1', 'k2'),
    unique: fc.record({ key: fc.constantFrom('u1', 'u2'), onConflict: fc.constantFrom('skip', 'replace', 'reschedule') }),
    maxAttempts: fc.constantFrom(1, 2),
    backoff: fc.constant({ type: 'fixed' as const, delay: 5 }),
  },
  { requiredKeys: ['name', 'queue', 'data'] },
) as fc.Arbitrary<NewJob>
const jobs = fc.array(job, { minLength: 1, maxLength: 3 })
const act = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('enqueue' as const), jobs }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom('cancel' as const, 'delete' as const, 'retry' as const), pick: fc.nat(40) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('complete' as const, 'fail' as const, 'giveBack' as const, 'snooze' as const),
      jobs,
      pick: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('flow' as const), jobs }) },
)
type Act = typeof act extends fc.Arbitrary<infer Each> ? Each : never
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('turn' as const), acts: fc.array(act, { minLength: 1, maxLength: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 10, 100) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
)

function commandOf(world: World, act: Act): Command | undefined {
  const rows = [...world.store.rows.values()]
  if (act.op === 'enqueue') return act
  if (act.op === 'flow') {
    const plain = act.jobs.map(({ unique: _unique, ...wanted }) => ({ job: wanted, parents: [] as number[] }))
    return flowOf(plain.map((node, index) => ({ ...node, parents: index === 0 ? [] : [0] })))
  }
  if (act.op === 'cancel' || act.op === 'delete' || act.op === 'retry') {
    const row = rows[act.pick % Math.max(1, rows.length)]
    return row && { op: act.op, id: keyOfJob(row) }
  }
  const running = rows.filter(({ state }) => state === ACTIVE)
  const run = running[act.pick % Math.max(1, running.length)]
  if (run === undefined) return undefined
  const of = { seq: run.seq, run: run.run }
  switch (act.op) {
    case 'complete':
      return { op: 'complete', ...of, output: null, enqueues: act.jobs }
    case 'fail':
      return { op: 'fail', ...of, error: { name: 'Oops', message: '' } }
    case 'snooze':
      return { op: 'snooze', ...of, delay: 5 }
    default:
      return { op: 'giveBack', ...of }
  }
}

/** Goes through a turn's events as they came: who is dropped stands, is the oldest that does, and stands in the way of another. */
class Watcher {
  readonly #world: World
  readonly #maxLength: number
  /** By state, as of the last turn. */
  readonly #standing = new Set<number>()
  readonly #blocked = new Set<number>()
  dropped = 0
  #unsure = false

  constructor(world: World, maxLength: number) {
    this.#world = world
    this.#maxLength = maxLength
  }

  turn(commands: readonly Command[]): void {
    const before = new Map(this.#world.store.rows)
    this.#unsure = false
    const turned = this.#world.turn(...commands)
    // What was cancelled, brought back and then dropped has two such events: the last one is that of the drop.
    const lastOf = new Map(turned.events.map((event, index) => [`${event.type} ${event.seq}`, index]))
    for (const [index, event] of turned.events.entries()) this.#see(event, before, lastOf.get(`${event.type} ${event.seq}`) === index)
    this.#settle(turned, commands)
  }

  #see(
    { type, seq }: Turned['events'][number],
    before: ReadonlyMap<number, { readonly dropped: boolean; readonly laneId: number }>,
    last: boolean,
  ): void {
    const { store } = this.#world
    const row = store.rows.get(seq)
    // Of one that the turn has deleted, too.
    const known = row ?? before.get(seq)
    if (known !== undefined && store.lanes.get(known.laneId)?.queue !== 'q') {
      expect(known.dropped).toBe(false)
      return
    }
    switch (type) {
      case 'enqueued':
        if (store.flows.counters.has(seq)) this.#blocked.add(seq)
        else this.#standing.add(seq)
        break
      case 'cancelled':
        if (last && row?.dropped === true && before.get(seq)?.dropped !== true) {
          this.dropped++
          expect(this.#standing.size + this.#blocked.size).toBeGreaterThan(this.#maxLength)
          if (!this.#unsure) expect(seq).toBe(Math.min(...this.#standing))
        }
        this.#leave(seq)
        break
      case 'updated':
        // It waits for its parents again; or has done so, and does no more, or is gone with this turn.
        this.#unsure ||= row === undefined || (store.flows.counters.has(seq) && row.state !== BLOCKED)
        this.#leave(seq)
        if (row?.state === BLOCKED) this.#blocked.add(seq)
        else this.#standing.add(seq)
        break
      case 'released':
      case 'retrying':
      case 'snoozed':
        this.#leave(seq)
        this.#standing.add(seq)
        break
      case 'started':
      case 'failed':
      case 'completed':
      case 'deleted':
        this.#leave(seq)
        break
      default:
    }
  }

  #leave(seq: number): void {
    this.#standing.delete(seq)
    this.#blocked.delete(seq)
  }

  /** The book and the rows agree; and no more stand there than may, but for what came back. */
  #settle({ replies }: Turned, commands: readonly Command[]): void {
    const { store, tables } = this.#world
    const rows = [...store.rows.values()].filter(({ laneId }) => store.lanes.get(laneId)?.queue === 'q')
    this.#standing.clear()
    this.#blocked.clear()
    for (const { seq, state } of rows) {
      if (state === SCHEDULED || state === WAITING) this.#standing.add(seq)
      else if (state === BLOCKED) this.#blocked.add(seq)
    }
    const queue = tables.queues.get('q')
    expect(queue && lengthOf(queue)).toBe(this.#standing.size + this.#blocked.size)
    for (const [index, reply] of replies.entries()) {
      if (!(reply instanceof Refused) || commands[index]?.op !== 'enqueue') continue
      expect(['QUEUE_FULL', 'JOB_ACTIVE']).toContain(reply.refusal.code)
    }
  }
}

test('a job can be cancelled, brought back and dropped in one turn', () => {
  const world = new World()
  world.configure('q', { maxLength: 1, onFull: 'drop-oldest' })
  const job = world.enqueue('a', { queue: 'q' })
  const turned = world.turn(
    { op: 'cancel', id: job },
    { op: 'retry', id: job },
    { op: 'enqueue', jobs: [{ name: 'a', queue: 'q', data: null }] },
  )
  expect(turned.events.map(({ type, seq }) => `${type} ${seq}`)).toEqual(['cancelled 1', 'updated 1', 'enqueued 2', 'cancelled 1'])
  expect(world.row(job).dropped).toBe(true)
})

test('random turns never let a new job exceed the maxLength, and never drop another job than the oldest', () => {
  let dropped = 0
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom<QueueChanges>({}, { perKeyLimit: 1 }, { keyOrder: 'strict' }),
      fc.array(step, { maxLength: 30, size: 'max' }),
      (maxLength, keys, steps) => {
        const world = new World()
        world.configure('q', { maxLength, onFull: 'drop-oldest', ...keys })
        world.run(attaching('s', ['a'], { minConcurrency: 2, maxConcurrency: 2 }))
        const watcher = new Watcher(world, maxLength)
        for (const each of steps) {
          if (each.kind === 'pass') world.pass(each.ms)
          if (each.kind === 'reload') {
            world.reload()
            world.run(attaching('s', ['a'], { minConcurrency: 2, maxConcurrency: 2 }))
          }
          watcher.turn(each.kind === 'turn' ? each.acts.map((one) => commandOf(world, one)).filter((command) => command !== undefined) : [])
        }
        dropped += watcher.dropped
        for (const { state, dropped: gone } of world.store.rows.values()) expect(gone && isLive(state)).toBe(false)
      },
    ),
    { numRuns: runs(300) },
  )
  expect(dropped).toBeGreaterThan(100)
})
