/** Tests when an unused job name is forgotten, and what keeps one. */

import { expect, test } from 'vitest'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import { DEFAULT_RETENTION } from '../../retention.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'
import { forgetNames } from './forgetNames.ts'

const DAY = LIMITS.nameUnusedMs
const HOUR = LIMITS.namesEveryMs

/** Looks for unused names, as housekeeping does, and forgets the journal if asked. */
function look(world: World, events: 'kept' | 'forgotten' = 'forgotten'): void {
  world.addEffects = (effects) => {
    const { tables, now, store } = world
    if (events === 'forgotten' && effects.events.length === 0) effects.forgetEventsBefore = tables.nextEvent - 1
    forgetNames({ tables, effects, now }, store.journal(0).firstEvent)
  }
  world.turn()
}

/** Looks each hour for so many days and a little longer. */
function pass(world: World, days: number, events: 'kept' | 'forgotten' = 'forgotten'): void {
  for (let hour = 0; hour <= days * 24 + 1; hour++) {
    look(world, events)
    world.pass(HOUR)
  }
}

/** With a job of the name that has come and gone, and one of another name in the same queue that stays. */
function worldWithout(): World {
  const world = new World()
  world.turn(enqueueing({ name: 'once', queue: 'q' }))
  world.delete({ seq: 1 })
  world.turn(enqueueing({ name: 'stays', queue: 'q' }))
  return world
}

const namesOf = (world: World) => [...(world.tables.queues.get('q')?.lanes.keys() ?? [])].sort()

test('a job name without jobs, workers and pauses is forgotten after a day, and its totals stay with its queue', () => {
  const world = worldWithout()
  const before = { ...world.tables.queues.get('q')?.totals }
  pass(world, 0.9)
  expect(namesOf(world)).toEqual(['once', 'stays'])
  pass(world, 0.2)
  expect(namesOf(world)).toEqual(['#', 'stays'])
  expect([...world.store.lanes.values()].map(({ name }) => name).sort()).toEqual(['#', 'stays'])
  expect(world.tables.queues.get('q')?.totals).toEqual(before)
  world.reload()
  expect(world.tables.queues.get('q')?.totals).toEqual(before)
  expect(world.tables.all.totals).toEqual(before)
  world.turn(enqueueing({ name: 'once', queue: 'q' }))
  expect(namesOf(world)).toEqual(['#', 'once', 'stays'])
})

const pausing = (paused: boolean): Command => ({ op: 'pause', queue: 'q', job: 'once', paused })

test.each<[string, (world: World) => void]>([
  ['a job that waits', (world) => world.turn(enqueueing({ name: 'once', queue: 'q' }))],
  ['a job that is due later', (world) => world.turn(enqueueing({ name: 'once', queue: 'q', delay: 9 * DAY }))],
  [
    'a finished job that is kept',
    (world) => {
      const [id] = world.call<'enqueue'>(enqueueing({ name: 'once', queue: 'q' }))
      if (id !== undefined) world.cancel(id)
    },
  ],
  ['a worker', (world) => world.attach('w', ['once'])],
  ['a pause', (world) => world.turn(pausing(true))],
])('%s keeps a job name from being forgotten', (_, keep) => {
  const world = worldWithout()
  keep(world)
  pass(world, 3)
  expect(namesOf(world)).toContain('once')
})

test.each<[string, (world: World) => void]>([
  [
    'a job each day',
    (world) => {
      const [id] = world.call<'enqueue'>(enqueueing({ name: 'once', queue: 'q' }))
      if (id !== undefined) world.delete(id)
    },
  ],
  [
    'a pause each day',
    (world) => {
      world.turn(pausing(true))
      world.turn(pausing(false))
    },
  ],
])('%s keeps a job name from being forgotten, however short it is', (_, use) => {
  const world = worldWithout()
  for (let day = 0; day < 4; day++) {
    pass(world, 0.8)
    use(world)
  }
  expect(namesOf(world)).toContain('once')
})

test('a job name stays as long as the journal has an event of it, and the newest name of all stays', () => {
  const world = worldWithout()
  pass(world, 5, 'kept')
  expect(namesOf(world)).toEqual(['once', 'stays'])
  look(world)
  look(world)
  expect(namesOf(world)).toEqual(['#', 'stays'])
  world.turn({ op: 'deleteMany', filter: { queue: 'q' }, limit: 9, dryRun: false })
  world.turn(enqueueing({ name: 'later', queue: 'q' }))
  const newest = Math.max(...world.tables.lanesById.keys())
  world.turn({ op: 'deleteMany', filter: { queue: 'q' }, limit: 9, dryRun: false })
  pass(world, 2)
  expect(world.tables.lanesById.has(newest)).toBe(true)
  expect(namesOf(world)).toEqual(['#', 'later'])
})

