/** Tests jobs that were enqueued before their name was defined, and which definition of a name is in force. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Defaults, NewJob } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import { WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import { parsePolicy } from '../../policy.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'

useSmallLimits()

const defining = (uuid: string, name: string, defaults: Defaults, intro: Parameters<typeof attaching>[2] = {}): Command =>
  attaching(uuid, [name], { handlers: [{ name, defaults }], ...intro })

const FIXED = { type: 'fixed', delay: 5 } as const
const DEFAULTS = {
  queue: 'money',
  maxAttempts: 1,
  timeout: 7_200_000,
  heartbeatTimeout: 50,
  priority: 7,
  weight: 3,
  backoff: FIXED,
  maxAge: 9_000,
  ttl: 40_000,
}

/** What of a job its caller, its definition and its queue may say. */
function told(world: World) {
  return [...world.store.rows.values()].map(({ seq, laneId, state, priority, weight, runAt, policy, run, expiresAt }) => {
    const { queue, name } = world.tables.laneOf(laneId)
    return { seq, queue: queue.name, name, state, priority, weight, runAt, policy, run, expiresAt }
  })
}

describe('a job that was enqueued before its name was defined', () => {
  test('D1: the job takes all options that the definition states', () => {
    const world = new World()
    const job = world.enqueue('charge')
    const bystander = world.enqueue('other')
    const before = JSON.stringify(world.row(bystander))
    world.run(defining('s', 'charge', DEFAULTS))
    const { lane, policy, weight, priority, run, expiresAt, enqueuedAt } = world.tables.jobs.get(job.seq) ?? {}
    expect([lane?.queue.name, priority, weight, run]).toEqual(['money', 7, 3, 1])
    expect(expiresAt).toBe((enqueuedAt ?? 0) + 40_000)
    expect(policy).toMatchObject({ maxAttempts: 1, timeout: 7_200_000, heartbeatTimeout: 50, backoff: FIXED, maxAge: 9_000 })
    expect(world.fail(job).events.at(-1)?.type).toBe('failed')
    expect(JSON.stringify(world.row(bystander))).toBe(before)
  })

  test('the job keeps the options that its caller has stated, even if they equal the defaults', () => {
    const world = new World()
    const stated = { queue: 'default', priority: 0, maxAttempts: 4, timeout: 300_000 }
    const job = world.enqueue('charge', stated)
    world.run(defining('s', 'charge', DEFAULTS, { queues: ['nowhere'] }))
    expect(world.row(job)).toMatchObject({ priority: 0, weight: 3 })
    expect(parsePolicy(world.row(job).policy)).toMatchObject({ maxAttempts: 4, timeout: 300_000, heartbeatTimeout: 50 })
    expect(world.tables.laneOf(world.row(job).laneId).queue.name).toBe('default')
  })

  test('the job keeps the options that an update or a replacement has stated', () => {
    const world = new World()
    const unique = { key: 'k', onConflict: 'replace' } as const
    const job = world.enqueue('charge', { unique })
    world.enqueue('charge', { unique, priority: 2 })
    world.update(job, { weight: 9, maxAttempts: 6 })
    world.run(defining('s', 'charge', DEFAULTS, { queues: ['nowhere'] }))
    expect(world.row(job)).toMatchObject({ priority: 2, weight: 9 })
    expect(parsePolicy(world.row(job).policy)).toMatchObject({ maxAttempts: 6, timeout: 7_200_000, backoff: FIXED })
  })

  test('the job takes the defaults of the queue that the definition names, unless the definition states the option', () => {
    const world = new World()
    world.configure('money', { defaults: { maxAttempts: 9, timeout: 5 } })
    const job = world.enqueue('charge')
    world.run(defining('s', 'charge', { queue: 'money', timeout: 77 }, { queues: ['nowhere'] }))
    expect(parsePolicy(world.row(job).policy)).toMatchObject({ maxAttempts: 9, timeout: 77 })
  })

  test('the job keeps the options of the first definition when another definition follows', () => {
    const world = new World()
    const job = world.enqueue('charge')
    world.run(defining('s', 'charge', { maxAttempts: 2 }, { queues: ['nowhere'] }))
    world.leave('s')
    world.run(defining('t', 'charge', { maxAttempts: 3 }, { queues: ['nowhere'] }))
    expect(parsePolicy(world.row(job).policy)).toMatchObject({ maxAttempts: 2 })
  })

  test('the job takes the defaults of the next worker if the worker that had defined its name had left before the enqueue', () => {
    const world = new World()
    world.run(defining('first', 'charge', { queue: 'void', maxAttempts: 1, timeout: 1, priority: 5 }))
    const [heard] = world.call<'enqueue'>(enqueueing({ name: 'charge', delay: 50 }))
    world.leave('first')
    const jobs = world.call<'enqueue'>(
      enqueueing({ name: 'charge' }, { name: 'charge', priority: 2 }, { name: 'charge', queue: 'own', timeout: 77, maxAttempts: 4 }),
    )
    world.update(jobs[0] as JobKey, { weight: 9 })
    expect(jobs.map((job) => told(world).find(({ seq }) => seq === job.seq)?.queue)).toEqual(['void', 'void', 'own'])
    const { grants } = world.run(defining('true', 'charge', DEFAULTS))
    expect(grants.map(({ seq, queue }) => [seq, queue]).sort()).toEqual(jobs.map(({ seq }, index) => [seq, index < 2 ? 'money' : 'own']))
    expect(jobs.map((job) => parsePolicy(world.row(job).policy))).toMatchObject([
      { timeout: 7_200_000, maxAttempts: 1 },
      { timeout: 7_200_000, maxAttempts: 1 },
      { timeout: 77, maxAttempts: 4, heartbeatTimeout: 50 },
    ])
    expect(jobs.map((job) => [world.row(job).priority, world.row(job).weight])).toEqual([
      [7, 9],
      [2, 3],
      [7, 3],
    ])
    // This one was enqueued while the worker that had spoken was there.
    expect(told(world).find(({ seq }) => seq === heard?.seq)).toMatchObject({ queue: 'void', priority: 5 })
  })

  test.each<[string, (world: World) => void]>([
    ['in the same process', () => {}],
    ['after a reload', (world) => world.reload()],
  ])('the job takes the defaults of the next worker if the first one left while the name was settled, %s', (_, between) => {
    const world = new World()
    const jobs = Array.from({ length: 4 * LIMITS.sliceRows }, () => world.enqueue('charge'))
    world.turn(defining('first', 'charge', { maxAttempts: 2 }, { queues: ['nowhere'] }))
    world.turn({ op: 'leave', session: 'first' })
    between(world)
    world.run(defining('next', 'charge', { maxAttempts: 3 }, { queues: ['nowhere'] }))
    expect(jobs.map((job) => JSON.parse(world.row(job).policy ?? '{}').maxAttempts)).toEqual(jobs.map(() => 3))
  })

  test('the job takes the defaults of the next worker, however many newer jobs of its name run', () => {
    const world = new World()
    world.run(defining('first', 'charge', { maxAttempts: 2 }))
    world.leave('first')
    const jobs = Array.from({ length: 3 * LIMITS.sliceRows }, () => world.enqueue('charge'))
    const running = Array.from({ length: LIMITS.sliceRows + 1 }, () => world.enqueue('charge', { priority: 9 }))
    const many = { maxConcurrency: running.length, minConcurrency: running.length }
    world.run(attaching('bound', ['charge'], { defines: false, ...many }))
    world.run(defining('next', 'charge', { maxAttempts: 3 }, { queues: ['nowhere'] }))
    expect(running.map((job) => world.stateOf(job))).toEqual(running.map(() => 'active'))
    expect(jobs.map((job) => JSON.parse(world.row(job).policy ?? '{}').maxAttempts)).toEqual(jobs.map(() => 3))
  })

  test.each<[string, (world: World) => void]>([
    ['a reload', (world) => world.reload()],
    [
      'another job of the name that has run',
      (world) => {
        world.run(attaching('runs', ['charge'], { defines: false, queues: ['void'], maxConcurrency: 1, minConcurrency: 1 }))
        world.leave('runs')
      },
    ],
    [
      'a worker with the same defaults, and another leave',
      (world) => {
        world.run(defining('again', 'charge', { queue: 'void' }, { queues: ['nowhere'] }))
        world.leave('again')
        world.enqueue('charge')
      },
    ],
  ])('the job takes the defaults of the next worker also after %s', (_, between) => {
    const world = new World()
    world.run(defining('first', 'charge', { queue: 'void' }))
    world.leave('first')
    const job = world.enqueue('charge')
    between(world)
    world.run(defining('true', 'charge', DEFAULTS, { queues: ['nowhere'] }))
    expect(world.tables.laneOf(world.row(job).laneId).queue.name).toBe(world.row(job).run > 0 ? 'void' : 'money')
  })

  test('the job fails if the ttl of its definition is already over', () => {
    const world = new World()
    const [job, stated] = [world.enqueue('charge'), world.enqueue('charge', { ttl: 100_000 })]
    world.after(50_000)
    const { grants } = world.run(defining('s', 'charge', { ttl: 40_000 }))
    expect(grants.map(({ seq }) => seq)).toEqual([stated.seq])
    expect(world.stateOf(job)).toBe('failed')
  })

  test('the job takes no ttl from its definition or its queue if it was retried before', () => {
    const world = new World()
    world.configure('default', { defaults: { ttl: 30_000 } })
    const job = world.enqueue('charge')
    world.cancel(job)
    world.retry(job)
    world.run(defining('s', 'charge', { ttl: 40_000, maxAttempts: 2 }, { queues: ['nowhere'] }))
    expect(world.row(job)).toMatchObject({ expiresAt: 0, policy: expect.stringContaining('"maxAttempts":2') })
  })

  test('the job takes the defaults of the definition at its retry if it had ended before', () => {
    const world = new World()
    const job = world.enqueue('charge')
    world.cancel(job)
    world.run(defining('s', 'charge', DEFAULTS, { queues: ['nowhere'] }))
    world.retry(job)
    expect(world.row(job)).toMatchObject({ priority: 7, state: WAITING })
    expect(world.tables.laneOf(world.row(job).laneId).queue.name).toBe('money')
  })
})

