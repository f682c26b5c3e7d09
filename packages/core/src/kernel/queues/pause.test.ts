/** Tests timed pauses: they hold jobs like any pause, and end at the latest end that was set. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { ACTIVE } from '../../lifecycle.ts'
import type { PauseCommand } from '../../manageCommands.ts'
import { PAUSE_PARTS, type PausePart } from '../../pausePart.ts'
import { World } from '../../testing/world.ts'

const PLACES = [{}, { job: 'a' }, { key: 'k' }] as const satisfies readonly Partial<PauseCommand>[]

const pausing = (place: Partial<PauseCommand>, ms?: number): PauseCommand => ({
  ...{ op: 'pause', queue: 'q', paused: true },
  ...place,
  ...(ms !== undefined && { for: ms }),
})
const resuming = (place: Partial<PauseCommand>): PauseCommand => ({ op: 'pause', queue: 'q', paused: false, ...place })

function worldWithWorker(): World {
  const world = new World()
  world.attach('s', ['a', 'b'], { queues: ['q', 'bystander'] })
  return world
}

test.each(PLACES)('a timed pause of %o holds its jobs until its end, outlives a restart, and emits an event at both ends', (place) => {
  const world = worldWithWorker()
  const { systemEvents } = world.run(pausing(place, 1_000))
  expect(systemEvents).toMatchObject([{ type: 'queue.paused', queue: 'q' }])
  const held = world.enqueue('a', { queue: 'q', concurrencyKey: 'k' })
  const bystander = world.enqueue('b', { queue: 'bystander', concurrencyKey: 'k' })
  expect([world.stateOf(held), world.stateOf(bystander)]).toEqual(['waiting', 'active'])
  world.after(600)
  world.reload('s')
  world.attach('s', ['a', 'b'], { queues: ['q', 'bystander'] }, [{ seq: bystander.seq, run: 1 }])
  world.after(399)
  expect(world.stateOf(held)).toBe('waiting')
  const { grants, systemEvents: told } = world.after(1)
  expect(grants.map(({ seq }) => seq)).toEqual([held.seq])
  expect(told).toMatchObject([{ type: 'queue.resumed', queue: 'q' }])
  expect(world.store.pauseEnds.size).toBe(0)
})

test.each(PLACES)('a pause of %o by hand outlasts a timed one, whichever came first', (place) => {
  for (const commands of [
    [pausing(place), pausing(place, 10)],
    [pausing(place, 10), pausing(place)],
  ]) {
    const world = worldWithWorker()
    world.run(...commands)
    const held = world.enqueue('a', { queue: 'q', concurrencyKey: 'k' })
    world.after(86_400_000)
    expect(world.stateOf(held)).toBe('waiting')
    expect(world.run(resuming(place)).grants).toHaveLength(1)
  }
})

test('the later end of two timed pauses counts, and only the first pause emits an event', () => {
  const world = worldWithWorker()
  world.run(pausing({}, 1_000))
  expect(world.run(pausing({}, 3_000)).systemEvents).toEqual([])
  world.run(pausing({}, 5))
  const held = world.enqueue('a', { queue: 'q' })
  world.after(2_999)
  expect(world.stateOf(held)).toBe('waiting')
  expect(world.after(1).grants).toHaveLength(1)
})

test('a timed pause that ends does not end a drain, which a resume by hand ends', () => {
  const world = worldWithWorker()
  world.run({ op: 'drainQueue', queue: 'q' }, pausing({}, 10))
  world.after(10)
  expect(world.refusal({ op: 'enqueue', jobs: [{ name: 'a', data: null, queue: 'q' }] })).toBe('QUEUE_DRAINING')
  world.run(resuming({}))
  expect(world.stateOf(world.enqueue('a', { queue: 'q' }))).toBe('active')
})

test('the pauses of a deleted queue are forgotten: a new queue of that name is not resumed by their ends', () => {
  const world = worldWithWorker()
  for (const place of PLACES) world.run(pausing(place, 1_000))
  world.run({ op: 'deleteQueue', queue: 'q' })
  expect(world.store.pauseEnds.size).toBe(0)
  world.run(pausing({}))
  const held = world.enqueue('a', { queue: 'q' })
  expect(world.after(5_000).systemEvents).toEqual([])
  expect(world.stateOf(held)).toBe('waiting')
})

test('all timed pauses end in time although more of them than a slice end at once', () => {
  const world = worldWithWorker()
  const keys = Array.from({ length: 1_200 }, (_, index) => `k${index}`)
  world.run(...keys.map((key) => pausing({ key }, 50)))
  expect(world.after(50).systemEvents).toHaveLength(keys.length)
})

test.each(PAUSE_PARTS)(
  'a snooze that pauses its %s: the job keeps its place, uses no attempt, and no other job starts before it',
  (part) => {
    const world = worldWithWorker()
    const options = { queue: 'q', concurrencyKey: 'k' }
    const limited = world.enqueue('a', { ...options, ttl: 60_000 })
    const running = world.enqueue('a', options)
    world.snooze(limited, 5_000, { pause: part })
    const later = world.enqueue('a', options)
    const bystander = world.enqueue('a', { queue: 'bystander', concurrencyKey: 'k' })
    const states = () => [limited, running, later, bystander].map((job) => world.stateOf(job))
    expect(states()).toEqual(['waiting', 'active', 'waiting', 'active'])
    expect(world.after(4_999).grants).toEqual([])
    expect(world.after(1).grants.map(({ seq, attempt }) => [seq, attempt])).toEqual([
      [limited.seq, 1],
      [later.seq, 1],
    ])
    expect(world.row(limited).expiresAt).toBe(0)
  },
)

test('a snooze that pauses the key of a job without a key delays that job alone', () => {
  const world = worldWithWorker()
  const job = world.enqueue('a', { queue: 'q' })
  world.snooze(job, 5_000, { pause: 'key' })
  expect(world.stateOf(job)).toBe('scheduled')
  expect(world.stateOf(world.enqueue('a', { queue: 'q', concurrencyKey: 'k' }))).toBe('active')
  expect(world.store.pauseEnds.size).toBe(0)
})

test('a snooze of a run that is over pauses nothing', () => {
  const world = worldWithWorker()
  const job = world.enqueue('a', { queue: 'q' })
  world.complete(job)
  expect(world.refusal({ op: 'snooze', seq: job.seq, run: 1, delay: 5_000, pause: 'queue' })).toBe('STALE_RUN')
  expect(world.stateOf(world.enqueue('a', { queue: 'q' }))).toBe('active')
})

test('a job whose cancel is requested ends as cancelled, although its snooze pauses the queue', () => {
  const world = worldWithWorker()
  const job = world.enqueue('a', { queue: 'q' })
  world.cancel(job)
  world.snooze(job, 5_000, { pause: 'queue' })
  expect(world.stateOf(job)).toBe('cancelled')
  expect(world.stateOf(world.enqueue('a', { queue: 'q' }))).toBe('waiting')
})

test('a queue, a name and a key are paused exactly until their latest end, after any pauses, resumes and snoozes', () => {
  const act = fc.record({
    kind: fc.constantFrom('pause', 'pause', 'resume', 'snooze', 'pass', 'restart'),
    place: fc.nat({ max: PLACES.length - 1 }),
    ms: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      const world = worldWithWorker()
      /** When each place is free again; undefined if it is. */
      const ends = new Map<number, number>()
      for (const { kind, place: index, ms } of acts) {
        const place = PLACES[index] as Partial<PauseCommand>
        const extend = (until: number) => ends.set(index, Math.max(until, ends.get(index) ?? 0))
        if (kind === 'pause') {
          world.run(pausing(place, ms))
          extend(ms === undefined ? Number.POSITIVE_INFINITY : world.now.wall + ms)
        } else if (kind === 'resume') {
          world.run(resuming(place))
          ends.delete(index)
        } else if (kind === 'snooze') {
          const [active] = [...world.tables.jobs.values()].filter(({ state, lane }) => state === ACTIVE && lane.queue.name === 'q')
          if (active === undefined) continue
          const part = PAUSE_PARTS[index] as PausePart
          world.snooze(active, ms ?? 7, { pause: part })
          extend(world.now.wall + (ms ?? 7))
        } else if (kind === 'restart') {
          world.reload()
          world.run()
          world.attach(`s${world.store.sessions.size}`, ['a', 'b'], { queues: ['q', 'bystander'] })
        } else world.after(ms ?? 20)
        for (const [paused, until] of ends) if (until <= world.now.wall) ends.delete(paused)
        const queue = world.tables.queues.get('q')
        const isPaused = [queue?.paused, queue?.lanes.get('a')?.paused, queue?.keys?.get('k')?.paused].map((paused) => paused === true)
        expect(isPaused).toEqual(PLACES.map((_, at) => ends.has(at)))
        const job = world.enqueue('a', { queue: 'q', concurrencyKey: 'k' })
        expect(world.stateOf(job)).toBe(ends.size > 0 ? 'waiting' : 'active')
      }
    }),
    { numRuns: runs(200) },
  )
})
