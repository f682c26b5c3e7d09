/** Tests schedules: each tick fires once, the next one always comes, and missed or overlapping ticks follow the options. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { NewJob } from '../../commands.ts'
import { LIMITS } from '../../limits.ts'
import { OVERLAPS, type ScheduleSpec } from '../../schedule.ts'
import type { UpsertScheduleCommand } from '../../scheduleCommands.ts'
import { MemoryStore } from '../../testing/memoryStore.ts'
import { type Turned, World } from '../../testing/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

type Changes = Partial<ScheduleSpec> & { readonly id?: string; readonly job?: Partial<NewJob> } & Partial<
    Pick<UpsertScheduleCommand, 'runImmediately' | 'paused' | 'absent' | 'updatedAt'>
  >

function upserting({ id = 's', job, runImmediately = false, paused, absent, updatedAt, ...spec }: Changes = {}): UpsertScheduleCommand {
  const times = spec.cron === undefined ? { every: MINUTE } : {}
  return {
    op: 'upsertSchedule',
    id,
    spec: { ...times, jitter: 0, overlap: 'skip', catchUp: 'latest', ...spec },
    job: { name: 'a', data: '{"n":1}', ...job },
    runImmediately,
    ...(paused !== undefined && { paused }),
    ...(absent !== undefined && { absent }),
    ...(updatedAt !== undefined && { updatedAt }),
  }
}

class Scheduled extends World {
  readonly begin = this.now.wall

  upsert(changes?: Changes) {
    return this.call<'upsertSchedule'>(upserting(changes))
  }

  schedule(id = 's') {
    const schedule = this.store.scheduleRows.get(id)
    if (schedule === undefined) throw new Error(`there is no schedule ${id}`)
    return schedule
  }

  /** The ticks of all jobs that have come, in minutes since the beginning. */
  get ticks(): number[] {
    return [...this.store.rows.values()].map(({ extras }) => {
      const { schedule } = JSON.parse(extras?.meta ?? '') as { schedule: { at: string } }
      return (Date.parse(schedule.at) - this.begin) / MINUTE
    })
  }

  /** Everything that is handed out ends well at once. */
  completeAll({ grants }: Pick<Turned, 'grants'>): void {
    for (const grant of grants) this.complete(grant, '"done"')
  }
}

function worked(): Scheduled {
  const world = new Scheduled()
  world.attach('s', ['a'])
  return world
}

/** An engine that was away from the first tick on. */
function missed(changes: Changes, ms = 10 * MINUTE + 30_000): Scheduled {
  const world = worked()
  world.upsert(changes)
  world.completeAll(world.after(MINUTE))
  world.reload()
  world.pass(ms)
  world.attach('s', ['a'])
  return world
}

