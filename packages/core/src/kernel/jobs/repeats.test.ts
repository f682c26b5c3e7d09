/** Tests calls that return an earlier job: that job emits an event if its queue asks for it. */

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
  world.configure('default', { repeats: 'event' })
  return world
}

const calling = (...jobs: readonly Call[]) => enqueueing(...jobs.map((job) => ({ ...job, name: 'a' })))
const call = (world: World, job: Call) => world.run(calling(job))

describe('a queue that reports repeats', () => {
  test.each(KINDS)('a repeat by %s emits an event of the earlier job, whether that job is in memory or only on disk', (_kind, job) => {
    const world = telling()
    expect(call(world, job).events).toMatchObject([{ type: 'enqueued', seq: 1 }])
    const bystander = JSON.stringify(world.row(world.enqueue('a')))
    expect(call(world, job)).toMatchObject({ events: told, replies: [[{ seq: 1, created: false }]] })
    world.reload()
    expect(call(world, job)).toMatchObject({ events: told, replies: [[{ seq: 1, created: false }]] })
    expect(JSON.stringify(world.row({ seq: 2 }))).toBe(bystander)
    expect(world.store.rows.size).toBe(2)
  })

  test.each(CHANGING)('a repeat that changes the earlier job (%s) emits `deduplicated` after `updated`', (_kind, job) => {
    const world = telling()
    call(world, job)
    expect(call(world, job).events.map(({ type, seq }) => [type, seq])).toEqual([
      ['updated', 1],
      ['deduplicated', 1],
    ])
  })

  test('a repeat by a leading debounce emits an event of the earlier job', () => {
    const world = telling()
    call(world, LEADING)
    expect(call(world, LEADING).events).toMatchObject(told)
  })

  test('several repeats within one call or one turn emit one event each', () => {
    for (const [, job] of [...KINDS, ['a leading debounce', LEADING] as const]) {
      const world = telling()
      const { events } = world.run(calling(job, job), calling(job))
      expect(events.map(({ type }) => type)).toEqual(['enqueued', 'deduplicated', 'deduplicated'])
    }
  })

  test.each([...KINDS, ['a leading debounce', LEADING] as const])(
    'a repeat by %s emits its event although the earlier job has left memory within the same call',
    (_, job) => {
      const world = telling()
      const others = Array.from({ length: LIMITS.windowJobs + 1 }, () => ({ priority: 1 }))
      world.attach('s', ['a'], { paused: true })
      const { events } = world.run(calling(job, ...others, job))
      expect(events.filter(({ type }) => type === 'deduplicated')).toMatchObject(told)
    },
  )

  test('the event of a repeat has the current run and attempt of the earlier job, even if that job has ended', () => {
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

  test('a job that a handler enqueues with its completion emits the event if it is a repeat', () => {
    const world = telling()
    call(world, { unique: { key: 'k', onConflict: 'skip' } })
    world.attach('w', ['b'])
    const parent = world.enqueue('b')
    const enqueues = [{ name: 'a', data: null, unique: { key: 'k', onConflict: 'skip' } }] as const
    const { events } = world.run({ op: 'complete', seq: parent.seq, run: 1, output: null, enqueues })
    expect(events.map(({ type, seq }) => [type, seq])).toContainEqual(['deduplicated', 1])
  })

  test('a repeat of a deleted job emits no event, and neither does a refused call', () => {
    const world = telling()
    const first = world.enqueue('a', { idempotencyKey: 'k' })
    world.delete(first)
    expect(call(world, { idempotencyKey: 'k' })).toMatchObject({ events: [], replies: [[{ seq: 1, created: false }]] })
    call(world, { unique: { key: 'u', onConflict: 'error' } })
    expect(call(world, { unique: { key: 'u', onConflict: 'error' } }).events).toEqual([])
  })

  test('the setting of the queue that the call goes to decides, and not the queue of the earlier job', () => {
    const world = telling()
    world.run(attaching('w', [], { handlers: [{ name: 'a', defaults: { queue: 'other' } }] }))
    const key = { idempotencyKey: 'k' }
    call(world, { ...key, queue: 'default' })
    expect(call(world, key).events).toEqual([])
    expect(call(world, { ...key, queue: 'default' }).events.map(({ type }) => type)).toEqual(['deduplicated'])
  })
})

test.each([...KINDS, ['a leading debounce', LEADING] as const])(
  'a repeat by %s emits no event and writes no job in a queue without the setting',
  (_kind, job) => {
    const world = new World()
    call(world, job)
    const { writes } = world.store
    world.reload()
    expect(call(world, job).events).toEqual([])
    // A leading debounce lasts longer with each call.
    if (job !== LEADING) expect(world.store.writes).toBe(writes)
    world.configure('default', { repeats: 'event' })
    expect(call(world, job).events).toMatchObject(told)
    world.configure('default', { repeats: null })
    expect(call(world, job).events).toEqual([])
  },
)