test.each([['kept'], ['forgotten']] as const)(
  'a restart each hour does not delay when a job name is forgotten, while events are %s',
  (events) => {
    const world = worldWithout()
    for (let hour = 0; hour < 26; hour++) {
      world.reload()
      look(world, events)
      world.pass(HOUR)
    }
    expect(namesOf(world)).toEqual(events === 'kept' ? ['once', 'stays'] : ['#', 'stays'])
  },
)

test('a worker that served a job name for weeks without a job has half a day to come back after a restart', () => {
  const world = worldWithout()
  world.attach('w', ['once'])
  const writes = () => world.store.lanes.get(world.tables.lane('q', 'once')?.id ?? 0)?.usedAt
  const written = new Set([writes()])
  for (let hour = 0; hour < 21 * 24; hour++) {
    look(world)
    written.add(writes())
    world.pass(HOUR)
  }
  expect(written.size).toBe(21 * 2)
  world.reload()
  pass(world, 0.4)
  expect(namesOf(world)).toEqual(['once', 'stays'])
  pass(world, 0.6)
  expect(namesOf(world)).toEqual(['#', 'stays'])
})

test.each<[string, number, 'kept' | 'forgotten', readonly string[]]>([
  ['a year back: the job name is forgotten a day later', -365 * DAY, 'forgotten', ['#', 'stays']],
  ['a year back: the job name stays with its events', -365 * DAY, 'kept', ['once', 'stays']],
  ['a year forward: the job name is forgotten', 365 * DAY, 'forgotten', ['#', 'stays']],
  ['a year forward: the job name stays with its events', 365 * DAY, 'kept', ['once', 'stays']],
])('a clock that is set %s', (_, ms, events, names) => {
  const world = worldWithout()
  look(world, events)
  world.now = { ...world.now, wall: world.now.wall + ms }
  if (ms < 0) {
    pass(world, 0.9, events)
    expect(namesOf(world)).toEqual(['once', 'stays'])
  }
  pass(world, 0.2, events)
  expect(namesOf(world)).toEqual(names)
})

test('many forgotten job names leave one lane for each queue, and go in slices', () => {
  const world = new World({ audited: false })
  const names = Array.from({ length: 1_200 }, (_, index) => `n${index}`)
  world.turn(enqueueing(...names.map((name) => ({ name, queue: 'q' }))))
  while (world.store.rows.size > 0) world.turn({ op: 'deleteMany', filter: { queue: 'q' }, limit: 10_000, dryRun: false })
  pass(world, 1.5)
  expect(namesOf(world)).toEqual(['#'])
  expect(world.tables.queues.get('q')?.totals.enqueued).toBe(1_200)
})

test('the defaults of a job name are forgotten with its last lane, a day after their session has left', () => {
  const world = worldWithout()
  const defining = (uuid: string, name: string) => attaching(uuid, [name], { handlers: [{ name, defaults: { maxAttempts: 2 } }] })
  world.run(defining('gone', 'once'))
  world.run(defining('other', 'unheard'))
  world.run(defining('here', 'served'))
  world.run({ op: 'leave', session: 'gone' }, { op: 'leave', session: 'other' })
  const defined = () => [...world.tables.definitions.inForce].map(([name]) => name).sort()
  pass(world, 0.9)
  expect(defined()).toEqual(['once', 'served', 'unheard'])
  pass(world, 0.2)
  expect(defined()).toEqual(['served'])
  expect([...world.store.definitions.keys()]).toEqual(['served'])
  world.run(defining('gone', 'once'))
  expect(defined()).toEqual(['once', 'served'])
})

test('a job name is not forgotten before retention has deleted its last job', () => {
  const world = worldWithout()
  const [id] = world.call<'enqueue'>(enqueueing({ name: 'once', queue: 'q' }))
  if (id !== undefined) world.cancel(id)
  pass(world, DEFAULT_RETENTION.cancelled.ageMs / DAY + 1)
  expect(namesOf(world)).toEqual(['once', 'stays'])
  world.pruning = world.settings.retention
  world.turn()
  pass(world, 1.1)
  expect(namesOf(world)).toEqual(['#', 'stays'])
})