describe('M9: a tick of a schedule', () => {
  test('a tick fires at its time, not a millisecond before, and then after every interval', () => {
    const world = worked()
    expect(world.upsert()).toEqual({ created: true, fireAt: world.begin + MINUTE })
    expect(world.after(MINUTE - 1).grants).toEqual([])
    const { grants } = world.after(1)
    expect(grants).toMatchObject([{ name: 'a', data: '{"n":1}' }])
    world.completeAll({ grants })
    for (let minute = 2; minute < 6; minute++) world.completeAll(world.after(MINUTE))
    expect(world.ticks).toEqual([1, 2, 3, 4, 5])
    expect(world.schedule()).toMatchObject({ fired: 5, skipped: 0, lastAt: world.begin + 5 * MINUTE })
  })

  test('late turns do not make the interval of a schedule drift', () => {
    const world = worked()
    world.upsert()
    for (const late of [137, 5_000, 59_999, 1, 12]) {
      world.pass(world.schedule().fireAt - world.now.wall + late)
      world.completeAll(world.run())
    }
    expect(world.ticks).toEqual([1, 2, 3, 4, 5])
  })

  test('cron-canonical-tick-key: the job of a tick has the schedule and the time of the tick in its tags and meta', () => {
    const world = worked()
    world.upsert({ id: 'x/y', cron: '*/5 * * * *', timezone: 'UTC', job: { tags: ['t'], meta: '{ "m": [1] }', priority: 4, queue: 'q' } })
    world.after(5 * MINUTE + 3)
    const row = world.row({ seq: 1 })
    expect(row).toMatchObject({ priority: 4, extras: { tags: ['t', 'schedule:x/y'], schedule: 'x/y' } })
    const at = new Date(world.begin + 5 * MINUTE).toISOString()
    expect(JSON.parse(row.extras?.meta as string)).toEqual({ schedule: { id: 'x/y', at }, m: [1] })
    for (const meta of ['{}', '{ }']) {
      world.upsert({ id: 'empty', job: { meta } })
      world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 'empty' })
      world.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 'empty' })
    }
    for (const { extras } of world.store.rows.values()) expect(Object.keys(JSON.parse(extras?.meta as string))[0]).toBe('schedule')
  })

  test('bystander: a tick changes no other schedule and no other job', () => {
    const world = worked()
    world.upsert({ id: 'by', every: HOUR })
    const job = world.enqueue('b')
    const [schedule, row] = [JSON.stringify(world.schedule('by')), JSON.stringify(world.row(job))]
    world.upsert()
    world.completeAll(world.after(MINUTE))
    world.call<'pauseSchedule'>({ op: 'pauseSchedule', id: 's' })
    world.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 's' })
    expect([JSON.stringify(world.schedule('by')), JSON.stringify(world.row(job))]).toEqual([schedule, row])
  })

  test('all ticks that are due at once fire, a slice for each turn', () => {
    const world = new Scheduled({ audited: false })
    const count = 3 * LIMITS.sliceSchedules + 7
    world.run(...Array.from({ length: count }, (_, index) => upserting({ id: `s${index}` })))
    world.pass(MINUTE)
    world.turn()
    expect(world.store.rows.size).toBe(LIMITS.sliceSchedules)
    world.run()
    expect(world.store.rows.size).toBe(count)
    expect(world.tables.fireAt).toBe(world.begin + 2 * MINUTE)
  })

  test('ticks fire from startAt to endAt, both included, and then the schedule has ended', () => {
    const world = worked()
    const { begin } = world
    expect(world.upsert({ startAt: begin + 10 * MINUTE, endAt: begin + 12 * MINUTE }).fireAt).toBe(begin + 10 * MINUTE)
    for (let minute = 0; minute < 20; minute++) world.completeAll(world.after(MINUTE))
    expect(world.ticks).toEqual([10, 11, 12])
    expect(world.schedule()).toMatchObject({ nextAt: 0, fireAt: 0 })
    expect(world.tables.fireAt).toBe(0)
    // From a startAt that has gone by the interval counts all the same.
    expect(world.upsert({ id: 'past', every: HOUR, startAt: begin - 10 * MINUTE }).fireAt).toBe(begin + 50 * MINUTE)
    expect(world.upsert({ id: 'over', endAt: begin }).fireAt).toBe(0)
  })

  test('a tick that is further away than a timer can count fires at its time', () => {
    const world = worked()
    const days = 400 * 24 * HOUR
    world.upsert({ every: days })
    world.after(days - 1)
    expect(world.store.rows.size).toBe(0)
    world.after(1)
    expect(world.store.rows.size).toBe(1)
  })

  test('the jitter of a tick is always the same and within its bound, and does not make the schedule drift', () => {
    const world = worked()
    world.upsert({ jitter: 30_000 })
    const late: number[] = []
    for (let minute = 1; minute <= 50; minute++) {
      const { fireAt, nextAt } = world.schedule()
      expect(nextAt).toBe(world.begin + minute * MINUTE)
      late.push(fireAt - nextAt)
      world.pass(fireAt - world.now.wall - 1)
      expect(world.run().grants).toEqual([])
      world.completeAll(world.after(1))
    }
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThanOrEqual(30_000)
    expect(new Set(late).size).toBeGreaterThan(40)
    expect(world.ticks).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    const other = worked()
    other.upsert({ jitter: 30_000 })
    expect(other.schedule().fireAt - other.schedule().nextAt).toBe(late[0])
  })

  test('no tick fires while the disk is full, and the engine does not spin; afterwards the schedules continue', () => {
    const world = worked()
    world.upsert()
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    world.pass(MINUTE)
    world.turn()
    expect(world.tables.ticksMono).toBe(world.now.mono + LIMITS.refusedTicksMs)
    // A clock that is set back puts nothing off.
    world.now = { ...world.now, wall: world.begin + MINUTE }
    expect(world.store.rows.size).toBe(0)
    world.refusing = undefined
    world.after(LIMITS.refusedTicksMs)
    expect(world.ticks).toEqual([1])
    expect(world.schedule().nextAt).toBe(world.begin + 2 * MINUTE)
  })

  test('a schedule whose time zone no longer exists is paused, and other schedules fire', () => {
    const world = worked()
    world.upsert({ id: 'bad', cron: '*/1 * * * *', timezone: 'UTC' })
    world.upsert({ id: 'good', cron: '*/1 * * * *', timezone: 'UTC' })
    const bad = world.schedule('bad')
    world.store.scheduleRows.set('bad', { ...bad, spec: { ...bad.spec, timezone: 'Gone/Zone' } })
    world.after(MINUTE)
    expect(world.schedule('bad')).toMatchObject({ paused: true, fired: 0 })
    expect(world.schedule('good')).toMatchObject({ paused: false, fired: 1 })
    expect(world.refusal({ op: 'resumeSchedule', id: 'bad' })).toBe('INVALID_SCHEDULE')
    world.upsert({ id: 'bad', cron: '*/1 * * * *', timezone: 'UTC' })
    world.call<'resumeSchedule'>({ op: 'resumeSchedule', id: 'bad' })
    world.after(MINUTE)
    expect(world.schedule('bad')).toMatchObject({ paused: false, fired: 1 })
  })
})

