/** Tests dead letters: each permanent failure creates one in its commit, and no other end of a job does. */

import { describe, expect, test } from 'vitest'
import type { FailCommand } from '../../commands.ts'
import { formatId } from '../../id.ts'
import type { Data } from '../../job.ts'
import { mapJobTexts } from '../../options/jobTexts.ts'
import type { QueueChanges } from '../../queueSettings.ts'
import { DEFAULT_RETENTION } from '../../retention.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { enqueueing, flowOf, World, type WorldOptions } from '../../testing/world.ts'
import type { JobRow } from '../records/rows.ts'

useSmallLimits()

const ERROR = { name: 'TypeError', message: 'no', code: 'E_NO', stack: 'TypeError: no\n    at there' }

/** A world with a bystander, whose queues leave their dead letters in `dead`. */
function worldOf(changes: QueueChanges = {}, options?: WorldOptions): World {
  const world = new World(options)
  world.configure('default', { deadLetter: 'dead', ...changes })
  world.attach('s', ['a'])
  world.enqueue('a', { queue: 'other' })
  return world
}

function inQueue(world: World, queue: string): JobRow[] {
  return [...world.store.rows.values()].filter(({ laneId }) => world.store.lanes.get(laneId)?.queue === queue)
}

const dead = (world: World) => inQueue(world, 'dead')
const metaOf = (row: JobRow | undefined) => JSON.parse(row?.extras?.meta ?? 'null')
const failing = ({ seq }: { readonly seq: number }, more: Partial<FailCommand> = {}): FailCommand => ({
  ...{ op: 'fail', seq, run: 1, error: ERROR },
  ...more,
})