describe('more jobs of a name than one turn settles', () => {
  test.each(['without a break', 'through a restart between the slices'])(
    'no job starts before all jobs of its name are settled, %s',
    (how) => {
      const world = new World()
      const jobs = Array.from({ length: 7 }, (_, index) => ({ name: 'charge', ...(index === 3 && { priority: 1 }) }))
      world.run(enqueueing(...jobs, { name: 'other' }))
      world.turn(defining('s', 'charge', { priority: 5, queue: 'money' }, { minConcurrency: 9, maxConcurrency: 9 }))
      const first = world.turn()
      expect(first.grants).toEqual([])
      if (how.startsWith('through')) world.failCommit('s')
      const { grants } = world.run(
        ...(how.startsWith('through')
          ? [defining('s', 'charge', { priority: 5, queue: 'money' }, { minConcurrency: 9, maxConcurrency: 9 })]
          : []),
      )
      expect(grants.map(({ seq, queue }) => [seq, queue])).toEqual([1, 2, 3, 5, 6, 7, 4].map((seq) => [seq, 'money']))
      expect(world.stateOf({ seq: 8 })).toBe('waiting')
    },
  )
})

describe('defaults that change while the jobs of a name are settled', () => {
  const own = { priority: 3, ttl: 90_000 }

  test.each([0, 1])('all jobs from before the first definition take the new defaults after %i slices, and no other job does', (slices) => {
    const world = new World()
    const jobs = Array.from({ length: 7 }, () => ({ name: 'charge' }))
    world.run(enqueueing(...jobs, { name: 'other' }))
    world.turn(defining('far', 'charge', { priority: 5, queue: 'money', ttl: 10 }, { local: false, maxConcurrency: 1 }))
    for (let slice = 0; slice < slices; slice++) expect(world.turn().grants).toEqual([])
    const later = 9
    world.turn({ op: 'update', id: world.row({ seq: 7 }), changes: { weight: 6 } }, enqueueing({ name: 'charge' }))
    world.turn(defining('own', 'charge', own, { queues: ['nowhere'], maxConcurrency: 1 }))
    world.run()
    const rows = [...world.store.rows.values()].filter(({ laneId }) => world.tables.laneOf(laneId).name === 'charge')
    const shown = rows.map(({ seq, laneId, priority, weight, enqueuedAt, expiresAt }) => {
      const { queue } = world.tables.laneOf(laneId)
      return [seq, queue.name, priority, weight, expiresAt - enqueuedAt]
    })
    expect(shown).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((seq) => [seq, 'default', 3, 1, 90_000]),
      [7, 'default', 3, 6, 90_000],
      [later, 'money', 5, 1, 10],
    ])
    expect(world.row({ seq: 8 })).toMatchObject({ priority: 0, expiresAt: 0 })
  })
})