describe('M9: catching up on missed ticks', () => {
  test('catchUp latest: one job stands for all missed ticks, has the time of the last one, and the next tick fires at its own time', () => {
    for (const spec of [{ every: MINUTE }, { cron: '*/1 * * * *', timezone: 'UTC' }]) {
      const world = missed(spec)
      expect(world.ticks).toEqual([1, 11])
      expect(world.schedule().nextAt).toBe(world.begin + 12 * MINUTE)
    }
  })

  test('catchUp latest takes no longer after ten years', () => {
    const world = missed({ cron: '*/1 * * * *', timezone: 'UTC' }, 10 * 365 * 24 * HOUR)
    expect(world.ticks).toEqual([1, 10 * 365 * 24 * 60 + 1])
  })

  test('catchUp none: a tick that is more than a minute late is lost, and a tick that is less late fires', () => {
    expect(missed({ every: 5 * MINUTE, catchUp: 'none' }, 6 * MINUTE + 1).ticks).toEqual([])
    expect(missed({ catchUp: 'none' }, 10 * MINUTE).ticks).toEqual([1, 11])
    const world = missed({ every: 5 * MINUTE, catchUp: 'none' }, 4 * MINUTE + 30_000)
    expect(world.ticks).toEqual([5])
    expect(world.schedule().nextAt).toBe(world.begin + 10 * MINUTE)
  })

  test('catchUp all: each missed tick has its job, one after the other, in order', () => {
    const world = missed({ catchUp: 'all', overlap: 'queue' })
    for (let round = 0; round < 20; round++) {
      const [running] = world.tables.running()
      expect(world.tables.running().length).toBeLessThan(2)
      if (running !== undefined) world.complete(running)
    }
    expect(world.ticks).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(world.schedule()).toMatchObject({ held: false, behind: 0 })
  })

  test('catchUp all is bounded: one job stands for all ticks beyond the bound', () => {
    const world = new Scheduled({ audited: false })
    world.upsert({ every: 1_000, catchUp: 'all', overlap: 'queue' })
    world.pass(5_000_000)
    world.attach('s', ['a'])
    for (let round = 0; round < 1_200; round++) {
      const [running] = world.tables.running()
      if (running !== undefined) world.complete(running)
    }
    expect(world.store.rows.size).toBe(LIMITS.ticksCaughtUp + 1)
    expect(world.schedule()).toMatchObject({ lastAt: world.now.wall, behind: 0 })
  })

  test('a clock that is set back fires no tick twice; a clock that is set forward misses ticks, and the schedule continues', () => {
    const world = worked()
    world.upsert()
    for (let minute = 0; minute < 5; minute++) world.completeAll(world.after(MINUTE))
    world.now = { ...world.now, wall: world.now.wall - 3 * MINUTE }
    for (let minute = 0; minute < 5; minute++) world.completeAll(world.after(MINUTE))
    expect(world.ticks).toEqual([1, 2, 3, 4, 5, 6, 7])
    world.now = { ...world.now, wall: world.now.wall + 2 * HOUR }
    world.completeAll(world.run())
    world.completeAll(world.after(MINUTE))
    expect(world.ticks.slice(7)).toEqual([127, 128])
  })
})

