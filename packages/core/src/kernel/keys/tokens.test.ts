/** Tests jobs that take more than one token of the rate of their queue or of their key. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { World } from '../../testing/world.ts'

const RATE = { limit: 10, period: 1_000, burst: 10 }

function worldWith(changes: QueueChanges): World {
  const world = new World()
  world.attach('s', ['a', 'b'])
  world.configure('q', changes)
  return world
}

test('a job takes its tokens when it starts, and the next job waits until its own are there', () => {
  const world = worldWith({ rateLimit: RATE })
  const jobs = [7, 5, 1].map((tokens) => world.enqueue('a', { queue: 'q', tokens }))
  const states = () => jobs.map((job) => world.stateOf(job))
  expect(states()).toEqual(['active', 'waiting', 'waiting'])
  world.after(199)
  expect(states()).toEqual(['active', 'waiting', 'waiting'])
  world.after(1)
  // Nothing passes the dearer one, and what it leaves is for the others.
  expect(states()).toEqual(['active', 'active', 'waiting'])
  world.after(100)
  expect(states()).toEqual(['active', 'active', 'active'])
})

test('a job that takes more tokens than the bucket holds starts from a full bucket, and the next job waits for the whole debt', () => {
  const world = worldWith({ rateLimit: RATE })
  const cheap = world.enqueue('a', { queue: 'q' })
  const dear = world.enqueue('a', { queue: 'q', tokens: 30 })
  const next = world.enqueue('a', { queue: 'q' })
  const bystander = world.enqueue('b')
  expect([cheap, dear, bystander].map((job) => world.stateOf(job))).toEqual(['active', 'waiting', 'active'])
  expect(world.after(99).grants).toEqual([])
  expect(world.after(1).grants.map(({ seq }) => seq)).toEqual([dear.seq])
  expect(world.after(2_099).grants).toEqual([])
  expect(world.after(1).grants.map(({ seq }) => seq)).toEqual([next.seq])
})

test('a job that takes many tokens holds no job up if it is cancelled, and none of a higher priority', () => {
  const world = worldWith({ rateLimit: RATE })
  const first = world.enqueue('a', { queue: 'q', tokens: 8 })
  const dear = world.enqueue('a', { queue: 'q', tokens: 10 })
  const behind = world.enqueue('a', { queue: 'q' })
  expect([first, dear, behind].map((job) => world.stateOf(job))).toEqual(['active', 'waiting', 'waiting'])
  expect(world.stateOf(world.enqueue('a', { queue: 'q', priority: 1 }))).toBe('active')
  expect(world.cancel(dear).grants.map(({ seq }) => seq)).toEqual([behind.seq])
})

test('a debt of tokens outlasts a call that sets the same rate, or another one', () => {
  for (const rateLimit of [RATE, { ...RATE, burst: 5 }]) {
    const world = worldWith({ rateLimit: RATE })
    world.enqueue('a', { queue: 'q', tokens: 30 })
    const next = world.enqueue('a', { queue: 'q' })
    world.configure('q', { rateLimit: { ...rateLimit } })
    expect(world.after(2_099).grants).toEqual([])
    expect(world.after(1).grants.map(({ seq }) => seq)).toEqual([next.seq])
  }
})

test.each(['turns', 'strict'] as const)(
  'a job that takes many tokens of its key (%s) waits for them, and holds no other key up',
  (keyOrder) => {
    const world = worldWith({ perKeyRateLimit: RATE, ...(keyOrder === 'strict' && { keyOrder }) })
    const add = (concurrencyKey: string, tokens: number) => world.enqueue('a', { queue: 'q', concurrencyKey, tokens })
    const first = add('k', 8)
    world.complete(first)
    const [second, other] = [add('k', 6), add('other', 6)]
    expect([second, other].map((job) => world.stateOf(job))).toEqual(['waiting', 'active'])
    world.reload('s')
    world.attach('s', ['a', 'b'], {}, [{ seq: other.seq, run: 1 }])
    expect(world.after(398).grants).toEqual([])
    // The wall clock shows whole milliseconds: after a restart the bucket may be one behind.
    expect(world.after(3).grants.map(({ seq }) => seq)).toEqual([second.seq])
  },
)

test('the tokens of a job have defaults in the definition and the queue, and one token is the default', () => {
  const world = worldWith({ defaults: { tokens: 4 }, rateLimit: RATE })
  world.enqueue('a', { queue: 'q' })
  expect(JSON.parse(world.row({ seq: 1 }).policy as string)).toMatchObject({ tokens: 4 })
  world.enqueue('a', { queue: 'q', maxAttempts: 2, tokens: 1 })
  expect(JSON.parse(world.row({ seq: 2 }).policy as string)).not.toHaveProperty('tokens')
})

test('no span of time has more tokens than its rate allows, and each job starts as soon as its own are there, for any jobs', () => {
  const act = fc.record({
    kind: fc.constantFrom('enqueue', 'enqueue', 'pass', 'complete', 'restart'),
    tokens: fc.constantFrom(1, 1, 2, 3, 5, 9),
    key: fc.constantFrom('k1', 'k2', undefined),
    ms: fc.integer({ min: 1, max: 400 }),
  })
  const rates = fc.constantFrom<QueueChanges>(
    { rateLimit: { limit: 5, period: 100, burst: 4 } },
    { perKeyRateLimit: { limit: 5, period: 100, burst: 4 } },
    { perKeyRateLimit: { limit: 3, period: 100, burst: 3 }, keyOrder: 'strict' },
    { rateLimit: { limit: 7, period: 100, burst: 6 }, perKeyRateLimit: { limit: 3, period: 100, burst: 2 } },
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), rates, (acts, changes) => {
      const world = worldWith(changes)
      const starts: { at: number; tokens: number; key: string | undefined }[] = []
      const jobs = new Map<number, { tokens: number; key: string | undefined }>()
      // The end of one job can start another.
      const note = ({ grants }: ReturnType<World['run']>): number => {
        for (const grant of grants) {
          starts.push({ at: world.now.wall, ...(jobs.get(grant.seq) as { tokens: number; key: string | undefined }) })
          note(world.complete(grant))
        }
        return grants.length
      }
      const settle = () => {
        for (let turns = 0; note(world.run()) > 0; turns++) expect(turns).toBeLessThan(100)
      }
      for (const { kind, tokens, key, ms } of acts) {
        if (kind === 'enqueue') {
          jobs.set(world.tables.nextSeq, { tokens, key })
          const job = { name: 'a', data: null, queue: 'q', tokens, ...(key !== undefined && { concurrencyKey: key }) }
          note(world.run({ op: 'enqueue', jobs: [job] }))
        } else if (kind === 'restart') {
          world.reload()
          world.attach(`s${world.store.sessions.size}`, ['a'])
        } else note(world.after(ms))
        settle()
      }
      const { rateLimit, perKeyRateLimit } = changes
      for (const [of, rate] of [
        [starts, rateLimit],
        [starts.filter(({ key }) => key === 'k1'), perKeyRateLimit],
        [starts.filter(({ key }) => key === 'k2'), perKeyRateLimit],
      ] as const) {
        if (rate === undefined || rate === null) continue
        for (const [last, { at, tokens }] of of.entries()) {
          let taken = Math.min(tokens, rate.burst) - tokens
          for (const start of of.slice(0, last + 1).toReversed()) {
            taken += start.tokens
            expect(taken).toBeLessThanOrEqual(rate.burst + ((at - start.at) * rate.limit) / rate.period + 1e-3)
          }
        }
      }
      // All of them start, as time alone goes by, and no turn is taken for nothing.
      const left = () => jobs.size - starts.length
      for (let steps = 0; left() > 0; steps++) {
        expect(steps).toBeLessThan(400)
        note(world.after(50))
        settle()
      }
    }),
    { numRuns: runs(150) },
  )
})