describe('a dead letter', () => {
  test.each<[string, Data]>([
    ['a string', '{"to":"ada"}'],
    ['bytes', new Uint8Array([1, 2, 3])],
    ['nothing', null],
  ])(
    'a dead letter has the name, the data (%s), the tags and the texts of its job, no key, and a meta that names the job and its error',
    (_, data) => {
      const world = worldOf()
      const texts = mapJobTexts((name) => `its ${name}`)
      const more = { priority: 3, unique: { key: 'u', onConflict: 'error' } } as const
      const job = world.enqueue('a', { data, tags: ['t'], meta: '{"by":"ada"}', ...texts, ...more })
      world.call<'fail'>(failing(job, { retry: false }))
      const [letter, ...others] = dead(world)
      expect(others).toEqual([])
      const { concurrencyKey: _key, ...kept } = texts
      expect(letter).toMatchObject({ data, priority: 0 })
      expect(letter?.extras).toEqual({ tags: ['t'], meta: expect.any(String), letter: true, ...kept })
      expect(metaOf(letter)).toEqual({
        deadLetter: { id: formatId(job), queue: 'default', attempt: 1, error: { name: 'TypeError', message: 'no', code: 'E_NO' } },
        by: 'ada',
      })
      expect(world.stateOf(job)).toBe('failed')
      expect(inQueue(world, 'other')).toHaveLength(1)
    },
  )

  test.each<[string, string | undefined, unknown]>([
    ['a string', '"abc"', { meta: 'abc' }],
    ['a list', ' ["x"]', { meta: ['x'] }],
    ['a number, as it was written', '5.0', { meta: 5 }],
    ['null', 'null', {}],
    ['nothing', undefined, {}],
    ['an object, with numbers as they were written', '{ "n": 9007199254740993 }', { n: 9007199254740992 }],
    ['no JSON, of another library', '{oops', { meta: '{oops' }],
  ])('a dead letter has an object as its meta if the meta of its job is %s', (_, meta, kept) => {
    const world = worldOf()
    const job = world.enqueue('a', { ...(meta !== undefined && { meta }) })
    world.call<'fail'>(failing(job, { retry: false }))
    expect(metaOf(dead(world)[0])).toEqual({ deadLetter: expect.objectContaining({ id: formatId(job) }), ...(kept as object) })
  })

  test('a dead letter is created by the last attempt alone, and runs with the payload of its job', () => {
    const world = worldOf()
    const job = world.enqueue('a', { data: '"d"', maxAttempts: 2 })
    world.call<'fail'>(failing(job, { retry: 0 }))
    expect(dead(world)).toEqual([])
    const { grants } = world.run(failing(job, { run: 2 }))
    expect(grants).toMatchObject([{ name: 'a', queue: 'dead', data: '"d"', attempt: 1 }])
  })

  test('a dead letter is created for each permanent failure, also after a retry by hand', () => {
    const world = worldOf({ defaults: { maxAttempts: 1 } })
    const job = world.enqueue('a')
    world.call<'fail'>(failing(job))
    world.retry(job)
    expect(dead(world)).toHaveLength(1)
    world.call<'fail'>(failing(job, { run: 2 }))
    expect(dead(world)).toHaveLength(2)
  })

  test('a dead letter that fails creates no further dead letter, whatever the setting of its queue', () => {
    const world = worldOf()
    world.configure('dead', { deadLetter: 'default' })
    const own = world.enqueue('a', { queue: 'dead' })
    const job = world.enqueue('a')
    world.call<'fail'>(failing(job, { retry: false }))
    const letter = dead(world).find(({ seq }) => seq !== own.seq) as JobRow
    world.call<'fail'>(failing(letter, { retry: false }))
    expect([inQueue(world, 'default').length, dead(world).length]).toEqual([1, 2])
    // A job of that queue that is no dead letter leaves one.
    world.call<'fail'>(failing(own, { retry: false }))
    expect(inQueue(world, 'default')).toHaveLength(2)
  })

  test('a dead letter replaces the `deadLetter` that its job has in its own meta', () => {
    const world = worldOf()
    const meta = { deadLetter: { id: 'said by a producer' }, by: 'ada' }
    const job = world.enqueue('a', { maxAttempts: 1, meta: JSON.stringify(meta) })
    world.call<'fail'>(failing(job))
    expect(metaOf(dead(world)[0])).toEqual({ deadLetter: expect.objectContaining({ id: formatId(job) }), by: 'ada' })
  })

  test('a dead letter is recognized as one after its meta has changed', () => {
    const world = worldOf()
    world.configure('dead', { deadLetter: 'default' })
    const job = world.enqueue('a', { maxAttempts: 1 })
    world.call<'fail'>(failing(job))
    const letter = dead(world)[0] as JobRow
    world.update(letter, { meta: '{}' })
    world.call<'fail'>(failing(letter, { retry: false }))
    expect([world.stateOf(letter), inQueue(world, 'default').length]).toEqual(['failed', 1])
  })

  test('a dead letter has the first 300 characters of a long error message', () => {
    const world = worldOf()
    const job = world.enqueue('a', { maxAttempts: 1 })
    world.call<'fail'>(failing(job, { error: { name: 'E', message: 'm'.repeat(4_096) } }))
    expect(metaOf(dead(world)[0]).deadLetter.error).toEqual({ name: 'E', message: 'm'.repeat(300) })
  })

  test('a dead letter is created for a job whose meta is not JSON', () => {
    const world = worldOf()
    const job = world.enqueue('a', { maxAttempts: 1, meta: '"deadLetter" {' })
    world.call<'fail'>(failing(job))
    expect(dead(world)).toHaveLength(1)
  })
})

describe('the causes of a dead letter', () => {
  test('a timeout of the last attempt creates a dead letter', () => {
    const world = worldOf()
    world.enqueue('a', { maxAttempts: 1, timeout: 50, data: '"d"' })
    world.after(50)
    world.after(30_000)
    expect(dead(world)).toMatchObject([{ data: '"d"' }])
    expect(metaOf(dead(world)[0]).deadLetter.error.name).toBe('JobTimeoutError')
  })

  test('a lost worker creates a dead letter, also after a restart that has left the payload on disk', () => {
    const world = worldOf()
    world.enqueue('a', { maxAttempts: 1, data: '"d"' })
    world.reload()
    world.run()
    expect(dead(world)).toMatchObject([{ data: '"d"' }])
    expect(metaOf(dead(world)[0]).deadLetter).toMatchObject({ attempt: 1, error: { name: 'WorkerLostError' } })
  })

  test('a ttl that is over creates a dead letter, for a waiting job and for a delayed one', () => {
    const world = worldOf()
    const jobs = [world.enqueue('b', { ttl: 20, data: '"1"' }), world.enqueue('b', { ttl: 20, data: '"2"', delay: 10 })]
    world.after(20)
    expect(dead(world).map(({ data }) => data)).toEqual(['"1"', '"2"'])
    expect(dead(world).map((row) => metaOf(row).deadLetter)).toMatchObject(
      jobs.map((job) => ({ id: formatId(job), attempt: 0, error: { name: 'JobExpiredError' } })),
    )
  })

  test('a job of a journal whose ttl is over on arrival creates a dead letter, even if failed jobs are not kept', () => {
    const world = worldOf({ retention: { failed: { ageMs: 0, count: 0 } } })
    const entries = [{ at: world.now.wall - 1_000, jobs: [{ name: 'a', data: '"old"', ttl: 10 }] }]
    world.call<'forward'>({ op: 'forward', source: 's', number: 9, first: 1, entries })
    expect(dead(world)).toMatchObject([{ data: '"old"' }])
    expect(inQueue(world, 'default')).toEqual([])
  })

  test('a cancel and the failure of a parent create no dead letter', () => {
    const world = worldOf()
    const [waits, runs] = [world.enqueue('b'), world.enqueue('a')]
    world.cancel(waits)
    world.cancel(runs)
    world.call<'fail'>(failing(runs))
    expect([waits, runs].map((job) => world.stateOf(job))).toEqual(['cancelled', 'cancelled'])
    const first = world.call<'flow'>(flowOf([{ job: { name: 'a' } }, { parents: [0] }]))
    world.call<'fail'>(failing(first, { retry: false }))
    expect([first, { seq: first.seq + 1 }].map((job) => world.stateOf(job))).toEqual(['failed', 'failed'])
    expect(dead(world).map((row) => metaOf(row).deadLetter.id)).toEqual([formatId(first)])
  })
})