describe('M9: ticks that overlap with an earlier job', () => {
  test('overlap skip: a tick is lost while the job of an earlier tick is not final', () => {
    const world = worked()
    world.upsert()
    const { grants } = world.after(MINUTE)
    world.after(MINUTE)
    world.after(MINUTE)
    expect(world.ticks).toEqual([1])
    expect(world.schedule()).toMatchObject({ skipped: 2, fired: 1 })
    world.completeAll({ grants })
    world.after(MINUTE)
    expect(world.ticks).toEqual([1, 4])
  })

  test('overlap queue: a tick waits for the end of the earlier job, and then fires at once', () => {
    const world = worked()
    world.upsert({ overlap: 'queue' })
    const { grants } = world.after(MINUTE)
    world.after(MINUTE)
    world.after(MINUTE)
    expect(world.schedule()).toMatchObject({ held: true, fired: 1 })
    // Nothing looks at it meanwhile.
    expect(world.tables.fireAt).toBe(0)
    world.completeAll({ grants })
    expect(world.ticks).toEqual([1, 3])
    expect(world.schedule()).toMatchObject({ held: false, nextAt: world.begin + 4 * MINUTE })
  })

  test('overlap queue: an engine that dies between the end of the earlier job and the tick fires the tick after its restart', () => {
    const world = worked()
    world.upsert({ overlap: 'queue' })
    const { grants } = world.after(MINUTE)
    world.after(MINUTE)
    const [grant] = grants
    world.turn({ op: 'complete', seq: grant?.seq as number, run: 1, output: null })
    world.reload()
    expect([...world.tables.freed]).toEqual(['s'])
    world.run()
    expect(world.ticks).toEqual([1, 2])
  })

  test('recurring-stale-lock-progress: a tick that waits for the job of a dead worker fires when that job has permanently failed', () => {
    const world = worked()
    world.upsert({ overlap: 'queue', job: { maxAttempts: 2 } })
    world.after(MINUTE)
    world.after(MINUTE)
    for (let death = 0; death < 2; death++) {
      expect(world.schedule()).toMatchObject({ held: true, fired: 1 })
      world.reload()
      world.attach(`s${death}`, ['a'])
      world.run()
    }
    expect(world.stateOf({ seq: 1 })).toBe('failed')
    expect(world.ticks).toEqual([1, 2])
  })

  test('overlap cancel: the earlier job is cancelled, and the tick fires', () => {
    const world = worked()
    world.upsert({ overlap: 'cancel' })
    const { grants } = world.after(MINUTE)
    expect(world.after(MINUTE).notices).toMatchObject([{ kind: 'abort', cause: 'cancel', seq: grants[0]?.seq }])
    expect(world.ticks).toEqual([1, 2])
    const waiting = new Scheduled()
    waiting.upsert({ overlap: 'cancel' })
    waiting.after(MINUTE)
    waiting.after(MINUTE)
    expect([waiting.stateOf({ seq: 1 }), waiting.stateOf({ seq: 2 })]).toEqual(['cancelled', 'waiting'])
  })

  test('overlap allow: jobs run beside each other, by ticks and by hand, and no tick is skipped, cancelled or held', () => {
    const world = worked()
    world.upsert({ overlap: 'allow' })
    for (let minute = 1; minute <= 3; minute++) expect(world.after(MINUTE).notices).toEqual([])
    const [third] = world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    expect(third).toMatchObject({ created: true })
    expect(world.ticks).toEqual([1, 2, 3, 3])
    expect(world.schedule()).toMatchObject({ held: false, fired: 4, skipped: 0 })
    // Only the last job is the schedule's: others that wait stay, as does one that has begun.
    const waiting = new Scheduled()
    waiting.upsert({ overlap: 'allow' })
    for (let minute = 1; minute <= 2; minute++) waiting.after(MINUTE)
    waiting.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 's' })
    expect([...waiting.store.rows.keys()]).toEqual([1])
  })

  test('a tick that waits fires at once when its schedule changes to overlap allow', () => {
    const world = worked()
    world.upsert({ overlap: 'queue' })
    for (let minute = 1; minute <= 2; minute++) world.after(MINUTE)
    expect(world.schedule()).toMatchObject({ held: true, fired: 1 })
    world.upsert({ overlap: 'allow' })
    world.run()
    expect(world.ticks).toEqual([1, 2])
  })
})

describe('the option maxRuns of a schedule', () => {
  test('the last job ends the schedule, and an upsert at each start does not start it over', () => {
    const world = worked()
    world.upsert({ id: 'by' })
    world.upsert({ overlap: 'allow', maxRuns: 2 })
    for (let minute = 1; minute <= 4; minute++) world.after(MINUTE)
    expect(world.schedule()).toMatchObject({ fired: 2, nextAt: 0, fireAt: 0 })
    expect(world.schedule('by').nextAt).toBe(world.begin + 5 * MINUTE)
    expect(world.upsert({ overlap: 'allow', maxRuns: 2 })).toEqual({ created: false, fireAt: 0 })
    expect(world.upsert({ overlap: 'allow', maxRuns: 2, job: { priority: 1 } }).fireAt).toBe(0)
    world.call<'pauseSchedule'>({ op: 'pauseSchedule', id: 's' })
    world.call<'resumeSchedule'>({ op: 'resumeSchedule', id: 's' })
    expect(world.schedule().nextAt).toBe(0)
    expect(world.upsert({ overlap: 'allow', maxRuns: 3 }).fireAt).toBe(world.begin + 5 * MINUTE)
    world.after(MINUTE)
    expect(world.schedule()).toMatchObject({ fired: 3, nextAt: 0 })
    expect(world.upsert({ overlap: 'allow' }).fireAt).toBe(world.begin + 6 * MINUTE)
  })

  test('jobs that are triggered by hand count, and so does the immediate first one; after the end only a trigger creates jobs', () => {
    const world = worked()
    const trigger = () => world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    world.upsert({ overlap: 'allow', maxRuns: 2, runImmediately: true })
    expect(world.schedule()).toMatchObject({ fired: 1, nextAt: world.begin + MINUTE })
    trigger()
    expect(world.schedule()).toMatchObject({ fired: 2, nextAt: 0 })
    expect(trigger()).toMatchObject([{ created: true }])
    world.after(HOUR)
    expect(world.schedule()).toMatchObject({ fired: 3, nextAt: 0 })
    const once = new Scheduled()
    expect(once.upsert({ maxRuns: 1, runImmediately: true }).fireAt).toBe(0)
  })

  test('ticks that are skipped do not count for maxRuns', () => {
    const world = worked()
    world.upsert({ maxRuns: 2 })
    const { grants } = world.after(MINUTE)
    world.after(MINUTE)
    world.completeAll({ grants })
    world.after(MINUTE)
    expect(world.schedule()).toMatchObject({ fired: 2, skipped: 1, nextAt: 0 })
  })

  test('a change of maxRuns does not move the ticks', () => {
    const world = worked()
    world.upsert()
    world.pass(1_234)
    expect(world.upsert({ maxRuns: 5 }).fireAt).toBe(world.begin + MINUTE)
  })

  test('a change of maxRuns loses no tick that waits for its jitter or for a job, or that is caught up on', () => {
    const jittered = worked()
    jittered.upsert({ every: HOUR, jitter: 30 * MINUTE })
    const { nextAt, fireAt } = jittered.schedule()
    jittered.pass(nextAt - jittered.now.wall + 1)
    expect(jittered.upsert({ every: HOUR, jitter: 30 * MINUTE, maxRuns: 5 }).fireAt).toBe(fireAt)
    const held = worked()
    held.upsert({ overlap: 'queue', maxRuns: 5 })
    held.after(MINUTE)
    held.after(MINUTE)
    held.upsert({ overlap: 'queue', maxRuns: 6 })
    expect(held.schedule()).toMatchObject({ held: true, nextAt: held.begin + 2 * MINUTE })
    const late = new Scheduled()
    late.upsert({ catchUp: 'all', overlap: 'allow', maxRuns: 5 })
    late.pass(4 * MINUTE)
    late.upsert({ catchUp: 'all', overlap: 'allow', maxRuns: 6 })
    late.run()
    expect(late.ticks).toEqual([1, 2, 3, 4])
  })
})

