/** Tests the bounds on queues and on job names: a command that would create one more is refused, and existing ones continue. */

import { expect, test } from 'vitest'
import type { NewJob } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import type { Command } from '../../operations.ts'
import { attaching, World } from '../../testing/world.ts'

const MAX = 3
const SECOND = 1_000

/** With queues a, b and the default one. */
function fullWorld(): World {
  const world = new World({ settings: { maxQueues: MAX } })
  world.turn(enqueue('a'), enqueue('b'), { op: 'enqueue', jobs: [{ name: 'n', data: null }] })
  return world
}

const job = (queue: string, more: Partial<NewJob> = {}): NewJob => ({ name: 'n', queue, data: null, ...more })
const enqueue = (...queues: readonly string[]): Command => ({ op: 'enqueue', jobs: queues.map((queue) => job(queue)) })

const SPEC = { every: SECOND, jitter: 0, overlap: 'skip', catchUp: 'latest' } as const
const upsert = (id: string, queue: string, runImmediately = false): Command => ({
  op: 'upsertSchedule',
  id,
  spec: SPEC,
  job: job(queue),
  runImmediately,
})

/** What is refused, in a turn of its own; and what there is of queues after it. */
function ask(world: World, command: Command): unknown {
  const [reply] = world.turn(command).replies
  return reply instanceof Refused ? [reply.refusal.code, reply.refusal.details] : reply
}

const REFUSED = ['TOO_MANY_QUEUES', { queue: 'c', maxQueues: MAX }]

test.each<[string, Command]>([
  ['enqueue', enqueue('a', 'c')],
  ['enqueue by a unique key', { op: 'enqueue', jobs: [job('c', { unique: { key: 'k', onConflict: 'skip' } })] }],
  ['flow', { op: 'flow', nodes: [{ ref: 'x', job: job('c'), parents: [], onFailure: 'fail' }] }],
  ['configure', { op: 'configure', queue: 'c', changes: { concurrencyLimit: 1 } }],
  ['pause', { op: 'pause', queue: 'c', paused: true }],
  ['pause of a name', { op: 'pause', queue: 'c', job: 'n', paused: true }],
  ['pause of a key', { op: 'pause', queue: 'c', key: 'k', paused: true }],
  ['drain', { op: 'drainQueue', queue: 'c' }],
  ['a schedule that begins at once', upsert('s', 'c', true)],
])('%s creates no queue beyond maxQueues', (_, command) => {
  const world = fullWorld()
  expect(ask(world, command)).toEqual(REFUSED)
  expect([...world.tables.queues.keys()]).toEqual(['a', 'b', 'default'])
  expect([...world.store.rows.values()]).toHaveLength(3)
})

test('existing queues accept jobs and settings at the bound, and a deleted queue makes room for another', () => {
  const world = fullWorld()
  expect(ask(world, { op: 'configure', queue: 'b', changes: { maxLength: 5 } })).toBe(true)
  expect(ask(world, enqueue('a', 'b', 'a'))).toHaveLength(3)
  expect(ask(world, { op: 'deleteMany', filter: { queue: 'a' }, limit: 10, dryRun: false })).toMatchObject({ changed: 3 })
  expect(ask(world, { op: 'deleteQueue', queue: 'a' })).toBe(true)
  expect(ask(world, enqueue('c', 'c'))).toHaveLength(2)
  expect(ask(world, enqueue('a'))).toEqual(['TOO_MANY_QUEUES', { queue: 'a', maxQueues: MAX }])
})

test('several new queues of one call count together, and all queues of a file that has more than the bound continue', () => {
  const world = new World({ settings: { maxQueues: MAX } })
  expect(ask(world, enqueue('a', 'b', 'c', 'd'))).toEqual(['TOO_MANY_QUEUES', { queue: 'd', maxQueues: MAX }])
  expect(ask(world, enqueue('a', 'b', 'c', 'a'))).toHaveLength(4)
  const smaller = new World({ settings: { maxQueues: 1 }, store: world.store })
  expect(ask(smaller, enqueue('a', 'c'))).toHaveLength(2)
  expect(ask(smaller, enqueue('d'))).toEqual(['TOO_MANY_QUEUES', { queue: 'd', maxQueues: 1 }])
})

test('a repeat that creates no job is answered although its queue cannot be created', () => {
  const world = new World({ settings: { maxQueues: 1 } })
  const keyed = (queue: string): Command => ({ op: 'enqueue', jobs: [job(queue, { idempotencyKey: 'once' })] })
  world.turn(keyed('a'))
  expect(ask(world, keyed('c'))).toMatchObject([{ seq: 1, created: false }])
})