describe('a dead-letter queue', () => {
  test('a dead-letter queue accepts dead letters while it is full, draining, one queue too many, or the disk is full', () => {
    const world = worldOf({}, { settings: { maxQueues: 2 } })
    const fail = () => world.call<'fail'>(failing(world.enqueue('a', { maxAttempts: 1 })))
    fail()
    world.configure('dead', { maxLength: 1 })
    world.pause('dead')
    fail()
    fail()
    world.reply<'drainQueue'>({ op: 'drainQueue', queue: 'dead' })
    fail()
    const job = world.enqueue('a', { maxAttempts: 1 })
    world.refusing = { code: 'STORAGE_BUSY', message: 'full' }
    world.call<'fail'>(failing(job))
    expect(dead(world)).toHaveLength(5)
  })

  test('a dead-letter queue drops no dead letter for another one, but drops some for new jobs', () => {
    const world = worldOf()
    world.pause('dead')
    world.configure('dead', { maxLength: 1, onFull: 'drop-oldest' })
    const jobs = [world.enqueue('a', { maxAttempts: 1 }), world.enqueue('a', { maxAttempts: 1 })]
    // The new job meets the dead letters of its own turn.
    world.run(...jobs.map((job) => failing(job)), enqueueing({ name: 'a', queue: 'dead' }))
    expect(dead(world).map((row) => world.stateOf(row))).toEqual(['cancelled', 'waiting', 'waiting'])
    world.enqueue('a', { queue: 'dead' })
    expect(dead(world).map((row) => world.stateOf(row))).toEqual(['cancelled', 'cancelled', 'waiting', 'waiting'])
  })

  test('a queue cannot be its own dead-letter queue', () => {
    const world = new World()
    expect(world.refusal({ op: 'configure', queue: 'q', changes: { deadLetter: 'q' } })).toBe('UNSUPPORTED')
    expect(world.tables.queues.has('q')).toBe(false)
  })

  test('a dead-letter queue can be set, removed and forgotten with the queue that names it', () => {
    const world = worldOf()
    const fail = () => world.call<'fail'>(failing(world.enqueue('a', { maxAttempts: 1 })))
    fail()
    world.configure('default', { deadLetter: null })
    fail()
    expect([dead(world).length, world.tables.deadLettering]).toEqual([1, 0])
    world.configure('empty', { deadLetter: 'dead' })
    world.reload()
    expect(world.tables.deadLettering).toBe(1)
    world.call<'deleteQueue'>({ op: 'deleteQueue', queue: 'empty' })
    expect(world.tables.deadLettering).toBe(0)
  })

  test('a dead-letter queue takes the payload of failed jobs that are not kept', () => {
    const none = { ageMs: 0, count: 0 }
    const world = worldOf({}, { settings: { retention: { ...DEFAULT_RETENTION, failed: none } } })
    const job = world.enqueue('a', { maxAttempts: 1, data: '"d"' })
    world.call<'fail'>(failing(job))
    expect(world.stateOf(job)).toBe('gone')
    expect(dead(world)).toMatchObject([{ data: '"d"' }])
  })
})