describe('the option catchUpWithin of a schedule', () => {
  test('catchUp all: missed ticks within catchUpWithin have their jobs, and earlier ones have none', () => {
    const world = missed({ catchUp: 'all', overlap: 'allow', catchUpWithin: 3 * MINUTE })
    world.run()
    expect(world.ticks).toEqual([1, 9, 10, 11])
    expect(world.schedule()).toMatchObject({ skipped: 0, nextAt: world.begin + 12 * MINUTE })
  })

  test('catchUp latest: the last missed tick is lost if it is later than catchUpWithin', () => {
    const late = new Scheduled()
    late.upsert({ every: HOUR, catchUpWithin: 10 * MINUTE })
    late.pass(HOUR + 10 * MINUTE + 1)
    late.run()
    expect(late.ticks).toEqual([])
    expect(late.schedule()).toMatchObject({ skipped: 0, nextAt: late.begin + 2 * HOUR })
    const timely = new Scheduled()
    timely.upsert({ every: HOUR, catchUpWithin: 10 * MINUTE })
    timely.pass(HOUR + 10 * MINUTE)
    timely.run()
    expect(timely.ticks).toEqual([60])
  })

  test('a tick that has waited for an earlier job for longer than catchUpWithin is lost', () => {
    const world = worked()
    world.upsert({ overlap: 'queue', every: HOUR, catchUpWithin: MINUTE, job: { timeout: Number.POSITIVE_INFINITY } })
    const { grants } = world.after(HOUR)
    world.after(HOUR)
    expect(world.schedule().held).toBe(true)
    world.pass(2 * MINUTE)
    world.completeAll({ grants })
    expect(world.ticks).toEqual([60])
    expect(world.schedule()).toMatchObject({ held: false, nextAt: world.begin + 3 * HOUR })
  })
})