const maybe = <T>(value: T) => fc.option(fc.constant(value), { nil: undefined })
const defaultsOf = fc.record(
  {
    queue: fc.constantFrom('money', 'default'),
    maxAttempts: fc.constantFrom(1, 4, 6),
    timeout: fc.constantFrom(5_000, 300_000),
    priority: fc.constantFrom(-1, 0, 3),
    weight: fc.constantFrom(1, 2),
    maxAge: fc.constant(60_000),
    ttl: fc.constantFrom(200, 600),
  },
  { requiredKeys: [] },
)
const jobOf = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    more: defaultsOf,
    delay: maybe(50),
    ttl: maybe(400),
    concurrencyKey: maybe('key'),
    uniqueKey: fc.option(fc.constantFrom('u', 'v'), { nil: undefined }),
  })
  .map(
    ({ name, more, delay, ttl, concurrencyKey, uniqueKey }): NewJob => ({
      name,
      data: null,
      ...more,
      ...(delay !== undefined && { delay }),
      ...(ttl !== undefined && { ttl }),
      ...(concurrencyKey !== undefined && { concurrencyKey }),
      ...(uniqueKey !== undefined && { unique: { key: uniqueKey, onConflict: 'skip' as const } }),
    }),
  )

describe('the order of enqueue and attach makes no difference', () => {
  test('jobs have the same options, and run in the same order within a queue, whichever comes first', () => {
    fc.assert(
      fc.property(
        fc.array(jobOf, { minLength: 1, maxLength: 9 }),
        fc.record({ a: defaultsOf, b: defaultsOf }),
        fc.option(
          fc.record(
            {
              defaults: fc
                .tuple(defaultsOf, maybe(600))
                .map(([{ queue: _, ...rest }, ttl]) => ({ ...rest, ...(ttl !== undefined && { ttl }) })),
            },
            { requiredKeys: [] },
          ),
          { nil: undefined },
        ),
        (jobs, { a, b }, changes) => {
          const configure: Command[] = changes === undefined ? [] : [{ op: 'configure', queue: 'money', changes }]
          const intro = {
            handlers: [
              { name: 'a', defaults: a },
              { name: 'b', defaults: b },
            ],
            // There is room for all: a heavy job lets others pass for a while, and which of them depends on the turns of the queues.
            minConcurrency: 100,
            maxConcurrency: 100,
          }
          const attach = attaching('s', ['a', 'b'], intro)
          const worlds = [true, false].map((first) => {
            const world = new World()
            // The queues are there in the same order, which says whose turn it is.
            world.run(
              ...configure,
              { op: 'pause', queue: 'default', paused: false },
              { op: 'pause', queue: 'money', paused: false },
              { op: 'pauseAll', paused: true },
            )
            if (first) world.run(attach)
            for (const job of jobs) world.run(enqueueing(job))
            if (!first) world.run(attach)
            const before = told(world)
            const started: { readonly seq: number; readonly queue: string; readonly attempt: number }[] = []
            let { grants } = world.run({ op: 'pauseAll', paused: false })
            for (let round = 0; round < 30; round++) {
              started.push(...grants.map(({ seq, queue, attempt }) => ({ seq, queue, attempt })))
              const ends = grants.map(({ seq, run }): Command => ({ op: 'complete', seq, run, output: null }))
              grants = ends.length > 0 ? [...world.run(...ends).grants] : [...world.after(10).grants]
            }
            // Between queues it is a matter of turns, which no promise is about.
            return {
              before,
              started: ['default', 'money'].map((name) => started.filter(({ queue }) => queue === name)),
              after: told(world),
            }
          })
          expect(worlds[1]).toEqual(worlds[0])
        },
      ),
    )
  })
})

