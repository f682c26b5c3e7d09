/** Calls that an earlier job answers: the event of that job where its queue asks for it, and nothing at all elsewhere. */
import { describe, expect, test } from 'vitest'
import type { NewJob } from '../../commands.ts'
import { LIMITS } from '../../limits.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'

type Call = Partial<NewJob>

const told = [{ type: 'deduplicated', seq: 1, run: 0, attempt: 0 }]
const KINDS: readonly (readonly [string, Call])[] = [
  ['an idempotency key', { idempotencyKey: 'k' }],
  ['a unique key', { unique: { key: 'k', onConflict: 'skip' } }],
  ['a unique key until the start', { unique: { key: 'k', onConflict: 'skip', until: 'start' } }],
  ['a throttle', { throttle: { key: 'k', period: 10_000 } }],
]
const CHANGING: readonly (readonly [string, Call])[] = [
  ['replace', { unique: { key: 'k', onConflict: 'replace' } }],
  ['reschedule', { unique: { key: 'k', onConflict: 'reschedule' } }],
  ['a trailing debounce', { debounce: { key: 'k', delay: 1_000, mode: 'trailing' } }],
]
const LEADING: Call = { debounce: { key: 'k', delay: 1_000, mode: 'leading' } }

function telling(): World {
  const world = new World()
  world.call<'configure'>({ op: 'configure', queue: 'default', changes: { repeats: 'event' } })
  return world
}

const calling = (...jobs: readonly Call[]) => enqueueing(...jobs.map((job) => ({ ...job, name: 'a' })))
const call = (world: World, job: Call) => world.run(calling(job))

describe('a queue that tells of repeats', () => {
  test.each(KINDS)('%s: the job that answers, in memory and from its row', (_kind, job) => {
    const world = telling()
    expect(call(world, job).events).toMatchObject([{ type: 'enqueued', seq: 1 }])
    const bystander = JSON.stringify(world.row(world.enqueue('a')))
    expect(call(world, job)).toMatchObject({ events: told, replies: [[{ seq: 1, created: false }]] })
    world.reload()
    expect(call(world, job)).toMatchObject({ events: told, replies: [[{ seq: 1, created: false }]] })
    expect(JSON.stringify(world.row({ seq: 2 }))).toBe(bystander)
    expect(world.store.rows.size).toBe(2)
  })

  test.each(CHANGING)('%s: beside the event of the change', (_kind, job) => {
    const world = telling()
    call(world, job)
    expect(call(world, job).events.map(({ type, seq }) => [type, seq])).toEqual([
      ['updated', 1],
      ['deduplicated', 1],
    ])
  })

  test('a leading debounce', () => {
    const world = telling()
    call(world, LEADING)
    expect(call(world, LEADING).events).toMatchObject(told)
  })

  test('within one call and one turn, once for each repeat', () => {
    for (const [, job] of [...KINDS, ['leading', LEADING] as const]) {
      const world = telling()
      const { events } = world.run(calling(job, job), calling(job))
      expect(events.map(({ type }) => type)).toEqual(['enqueued', 'deduplicated', 'deduplicated'])
    }
  })

  test.each([...KINDS, ['leading', LEADING] as const])('%s: the job that answers has left memory within the call', (_, job) => {
    const world = telling()
    const others = Array.from({ length: LIMITS.windowJobs + 1 }, () => ({ priority: 1 }))
    world.attach('s', ['a'], { paused: true })
    const { events } = world.run(calling(job, ...others, job))
    expect(events.filter(({ type }) => type === 'deduplicated')).toMatchObject(told)
  })

  test('the run and the attempt are those of the job by then; one that has ended is told of too', () => {
    const world = telling()
    const key = { idempotencyKey: 'k' }
    call(world, key)
    world.run(attaching('w', ['a']))
    expect(call(world, key).events).toMatchObject([{ type: 'deduplicated', seq: 1, run: 1, attempt: 1 }])
    world.complete({ seq: 1 })
    world.reload()
    expect(call(world, key).events).toMatchObject([{ type: 'deduplicated', seq: 1, run: 1, attempt: 1 }])
    expect(world.stateOf({ seq: 1 })).toBe('completed')
  })

  test('the calls of a run', () => {
    const world = telling()
    call(world, { unique: { key: 'k', onConflict: 'skip' } })
    world.attach('w', ['b'])
    const parent = world.enqueue('b')
    const enqueues = [{ name: 'a', data: null, unique: { key: 'k', onConflict: 'skip' } }] as const
    const { events } = world.run({ op: 'complete', seq: parent.seq, run: 1, output: null, enqueues })
    expect(events.map(({ type, seq }) => [type, seq])).toContainEqual(['deduplicated', 1])
  })

  test('nothing is told of a job that is gone, nor of a call that is refused', () => {
    const world = telling()
    const first = world.enqueue('a', { idempotencyKey: 'k' })
    world.run({ op: 'delete', id: first })
    expect(call(world, { idempotencyKey: 'k' })).toMatchObject({ events: [], replies: [[{ seq: 1, created: false }]] })
    call(world, { unique: { key: 'u', onConflict: 'error' } })
    expect(call(world, { unique: { key: 'u', onConflict: 'error' } }).events).toEqual([])
  })

  test('the queue that the call names counts: its own, that of its name, or the default', () => {
    const world = telling()
    world.run(attaching('w', [], { handlers: [{ name: 'a', defaults: { queue: 'other' } }] }))
    const key = { idempotencyKey: 'k' }
    call(world, { ...key, queue: 'default' })
    expect(call(world, key).events).toEqual([])
    expect(call(world, { ...key, queue: 'default' }).events.map(({ type }) => type)).toEqual(['deduplicated'])
  })
})

test.each([...KINDS, ['leading', LEADING] as const])('%s: without the setting a repeat writes nothing and reads no job', (_kind, job) => {
  const world = new World()
  call(world, job)
  const { writes } = world.store
  world.reload()
  expect(call(world, job).events).toEqual([])
  // A leading debounce lasts longer with each call.
  if (job !== LEADING) expect(world.store.writes).toBe(writes)
  world.call<'configure'>({ op: 'configure', queue: 'default', changes: { repeats: 'event' } })
  expect(call(world, job).events).toMatchObject(told)
  world.call<'configure'>({ op: 'configure', queue: 'default', changes: { repeats: null } })
  expect(call(world, job).events).toEqual([])
})