describe('creating and changing a schedule', () => {
  test('an upsert without a change keeps the next tick and writes nothing', () => {
    const world = worked()
    world.upsert({ jitter: 5_000 })
    world.pass(40_000)
    const { writes } = world.store
    const before = JSON.stringify(world.schedule())
    expect(world.upsert({ jitter: 5_000 })).toMatchObject({ created: false, fireAt: world.schedule().fireAt })
    expect([world.store.writes, JSON.stringify(world.schedule())]).toEqual([writes, before])
  })

  test('an upsert with another job or other policies keeps the next tick', () => {
    const world = worked()
    world.upsert()
    world.pass(40_000)
    world.upsert({ overlap: 'queue', job: { data: '{"n":2}', priority: 7 } })
    expect(world.schedule()).toMatchObject({ nextAt: world.begin + MINUTE, createdAt: world.begin, updatedAt: world.now.wall })
    expect(world.after(20_000).grants).toMatchObject([{ data: '{"n":2}' }])
  })

  test('an upsert with other times starts the schedule over from now, and repeats no tick', () => {
    const world = worked()
    world.upsert()
    world.completeAll(world.after(MINUTE + 10_000))
    expect(world.upsert({ every: 2 * MINUTE }).fireAt).toBe(world.now.wall + 2 * MINUTE)
    expect(world.upsert({ cron: '*/1 * * * *', timezone: 'UTC' }).fireAt).toBe(world.begin + 2 * MINUTE)
    // Set back, the clock shows the time of a tick that has fired.
    world.now = { ...world.now, wall: world.begin + 30_000 }
    expect(world.upsert({ cron: '*/1 * * * *', timezone: 'UTC', jitter: 1 }).fireAt).toBeGreaterThanOrEqual(world.begin + 2 * MINUTE)
  })

  test('a tick at the last instant of a Date does not fire after it, whatever its jitter', () => {
    const world = worked()
    expect(world.upsert({ every: 2 * HOUR, startAt: LIMITS.timeMs, jitter: HOUR }).fireAt).toBe(LIMITS.timeMs)
  })

  test('runImmediately: an upsert creates a job at once if the schedule is new', () => {
    const world = worked()
    world.upsert({ runImmediately: true })
    world.upsert({ runImmediately: true, every: HOUR })
    expect(world.ticks).toEqual([0])
    expect(world.schedule()).toMatchObject({ fired: 1, nextAt: world.begin + HOUR })
  })

  test('an upsert that no schedule can follow is refused, whatever a client sends', () => {
    const world = worked()
    const wrong: Changes[] = [
      { cron: 'nonsense', timezone: 'UTC' },
      { cron: 'never', timezone: 'UTC' },
      { cron: '*/1 * * * *', timezone: 'No/Where' },
      { cron: '*/1 * * * *', every: MINUTE },
      { jitter: MINUTE },
      { startAt: 5, endAt: 4 },
      { catchUp: 'all', overlap: 'skip' },
      { job: { delay: 1 } },
      { job: { runAt: 1 } },
      { job: { idempotencyKey: 'k' } },
      { job: { unique: { key: 'k', onConflict: 'skip' } } },
      { job: { meta: '[1]' } },
      { job: { meta: `{"a":"${'x'.repeat(LIMITS.metaBytes)}"}` } },
      { job: { tags: Array.from({ length: LIMITS.tagsPerJob }, String) } },
    ]
    for (const changes of wrong) expect(world.refusal(upserting(changes)), JSON.stringify(changes)).toBe('INVALID_SCHEDULE')
    expect(world.store.scheduleRows.size).toBe(0)
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    expect(world.refusal(upserting())).toBe('DISK_FULL')
  })

  test('a schedule can be created, deleted and created again in one turn', () => {
    const world = worked()
    world.run(upserting({ runImmediately: true }), { op: 'deleteSchedule', id: 's' }, upserting({ every: HOUR }))
    expect(world.schedule()).toMatchObject({ fired: 0, nextAt: world.begin + HOUR })
    expect(world.store.rows.size).toBe(0)
    world.run({ op: 'deleteSchedule', id: 's' }, { op: 'deleteSchedule', id: 's' })
    expect(world.store.scheduleRows.size).toBe(0)
    expect(world.refusal({ op: 'pauseSchedule', id: 's' })).toBe('SCHEDULE_NOT_FOUND')
    expect(world.refusal({ op: 'resumeSchedule', id: 's' })).toBe('SCHEDULE_NOT_FOUND')
    expect(world.refusal({ op: 'triggerSchedule', id: 's' })).toBe('SCHEDULE_NOT_FOUND')
  })
})

describe('a schedule that must be as its caller expects it', () => {
  test('absent: an upsert of an existing schedule is refused, and the schedule stays as it is', () => {
    const world = worked()
    expect(world.call<'upsertSchedule'>(upserting({ absent: true }))).toMatchObject({ created: true })
    world.upsert({ id: 'by' })
    const before = JSON.stringify([...world.store.scheduleRows])
    expect(world.refusal(upserting({ absent: true, every: HOUR }))).toBe('SCHEDULE_EXISTS')
    expect(JSON.stringify([...world.store.scheduleRows])).toBe(before)
  })

  test('updatedAt: an upsert of a schedule that is absent or has changed since is refused, and each change has a time of its own', () => {
    const world = worked()
    expect(world.refusal(upserting({ updatedAt: 1 }))).toBe('SCHEDULE_NOT_FOUND')
    world.upsert()
    const { updatedAt } = world.schedule()
    const { replies } = world.turn(
      upserting({ updatedAt, every: HOUR }),
      upserting({ updatedAt, every: 2 * HOUR }),
      upserting({ updatedAt: updatedAt + 1, every: 3 * HOUR }),
    )
    expect(replies).toMatchObject([{ created: false }, { refusal: { code: 'SCHEDULE_CHANGED' } }, { created: false }])
    expect(world.schedule()).toMatchObject({ spec: { every: 3 * HOUR }, updatedAt: updatedAt + 2 })
  })
})

