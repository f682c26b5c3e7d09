/** Tests jobs with a `keep` of their own, which counts instead of the retention of their queue. */

import { describe, expect, onTestFinished, test } from 'vitest'
import type { NewJob } from '../../commands.ts'
import { LIMITS } from '../../limits.ts'
import type { Enqueued } from '../../replies.ts'
import { DEFAULT_RETENTION, type Keep } from '../../retention.ts'
import { World } from '../../testing/world.ts'

const HOUR = 3_600_000

/** A worker that runs all, and one retention of every final state. */
function keeping(keep: Keep): World {
  const world = new World({ settings: { retention: { ...DEFAULT_RETENTION, completed: keep, failed: keep, cancelled: keep } } })
  world.attach('s', ['a'])
  return world
}

type End = 'completed' | 'failed' | 'cancelled'

/** Runs a new job to its end. */
function ended(world: World, job: Partial<NewJob>, end: End = 'completed'): Enqueued {
  const created = world.enqueue('a', job)
  if (end === 'completed') world.complete(created)
  else if (end === 'failed') world.fail(created, { retry: false })
  else world.run({ op: 'cancel', id: created }, { op: 'giveBack', ...world.runOf(created), started: true })
  return created
}

/** Prunes as often as that finds something. Returns what is left. */
function left(world: World): readonly number[] {
  for (let before = -1; before !== world.store.rows.size; ) {
    before = world.store.rows.size
    world.pruning = world.settings.retention
    world.turn()
    world.pruning = undefined
  }
  return [...world.store.rows.keys()]
}

describe.each(['completed', 'failed', 'cancelled'] as const)('M10: a %s job with a `keep` of its own', (end) => {
  test('the job is kept for exactly its own time, whether that is shorter or longer than the time of its queue', () => {
    const world = keeping({ ageMs: HOUR, count: 1_000 })
    const bystander = ended(world, {}, end)
    const short = ended(world, { keep: 1_000 }, end)
    const long = ended(world, { keep: 2 * HOUR }, end)
    expect(world.stateOf(long)).toBe(end)
    world.pass(1_000)
    expect(left(world)).toEqual([bystander, short, long].map(({ seq }) => seq))
    world.pass(1)
    expect(left(world)).toEqual([bystander, long].map(({ seq }) => seq))
    world.pass(HOUR)
    expect(left(world)).toEqual([long.seq])
    world.pass(HOUR - 1_001)
    expect(left(world)).toEqual([long.seq])
    world.pass(1)
    expect(left(world)).toEqual([])
  })

  test('the job is deleted in the commit that ends it if its `keep` is 0', () => {
    const world = keeping({ ageMs: HOUR, count: 1_000 })
    const bystander = ended(world, {}, end)
    const gone = ended(world, { keep: 0 }, end)
    expect([...world.store.rows.keys()]).toEqual([bystander.seq])
    expect(world.tables.queues.get('default')?.totals[end]).toBe(2)
    expect(gone.created).toBe(true)
  })

  test('the job does not count among the newest jobs that its queue keeps, also after a restart', () => {
    const world = keeping({ ageMs: HOUR, count: 2 })
    const kept = [1, 2, 3].map(() => ended(world, { keep: 9 * HOUR }, end).seq)
    const plain = [1, 2, 3].map(() => ended(world, {}, end).seq)
    world.reload('s')
    world.attach('s', ['a'])
    expect(left(world)).toEqual([...kept, ...plain.slice(1)])
    world.pass(HOUR + 1)
    expect(left(world)).toEqual(kept)
  })
})

test('a retention of 0 does not delete a job that has a `keep` of its own', () => {
  const world = keeping({ ageMs: 0, count: 0 })
  const { seq } = ended(world, { keep: 5 })
  ended(world, {})
  expect(left(world)).toEqual([seq])
  world.pass(6)
  expect(left(world)).toEqual([])
})

test('a job with a short `keep` is deleted before older jobs with a longer one', () => {
  const world = keeping({ ageMs: HOUR, count: 1_000 })
  const times = [5 * HOUR, 30, 20, 4 * HOUR, 10]
  const seqs = times.map((keep) => ended(world, { keep }).seq)
  world.pass(21)
  expect(left(world)).toEqual([seqs[0], seqs[1], seqs[3]])
  world.pass(10)
  expect(left(world)).toEqual([seqs[0], seqs[3]])
})