describe('sessions that state different defaults for one job name', () => {
  const inForce = (world: World) => world.tables.definitions.inForce.get('a')
  const remote = { local: false }

  test('the defaults of the first session stay in force; the reply to the other session and one event report the dispute', () => {
    const world = new World()
    world.run(defining('one', 'a', { maxAttempts: 1 }, remote))
    const { replies, systemEvents } = world.run(defining('two', 'a', { maxAttempts: 9 }, remote))
    expect(replies).toEqual([{ lost: [], disputed: ['a'] }])
    expect(systemEvents).toContainEqual({ type: 'worker.disputed', worker: 'worker of two', session: '2', name: 'a' })
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 }, worker: 'worker of one' })
    expect(world.run(defining('three', 'a', { maxAttempts: 1 }, remote)).replies).toEqual([{ lost: [] }])
    expect(JSON.parse(world.row(world.enqueue('a')).policy ?? '')).toMatchObject({ maxAttempts: 1 })
  })

  test('the defaults of the longest attached session come into force when all sessions with the earlier defaults are gone', () => {
    const world = new World()
    for (const [uuid, maxAttempts] of [
      ['one', 1],
      ['two', 2],
      ['three', 3],
    ] as const)
      world.run(defining(uuid, 'a', { maxAttempts }, remote))
    world.leave('one')
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 2 }, worker: 'worker of two' })
    expect([...(world.tables.definitions.disputes.get('a') ?? [])].map(({ intro }) => intro.uuid)).toEqual(['three'])
    world.leave('three')
    expect(world.tables.definitions.disputes.size).toBe(0)
    world.leave('two')
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 2 } })
  })

  test("a session in the engine's own process decides, whenever it attaches", () => {
    const world = new World()
    world.run(defining('far', 'a', { maxAttempts: 1 }, remote))
    world.run(defining('own', 'a', { maxAttempts: 5 }))
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 5 }, worker: 'worker of own' })
    world.run(defining('farther', 'a', { maxAttempts: 7 }, remote))
    world.leave('far')
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 5 } })
  })

  test('the defaults of the first session, and of those that agree with it, stay after a reload, although another session attaches before them', () => {
    const world = new World()
    for (const [uuid, maxAttempts] of [
      ['one', 1],
      ['agrees', 1],
      ['two', 2],
    ] as const)
      world.run(defining(uuid, 'a', { maxAttempts }, remote))
    world.leave('one')
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 }, session: 'agrees' })
    world.failCommit()
    expect(world.run(defining('two', 'a', { maxAttempts: 2 }, remote)).replies).toEqual([{ lost: [], disputed: ['a'] }])
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 } })
    // It never comes back.
    world.after(LIMITS.leaseMs + 1)
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 2 }, session: 'two' })
    expect(world.tables.definitions.disputes.size).toBe(0)
  })

  test("the defaults of the engine's own process stay after a reload, although another session stated them first", () => {
    const world = new World()
    world.run(defining('far', 'a', { maxAttempts: 1 }, remote))
    world.run(defining('own', 'a', { maxAttempts: 1 }))
    world.run(defining('other', 'a', { maxAttempts: 9 }))
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 }, session: 'own' })
    world.failCommit('own', 'other')
    // Both are back sooner than the one that agrees with what is in force.
    world.run(defining('far', 'a', { maxAttempts: 1 }, remote), defining('other', 'a', { maxAttempts: 9 }))
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 } })
    expect(world.run(defining('own', 'a', { maxAttempts: 1 })).replies).toEqual([{ lost: [] }])
    // When it is gone, the other one of the engine's own decides, not the stranger who was first.
    world.leave('own')
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 9 }, session: 'other' })
  })

  test.each(['attaches with other defaults', 'never comes back'])(
    'after a reload that the first session has not survived, its defaults stay while another session is awaited, which then %s',
    (how) => {
      const world = new World()
      for (const [uuid, name, maxAttempts] of [
        ['one', 'a', 1],
        ['two', 'a', 2],
        ['three', 'b', 3],
      ] as const)
        world.run(defining(uuid, name, { maxAttempts }))
      world.failCommit('two', 'three')
      expect(world.run(defining('two', 'a', { maxAttempts: 2 })).replies).toEqual([{ lost: [], disputed: ['a'] }])
      expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 }, session: 'one' })
      if (how.startsWith('never')) world.after(LIMITS.reattachGraceMs + 1)
      else world.run(defining('three', 'b', { maxAttempts: 3 }))
      expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 2 }, session: 'two' })
      expect(world.tables.definitions.disputes.size).toBe(0)
      expect(world.tables.definitions.inForce.get('b')).toMatchObject({ defaults: { maxAttempts: 3 } })
    },
  )

  test('a session with the same defaults keeps them in force after a reload that the first session has not survived, although another attaches before it', () => {
    const world = new World()
    for (const [uuid, maxAttempts] of [
      ['one', 1],
      ['two', 2],
      ['agrees', 1],
    ] as const)
      world.run(defining(uuid, 'a', { maxAttempts }))
    world.failCommit('two', 'agrees')
    world.run(defining('two', 'a', { maxAttempts: 2 }))
    world.run(defining('agrees', 'a', { maxAttempts: 1 }))
    expect(inForce(world)).toMatchObject({ defaults: { maxAttempts: 1 }, session: 'agrees' })
  })

  test('a session that attaches again with the same defaults starts no new dispute', () => {
    const world = new World()
    world.run(defining('one', 'a', { maxAttempts: 1 }, remote))
    world.run(defining('two', 'a', { maxAttempts: 2 }, remote))
    expect(world.run(defining('one', 'a', { maxAttempts: 1 }, remote)).replies).toEqual([{ lost: [] }])
    const { replies, systemEvents } = world.run(defining('two', 'a', { maxAttempts: 2 }, remote))
    expect(replies).toEqual([{ lost: [], disputed: ['a'] }])
    expect(systemEvents.filter(({ type }) => type === 'worker.disputed')).toHaveLength(1)
    expect(world.tables.definitions.disputes.get('a')?.size).toBe(1)
  })

  test(`each of more than ${LIMITS.sliceRows} names is compared on its own`, () => {
    const world = new World()
    const handlers = Array.from({ length: LIMITS.sliceRows + 5 }, (_, index) => ({ name: `n${index}`, defaults: { maxAttempts: 1 } }))
    world.run(attaching('one', [], { handlers }))
    expect(
      world.run(attaching('two', [], { handlers: handlers.map(({ name }) => ({ name, defaults: { maxAttempts: 2 } })) })).replies,
    ).toMatchObject([{ disputed: handlers.map(({ name }) => name) }])
  })
})