describe('a schedule that is paused by an upsert', () => {
  test('a schedule that is created as paused fires no tick until it is resumed', () => {
    const world = worked()
    const { systemEvents } = world.turn(upserting({ paused: true }))
    expect(systemEvents.map(({ type }) => type)).toEqual(['schedule.upserted', 'schedule.paused'])
    expect(world.after(5 * MINUTE).grants).toEqual([])
    expect(world.upsert()).toEqual({ created: false, fireAt: 0 })
    expect(world.upsert({ paused: false })).toMatchObject({ created: false, fireAt: world.begin + 6 * MINUTE })
    expect(world.after(MINUTE).grants).toHaveLength(1)
  })

  test('an upsert can pause an existing schedule, and does not resume one unless it says so', () => {
    const world = worked()
    world.upsert()
    const { systemEvents } = world.turn(upserting({ paused: true }), upserting({ paused: true, every: HOUR }), upserting())
    expect(systemEvents.map(({ type }) => type)).toEqual(['schedule.paused', 'schedule.upserted', 'schedule.upserted'])
    expect(world.schedule().paused).toBe(true)
  })

  test('an upsert with paused and runImmediately is refused', () => {
    const world = worked()
    expect(world.refusal(upserting({ paused: true, runImmediately: true }))).toBe('INVALID_SCHEDULE')
    expect(world.store.scheduleRows.size).toBe(0)
  })
})

describe('commands for a schedule by hand', () => {
  test('a paused schedule fires no tick, and after a resume it continues from now, without the missed ticks', () => {
    const world = worked()
    world.upsert({ catchUp: 'all', overlap: 'queue' })
    world.completeAll(world.after(MINUTE))
    world.call<'pauseSchedule'>({ op: 'pauseSchedule', id: 's' })
    world.call<'pauseSchedule'>({ op: 'pauseSchedule', id: 's' })
    world.after(HOUR + 10)
    expect(world.ticks).toEqual([1])
    expect(world.upsert({ catchUp: 'all', overlap: 'queue', job: { priority: 1 } }).fireAt).toBe(0)
    world.call<'resumeSchedule'>({ op: 'resumeSchedule', id: 's' })
    world.call<'resumeSchedule'>({ op: 'resumeSchedule', id: 's' })
    expect(world.schedule().nextAt).toBe(world.begin + 62 * MINUTE)
    world.completeAll(world.after(MINUTE))
    expect(world.ticks).toEqual([1, 62])
  })

  test.each([
    ['pause', { op: 'pauseSchedule', id: 's' }],
    ['upsert', upserting({ paused: true })],
  ] as const)('a tick that is due in the turn of a pause does not fire: %s', (_by, command) => {
    const world = worked()
    world.upsert()
    world.upsert({ id: 'bystander' })
    world.pass(MINUTE)
    const { systemEvents, grants } = world.run(command)
    expect(systemEvents.filter(({ type }) => type === 'schedule.fired')).toMatchObject([{ schedule: 'bystander' }])
    expect(grants).toHaveLength(1)
    expect(world.schedule()).toMatchObject({ paused: true, fired: 0 })
    world.after(HOUR)
    expect(world.schedule().fired).toBe(0)
  })

  test('a trigger creates a job at once, beside the ticks; while a job is live, the trigger returns that job', () => {
    const world = worked()
    world.upsert()
    world.pass(10_000)
    const [first] = world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    expect(first).toMatchObject({ seq: 1, created: true })
    const [again] = world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    expect(again).toMatchObject({ seq: 1, created: false })
    expect(world.schedule()).toMatchObject({ nextAt: world.begin + MINUTE, fired: 1 })
    world.call<'upsertSchedule'>(upserting({ overlap: 'cancel' }))
    expect(world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })).toMatchObject([{ seq: 2, created: true }])
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    expect(world.refusal({ op: 'triggerSchedule', id: 's' })).toBe('DISK_FULL')
  })

  test('a trigger with a meta puts it over the meta of the schedule, for its own job alone', () => {
    const world = worked()
    world.upsert({ job: { meta: '{"of":"all","by":"clock"}' } })
    const meta = (seq: number) => JSON.parse(world.row({ seq }).extras?.meta ?? '')
    world.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's', meta: '{"by":"hand"}' })
    expect(meta(1)).toEqual({ schedule: { id: 's', at: expect.any(String) }, of: 'all', by: 'hand' })
    world.complete({ seq: 1 })
    world.after(MINUTE)
    expect(meta(2)).toMatchObject({ of: 'all', by: 'clock' })
    world.complete({ seq: 2 })
    for (const wrong of ['no JSON', `{"much":"${'x'.repeat(LIMITS.metaBytes - 100)}"}`])
      expect(world.refusal({ op: 'triggerSchedule', id: 's', meta: wrong })).toBe('INVALID_SCHEDULE')
    expect(world.store.rows.size).toBe(2)
  })

  test('deleting a schedule deletes its job if that has not started, and leaves a job that has', () => {
    const world = new Scheduled()
    world.upsert()
    world.after(MINUTE)
    world.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 's' })
    expect(world.store.rows.size).toBe(0)
    expect(world.run().events).toEqual([])
    world.attach('s', ['a'])
    world.upsert({ job: { maxAttempts: 3, backoff: { type: 'fixed', delay: HOUR } } })
    world.after(MINUTE)
    world.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 's' })
    expect(world.stateOf({ seq: 2 })).toBe('active')
    // Nor one that waits for its retry.
    world.upsert({ job: { maxAttempts: 3, backoff: { type: 'fixed', delay: HOUR } } })
    world.after(MINUTE)
    world.fail({ seq: 3 })
    world.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 's' })
    expect(world.stateOf({ seq: 3 })).toBe('scheduled')
    world.after(HOUR)
    expect(world.store.rows.size).toBe(2)
  })

  test('delete-instance-keeps-schedule: deleting or cancelling a due job never ends the chain', () => {
    for (const overlap of OVERLAPS) {
      const world = new Scheduled()
      world.upsert({ overlap })
      for (const op of ['delete', 'cancel', 'delete'] as const) {
        world.after(MINUTE)
        const { last } = world.schedule()
        world.run({ op, id: last as NonNullable<typeof last> })
      }
      world.after(MINUTE)
      expect(world.schedule().lastAt).toBe(world.begin + 4 * MINUTE)
    }
  })
})

