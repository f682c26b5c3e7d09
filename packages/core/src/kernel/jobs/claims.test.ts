/** Tests that a call with keys is refused by a full queue exactly if it would create more jobs than there is room for. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob } from '../../commands.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'

const key = fc.constantFrom('x', 'y', 'z')
const keys = fc.oneof(
  fc.constant({}),
  fc.record({ idempotencyKey: key }),
  fc.record({
    unique: fc.record({ key, onConflict: fc.constantFrom('skip' as const, 'replace' as const, 'reschedule' as const) }),
    idempotencyKey: fc.option(key, { nil: undefined }),
  }),
  fc.record({ throttle: fc.record({ key, period: fc.constant(100) }) }),
  fc.record({ debounce: fc.record({ key, delay: fc.constant(100), mode: fc.constantFrom('leading' as const, 'trailing' as const) }) }),
)
const job = fc
  .tuple(fc.constantFrom('a', 'b'), keys)
  .map(([name, its]): NewJob => ({ name, data: null, ...JSON.parse(JSON.stringify(its)) }) as NewJob)
const jobs = fc.array(job, { minLength: 1, maxLength: 8 })

test('a call with several jobs is refused as QUEUE_FULL exactly if it would create more jobs than there is room for', () => {
  fc.assert(
    fc.property(jobs, jobs, fc.integer({ min: 0, max: 8 }), fc.boolean(), (before, array, room, dropping) => {
      const free = new World()
      free.call(enqueueing(...before))
      const waiting = free.store.rows.size
      const wanted = (free.call<'enqueue'>(enqueueing(...array)) as readonly { created: boolean }[]).filter(({ created }) => created).length

      const world = new World()
      world.enqueue('a', { queue: 'bystander' })
      const maxLength = waiting + room
      world.configure('default', { maxLength, ...(dropping && { onFull: 'drop-oldest' }) })
      world.call(enqueueing(...before))
      const reply = world.reply(enqueueing(...array))
      // One that drops makes room for as many as it may hold.
      expect(codeOf(reply)).toBe(wanted > (dropping ? maxLength : room) ? 'QUEUE_FULL' : undefined)
      if (codeOf(reply) === undefined) expect(reply).toMatchObject({ length: array.length })
      else expect(world.store.rows.size).toBe(waiting + 1)
    }),
    { numRuns: runs(500) },
  )
})

test.each([
  ['an idempotency key', { idempotencyKey: 'k' }],
  ['a throttle', { throttle: { key: 'k', period: 100 } }],
  ['a unique key', { unique: { key: 'k', onConflict: 'skip' } }],
] as const)('two jobs of one call that share %s take one place in their queue', (_, its) => {
  for (const onFull of [null, 'drop-oldest'] as const) {
    const world = new World()
    world.configure('default', { maxLength: 1, onFull })
    const two = { name: 'a', data: null, ...its } as NewJob
    expect(world.reply(enqueueing(two, two))).toMatchObject([{ created: true }, { created: false }])
  }
})

test('a job that a completion enqueues under the unique key of its own job takes a place in the queue', () => {
  const world = new World()
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  const unique = { key: 'k', onConflict: 'skip' } as const
  const job = world.enqueue('a', { unique })
  world.enqueue('b')
  world.configure('default', { maxLength: 1 })
  const next: NewJob = { name: 'a', data: null, unique }
  expect(world.refusal({ op: 'complete', ...world.runOf(job), output: null, enqueues: [next] })).toBe('QUEUE_FULL')
})