test('a `keep` has defaults in the definition, the queue and the engine, and the nearest one counts', () => {
  const world = new World({ settings: { defaults: { keep: 40 } } })
  world.attach('s', ['a', 'b'], {
    handlers: [
      { name: 'a', defaults: { keep: 20 } },
      { name: 'b', defaults: {} },
    ],
  })
  world.configure('q', { defaults: { keep: 30 } })
  const keepOf = (name: string, job: Partial<NewJob>) => JSON.parse(world.row(world.enqueue(name, job)).policy as string).keep
  expect([keepOf('a', { keep: 10 }), keepOf('a', {}), keepOf('b', { queue: 'q' }), keepOf('b', {})]).toEqual([10, 20, 30, 40])
})

test('a job that is retried and ends again is kept for its whole time from its new end', () => {
  const world = keeping({ ageMs: 9 * HOUR, count: 1_000 })
  const bystander = ended(world, {}, 'failed')
  const job = ended(world, { keep: 100 }, 'failed')
  world.pass(90)
  world.retry(job)
  world.pass(20)
  expect(left(world)).toEqual([bystander.seq, job.seq])
  world.fail(job, { retry: false })
  world.pass(100)
  expect(left(world)).toEqual([bystander.seq, job.seq])
  world.pass(1)
  expect(left(world)).toEqual([bystander.seq])
})

test('a job that is retried takes the `keep` of a definition that came after its first end', () => {
  const world = new World()
  const [job, bystander] = [world.enqueue('late'), world.enqueue('late')]
  world.run({ op: 'cancel', id: job }, { op: 'cancel', id: bystander })
  world.attach('s', ['late'], { handlers: [{ name: 'late', defaults: { keep: 50 } }], maxConcurrency: 1 })
  world.retry(job)
  world.complete(job)
  expect(world.tables.queues.get('default')?.kept).toEqual([0, 0, 0, 0, 1, 0, 0])
  world.pass(51)
  expect(left(world)).toEqual([bystander.seq])
})

test('a job that is deleted by hand no longer counts among the kept jobs', () => {
  const world = keeping({ ageMs: HOUR, count: 1 })
  const [one, other] = [ended(world, { keep: HOUR }), ended(world, { keep: HOUR })]
  world.delete(one)
  const plain = [1, 2].map(() => ended(world, {}).seq)
  expect(left(world)).toEqual([other.seq, plain[1]])
})

test('an export holds a job back from deletion until the export has its end', () => {
  const world = keeping({ ageMs: HOUR, count: 1_000 })
  world.run({ op: 'export', name: 'e', limit: 1 })
  const [now, soon] = [ended(world, { keep: 0 }), ended(world, { keep: 10 })]
  world.pass(11)
  expect(left(world)).toEqual([now.seq, soon.seq])
  world.run({ op: 'export', name: 'e', limit: 1, upTo: world.tables.nextEvent - 1 })
  expect(left(world)).toEqual([])
})

test('an export holds back at most `jobsHeldForExports` jobs of a queue and a state', () => {
  const world = keeping({ ageMs: HOUR, count: 1_000 })
  const { jobsHeldForExports } = LIMITS
  Object.assign(LIMITS, { jobsHeldForExports: 2 })
  onTestFinished(() => void Object.assign(LIMITS, { jobsHeldForExports }))
  world.run({ op: 'export', name: 'e', limit: 1 })
  const seqs = [30, 20, 10].map((keep) => ended(world, { keep }).seq)
  world.pass(31)
  expect(left(world)).toEqual(seqs.slice(0, 2))
})

test('jobs whose `keep` is over are deleted in bounded slices, one for each turn', () => {
  const world = new World({ audited: false })
  const count = LIMITS.sliceRows + 5
  world.run({ op: 'enqueue', jobs: Array.from({ length: count }, () => ({ name: 'a', data: null, keep: 1 })) })
  world.run(...[...world.store.rows.values()].map((id) => ({ op: 'cancel', id }) as const))
  world.pass(10)
  world.pruning = world.settings.retention
  world.turn()
  expect(world.store.rows.size).toBe(5)
  expect(world.tables.queues.get('default')?.kept).toEqual([0, 0, 0, 0, 0, 0, 5])
  world.turn()
  expect(world.store.rows.size).toBe(0)
})

test('a turn that prunes reads and writes nothing for `keep` if no job has one', () => {
  const world = keeping({ ageMs: HOUR, count: 1_000 })
  ended(world, {})
  ended(world, { queue: 'q' })
  const { prunable } = world.store
  const asked: unknown[] = []
  world.store.prunable = (queries, limit) => {
    asked.push(...queries)
    return prunable.call(world.store, queries, limit)
  }
  left(world)
  expect(asked.length).toBeGreaterThan(0)
  expect(asked).toEqual(asked.map(() => expect.not.objectContaining({ own: true })))
  expect(world.store.kept.size).toBe(0)
})