test('the ticks of a schedule only grow, none fires twice, and the next one always comes, after any sequence of events', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('after' as const), ms: fc.integer({ min: 0, max: 5 * MINUTE }) }),
    fc.record({ kind: fc.constant('jump' as const), ms: fc.integer({ min: -10 * MINUTE, max: 10 * MINUTE }) }),
    fc.record({ kind: fc.constantFrom('reload' as const, 'complete', 'fail', 'pause', 'resume', 'upsert', 'cancel', 'trigger') }),
  )
  const spec = fc.record({
    overlap: fc.constantFrom(...OVERLAPS),
    catchUp: fc.constantFrom('latest' as const, 'none', 'all'),
    catchUpWithin: fc.constantFrom(undefined, 5 * MINUTE),
    jitter: fc.constantFrom(0, 1_000, 50_000),
    times: fc.constantFrom({ every: MINUTE }, { every: 90_001 }, { cron: '*/2 * * * *', timezone: 'UTC' }),
  })
  fc.assert(
    fc.property(spec, fc.array(step, { maxLength: 40 }), ({ times, overlap, catchUp, catchUpWithin, jitter }, steps) => {
      const world = worked()
      const beside = overlap === 'allow' ? overlap : ('queue' as const)
      const within = catchUp === 'none' || catchUpWithin === undefined ? {} : { catchUpWithin }
      const changes = { ...times, overlap: catchUp === 'all' ? beside : overlap, catchUp, jitter, ...within }
      world.upsert(changes)
      for (const each of steps) {
        const [running] = world.tables.running()
        const { last } = world.schedule()
        if (each.kind === 'after') world.after(each.ms)
        else if (each.kind === 'jump') {
          world.now = { ...world.now, wall: Math.max(world.begin, world.now.wall + each.ms) }
          world.run()
        } else if (each.kind === 'reload') {
          world.reload('s')
          world.attach(
            's',
            ['a'],
            {},
            world.tables.running().map(({ seq, run }) => ({ seq, run })),
          )
          world.run()
        } else if (each.kind === 'complete' && running !== undefined)
          world.run({ op: 'complete', seq: running.seq, run: running.run, output: null })
        else if (each.kind === 'fail' && running !== undefined)
          world.run({ op: 'fail', seq: running.seq, run: running.run, error: { name: 'E', message: '' }, retry: 500 })
        else if (each.kind === 'pause' || each.kind === 'resume') world.run({ op: `${each.kind}Schedule`, id: 's' })
        else if (each.kind === 'upsert') world.upsert(changes)
        else if (each.kind === 'cancel' && last !== undefined) world.run({ op: 'cancel', id: last })
      }
      const { ticks } = world
      expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b))
      world.run({ op: 'resumeSchedule', id: 's' })
      // In a healed world, the chain goes on.
      const { fired } = world.schedule()
      for (let minute = 0; minute < 30; minute++) {
        world.after(MINUTE)
        for (let running = world.tables.running(); running.length > 0; running = world.tables.running())
          for (const { seq, run } of running) world.run({ op: 'complete', seq, run, output: null })
      }
      expect(world.schedule().fired).toBeGreaterThan(fired + 2)
      expect(world.schedule().nextAt).toBeGreaterThan(world.now.wall - 2 * MINUTE)
    }),
    { numRuns: runs(150) },
  )
})

test('tables that are built again know the next tick', () => {
  const store = new MemoryStore()
  const world = new Scheduled({ store })
  world.upsert()
  world.reload()
  expect(world.tables.fireAt).toBe(world.begin + MINUTE)
})