test('a journal continues behind an entry whose queue cannot be created', () => {
  const world = fullWorld()
  const entries = [
    { at: 1, jobs: [job('a')] },
    { at: 1, jobs: [job('c')] },
    { at: 1, jobs: [job('b')] },
  ]
  const [reply] = world.turn({ op: 'forward', source: 'x', number: 9, first: 1, entries }).replies
  expect(reply).toMatchObject({ mark: 1, refused: { place: 2, refusal: { code: 'TOO_MANY_QUEUES' } } })
  const [rest] = world.turn({ op: 'forward', source: 'x', number: 9, first: 3, entries: entries.slice(2) }).replies
  expect(rest).toMatchObject({ mark: 3 })
})

test('a completion that would create a queue beyond the bound is refused, and its run can be completed without it', () => {
  const world = fullWorld()
  const grant = world.run(attaching('w', ['n'])).grants.find(({ queue }) => queue === 'b')
  const { seq, run } = grant ?? { seq: 0, run: 0 }
  expect(ask(world, { op: 'complete', seq, run, output: null, enqueues: [job('c')] })).toEqual(REFUSED)
  expect(ask(world, { op: 'complete', seq, run, output: null, enqueues: [job('a')] })).toBe(true)
})

test('a tick whose queue cannot be created is skipped, and the schedule continues', () => {
  const world = fullWorld()
  expect(ask(world, upsert('s', 'c'))).toMatchObject({ created: true })
  const skipped = world.after(SECOND)
  expect(skipped.systemEvents).toEqual([{ type: 'schedule.skipped', schedule: 's', tick: expect.any(Number) }])
  expect(ask(world, { op: 'triggerSchedule', id: 's' })).toEqual(REFUSED)
  world.turn({ op: 'deleteMany', filter: { queue: 'a' }, limit: 10, dryRun: false })
  world.turn({ op: 'deleteQueue', queue: 'a' })
  expect(world.after(SECOND).systemEvents).toMatchObject([{ type: 'schedule.fired', schedule: 's' }])
})

const NAMES = 3

/** With the names a, b and c of queue q, of which b is defined, too. */
function worldOfNames(): World {
  const world = new World({ settings: { maxNames: NAMES } })
  world.turn({ op: 'enqueue', jobs: ['a', 'b', 'c'].map((name) => ({ name, queue: 'q', data: null })) })
  for (const name of ['b', 'e', 'f']) world.turn(attaching(`w of ${name}`, [name]))
  return world
}

const named = (name: string, more: Partial<NewJob> = {}): NewJob => ({ name, queue: 'q', data: null, ...more })
const tooMany = (job = 'd', queue = 'q') => ['TOO_MANY_NAMES', { job, queue, maxNames: NAMES }]

test.each<[string, Command, unknown]>([
  ['enqueue', { op: 'enqueue', jobs: [named('a'), named('d')] }, tooMany()],
  ['enqueue of a known name into another queue', { op: 'enqueue', jobs: [named('a', { queue: 'r' })] }, tooMany('a', 'r')],
  ['flow', { op: 'flow', nodes: [{ ref: 'x', job: named('d'), parents: [], onFailure: 'fail' }] }, tooMany()],
  ['pause of a name', { op: 'pause', queue: 'q', job: 'd', paused: true }, tooMany()],
  ['a schedule that begins at once', { op: 'upsertSchedule', id: 's', spec: SPEC, job: named('d'), runImmediately: true }, tooMany()],
  ['a definition', attaching('w', ['b', 'd']), tooMany('d', '')],
])('%s creates no job name beyond maxNames', (_, command, refused) => {
  const world = worldOfNames()
  expect(ask(world, command)).toEqual(refused)
  expect([...world.tables.lanesByName.keys()]).toEqual(['a', 'b', 'c'])
  expect([...world.tables.definitions.inForce].map(([name]) => name)).toEqual(['b', 'e', 'f'])
})

test('existing job names accept jobs, pauses and workers at the bound, and a deleted queue makes room for others', () => {
  const world = worldOfNames()
  expect(ask(world, { op: 'enqueue', jobs: [named('a'), named('b')] })).toHaveLength(2)
  expect(ask(world, { op: 'pause', queue: 'q', job: 'a', paused: true })).toBe(true)
  expect(ask(world, { op: 'pause', queue: 'q', job: 'd', paused: false })).toBe(true)
  expect(ask(world, attaching('w', ['b']))).toMatchObject({ lost: [] })
  expect(ask(world, attaching('x', ['d'], { defines: false }))).toMatchObject({ lost: [] })
  for (const session of ['w of b', 'w', 'x']) world.leave(session)
  world.turn({ op: 'deleteMany', filter: { queue: 'q' }, limit: 10, dryRun: false })
  world.turn({ op: 'deleteQueue', queue: 'q' })
  expect(ask(world, { op: 'enqueue', jobs: [named('d')] })).toHaveLength(1)
})
