/** Tests the events of queues, schedules and workers: each change emits one in its turn, and nothing else does. */

import { describe, expect, test } from 'vitest'
import type { SessionIntro } from '../../commands.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { ScheduleSpec } from '../../schedule.ts'
import { useSmallLimits } from '../../testing/smallLimits.ts'
import { attaching, enqueueing, World } from '../../testing/world.ts'
import { awaited, dismiss } from '../records/workerRegistry.ts'

useSmallLimits()

const MINUTE = 60_000

function systemEventsOf(world: World, ...commands: readonly Command[]): string[] {
  return world
    .run(...commands)
    .systemEvents.map(({ type, ...rest }) => [type, ...Object.values(rest).filter((of) => typeof of === 'string')].join(' '))
}

describe('the events of queues', () => {
  const configure = (changes: object) => ({ op: 'configure', queue: 'q', changes }) as const
  const pause = (paused: boolean, of: object = {}) => ({ op: 'pause', queue: 'q', paused, ...of }) as const

  test('the event `configured` is emitted when a setting changes its value, and not when it is set to the same value', () => {
    const world = new World()
    const rateLimit = { limit: 1, period: 1_000, burst: 2 }
    expect(systemEventsOf(world, configure({ maxLength: 5, rateLimit }))).toEqual(['queue.configured q'])
    expect(systemEventsOf(world, configure({ rateLimit: { burst: 2, period: 1_000, limit: 1 }, maxLength: 5 }))).toEqual([])
    expect(systemEventsOf(world, configure({}), configure({ share: null }))).toEqual([])
    expect(systemEventsOf(world, configure({ maxLength: null }), configure({ maxLength: 5 }))).toEqual([
      'queue.configured q',
      'queue.configured q',
    ])
    expect(systemEventsOf(world, configure({ perKeyLimit: 3, keyOrder: 'strict' }))).toEqual([])
  })

  test('the events `paused` and `resumed` are emitted once for each queue, job name and key', () => {
    const world = new World()
    for (const [of, said] of [
      [{}, 'q'],
      [{ job: 'a' }, 'q a'],
      [{ key: 'k' }, 'q k'],
    ] as const) {
      expect(systemEventsOf(world, pause(false, of))).toEqual([])
      expect(systemEventsOf(world, pause(true, of), pause(true, of))).toEqual([`queue.paused ${said}`])
      world.reload()
      expect(systemEventsOf(world, pause(true, of))).toEqual([])
      expect(systemEventsOf(world, pause(false, of), pause(false, of))).toEqual([`queue.resumed ${said}`])
    }
    expect(systemEventsOf(world, pause(true, { job: 'a', key: 'k' }))).toEqual(['queue.paused q k', 'queue.paused q a'])
    expect(world.run(pause(false, { job: 'a' })).systemEvents).toEqual([{ type: 'queue.resumed', queue: 'q', name: 'a' }])
    expect(world.run(pause(false, { key: 'k' })).systemEvents).toEqual([{ type: 'queue.resumed', queue: 'q', key: 'k' }])
  })

  test('the event `drained` follows `draining` at once if no job is left, and else with the end of the last job, also after a retry', () => {
    const world = new World()
    const drain = { op: 'drainQueue', queue: 'q' } as const
    expect(systemEventsOf(world, drain, drain)).toEqual(['queue.draining q', 'queue.drained q'])
    expect(systemEventsOf(world, drain)).toEqual([])
    expect(systemEventsOf(world, pause(false))).toEqual(['queue.resumed q'])
    world.attach('s', ['a'])
    const [one, two] = world.run(enqueueing({ name: 'a', queue: 'q', maxAttempts: 1 }, { name: 'a', queue: 'q' })).grants
    expect(systemEventsOf(world, drain)).toEqual(['queue.draining q'])
    const end = ({ seq = 0, run = 0 } = {}) => ({ op: 'fail', seq, run, error: { name: 'E', message: 'm' }, retry: false }) as const
    expect(systemEventsOf(world, end(one))).toEqual([])
    world.failCommit('s')
    expect(systemEventsOf(world, end(two))).toEqual(['queue.drained q'])
    world.reload('s')
    expect(systemEventsOf(world)).toEqual([])
    // A retry by hand is no new job.
    expect(systemEventsOf(world, { op: 'retry', id: { seq: one?.seq ?? 0, node: world.store.node, enqueuedAt: world.now.wall } })).toEqual(
      [],
    )
    const [again] = world.run(attaching('t', ['a'])).grants
    expect(systemEventsOf(world, end(again))).toEqual(['queue.drained q'])
    expect(systemEventsOf(world, pause(true), pause(false))).toEqual(['queue.paused q', 'queue.resumed q'])
    expect(systemEventsOf(world, drain)).toEqual(['queue.draining q', 'queue.drained q'])
  })

  test('the event `drained` is emitted when the last job of a queue expires in the dispatch of the same turn', () => {
    const world = new World()
    world.enqueue('a', { queue: 'q', ttl: 10 })
    world.run({ op: 'drainQueue', queue: 'q' })
    world.pass(10)
    expect(systemEventsOf(world, attaching('s', ['a']))).toContain('queue.drained q')
  })

  test('the event `deleted` is emitted for an empty queue, and not for one that does not exist or has jobs', () => {
    const world = new World()
    const forget = { op: 'deleteQueue', queue: 'q' } as const
    expect(systemEventsOf(world, forget)).toEqual([])
    expect(systemEventsOf(world, pause(true), forget, pause(true))).toEqual(['queue.paused q', 'queue.deleted q', 'queue.paused q'])
    world.enqueue('a', { queue: 'q' })
    expect(systemEventsOf(world, forget)).toEqual([])
  })
})

describe('the events of schedules', () => {
  const spec: ScheduleSpec = { every: MINUTE, jitter: 0, overlap: 'skip', catchUp: 'latest' }
  const upsert = (changes: Partial<ScheduleSpec> = {}, more: object = {}) =>
    ({
      op: 'upsertSchedule',
      id: 's',
      spec: { ...spec, ...changes },
      job: { name: 'a', data: '1' },
      runImmediately: false,
      ...more,
    }) as const
  const of = (op: 'pauseSchedule' | 'resumeSchedule' | 'triggerSchedule' | 'deleteSchedule') => ({ op, id: 's' }) as const

  test('the event `upserted` is emitted for a new or changed schedule, and not for one with equal data', () => {
    const world = new World()
    expect(systemEventsOf(world, upsert())).toEqual(['schedule.upserted s'])
    expect(systemEventsOf(world, upsert(), upsert({}, { job: { data: '1', name: 'a' } }))).toEqual([])
    expect(systemEventsOf(world, upsert({ every: 2 * MINUTE }))).toEqual(['schedule.upserted s'])
    const bytes = (...data: number[]) => upsert({ every: 2 * MINUTE }, { job: { name: 'a', data: Uint8Array.from(data) } })
    expect(systemEventsOf(world, bytes(1, 2), bytes(1, 2), bytes(1, 3))).toEqual(['schedule.upserted s', 'schedule.upserted s'])
  })

  test('the events `fired`, `triggered` and `skipped` have the job, or the tick and the reason, and come after the event of the job', () => {
    const world = new World()
    world.run(upsert())
    const begin = world.now.wall
    expect(world.after(MINUTE).systemEvents).toEqual([
      { type: 'schedule.fired', schedule: 's', tick: begin + MINUTE, job: { seq: 1, node: world.store.node, enqueuedAt: world.now.wall } },
    ])
    expect(world.store.history.map(({ type }) => type).slice(-2)).toEqual(['enqueued', 'schedule.fired'])
    expect(world.after(MINUTE).systemEvents).toEqual([
      { type: 'schedule.skipped', schedule: 's', tick: begin + 2 * MINUTE, reason: 'overlap' },
    ])
    // The one that waits is answered instead.
    expect(systemEventsOf(world, of('triggerSchedule'))).toEqual([])
    world.delete({ seq: 1 })
    expect(world.run(of('triggerSchedule')).systemEvents).toMatchObject([{ type: 'schedule.triggered', schedule: 's', job: { seq: 2 } }])
    world.run({ op: 'delete', id: { seq: 2, node: world.store.node, enqueuedAt: world.now.wall } }, { op: 'drainQueue', queue: 'default' })
    expect(world.after(MINUTE).systemEvents).toMatchObject([{ type: 'schedule.skipped', reason: 'draining' }])
    world.run({ op: 'pause', queue: 'default', paused: false }, upsert({ every: 60 * MINUTE, catchUp: 'none' }))
    world.pass(60 * MINUTE + LIMITS.tickGraceMs + 1)
    expect(world.run().systemEvents).toMatchObject([{ type: 'schedule.skipped', reason: 'late' }])
  })

  test('a schedule with a job at once emits `upserted`, then `fired`', () => {
    const world = new World()
    expect(systemEventsOf(world, upsert({}, { runImmediately: true }))).toEqual(['schedule.upserted s', 'schedule.fired s'])
  })

  test('the events `paused`, `resumed` and `deleted` are emitted once, and not for a schedule that does not exist', () => {
    const world = new World()
    for (const op of ['pauseSchedule', 'resumeSchedule', 'deleteSchedule'] as const) expect(systemEventsOf(world, of(op))).toEqual([])
    world.run(upsert())
    expect(systemEventsOf(world, of('resumeSchedule'))).toEqual([])
    expect(systemEventsOf(world, of('pauseSchedule'), of('pauseSchedule'))).toEqual(['schedule.paused s'])
    expect(systemEventsOf(world, of('resumeSchedule'), of('resumeSchedule'))).toEqual(['schedule.resumed s'])
    expect(systemEventsOf(world, of('deleteSchedule'), of('deleteSchedule'))).toEqual(['schedule.deleted s'])
  })

  test('the event `ended` is emitted once, with the last tick of a schedule or if it has no tick at all', () => {
    const world = new World()
    const endAt = world.now.wall + MINUTE
    world.run(upsert({ endAt }))
    expect(world.after(MINUTE).systemEvents.map(({ type }) => type)).toEqual(['schedule.fired', 'schedule.ended'])
    expect(systemEventsOf(world, upsert({ endAt }), upsert({ endAt, overlap: 'cancel' }))).toEqual(['schedule.upserted s'])
    expect(systemEventsOf(world, upsert())).toEqual(['schedule.upserted s'])
    expect(systemEventsOf(world, upsert({ endAt }))).toEqual(['schedule.upserted s', 'schedule.ended s'])
    expect(systemEventsOf(world, of('deleteSchedule'), upsert({ endAt }))).toEqual([
      'schedule.deleted s',
      'schedule.upserted s',
      'schedule.ended s',
    ])
  })
})

describe('the events of workers', () => {
  const attach = (uuid: string, intro: Partial<SessionIntro> = {}) => attaching(uuid, ['a'], { worker: 'w', ...intro })
  const leave = (session: string) => ({ op: 'leave', session }) as const
  const drain = (session: string) => ({ op: 'drain', session }) as const

  test('the events `attached`, `draining` and `left` are emitted once for a session, however often the command is sent', () => {
    const world = new World()
    expect(world.run(attach('s')).systemEvents).toEqual([{ type: 'worker.attached', worker: 'w', session: '1' }])
    expect(systemEventsOf(world, attach('s'), drain('s'), drain('s'), attach('s'), drain('s'))).toEqual(['worker.draining w 1'])
    expect(systemEventsOf(world, leave('s'), leave('s'), drain('s'))).toEqual(['worker.left w 1'])
    expect(systemEventsOf(world, attach('s'))).toEqual(['worker.attached w 2'])
    expect(systemEventsOf(world, leave('nobody'), drain('nobody'))).toEqual([])
  })

  test.each([true, false])('a session that comes back after a restart emits no event (local: %s)', (local) => {
    const world = new World()
    world.run(attach('s', { local }), drain('s'))
    world.reload('s')
    expect(systemEventsOf(world)).toEqual([])
    expect(systemEventsOf(world, attach('s', { local }), drain('s'))).toEqual([])
    expect([...world.store.sessions.keys()]).toEqual([1])
    world.reload('s')
    expect(systemEventsOf(world, leave('s'))).toEqual(['worker.left w 1'])
  })

  test('the event `lost` is emitted at once for a session of a process that is gone, and at the end of its lease for any other, with jobs or without', () => {
    const world = new World()
    world.run(attach('here'), attach('there', { local: false }), attach('busy', { local: false, minConcurrency: 1, maxConcurrency: 1 }))
    world.enqueue('a')
    world.reload()
    expect(systemEventsOf(world)).toEqual(['worker.lost w 1'])
    expect(world.after(LIMITS.leaseMs - 1).systemEvents).toEqual([])
    expect(world.after(1).systemEvents.map((event) => ('session' in event ? event.session : ''))).toEqual(
      expect.arrayContaining(['2', '3']),
    )
    expect(systemEventsOf(world, attach('there', { local: false }))).toEqual(['worker.attached w 4'])
    world.reload()
    expect(systemEventsOf(world)).toEqual([])
  })

  test('a local session that does not attach after a reload is lost at the end of its grace', () => {
    const world = new World()
    world.run(attach('s'))
    world.reload('s')
    expect(world.after(LIMITS.reattachGraceMs - 1).systemEvents).toEqual([])
    expect(world.after(1).systemEvents).toMatchObject([{ type: 'worker.lost', session: '1' }])
    expect(world.after(LIMITS.leaseMs).systemEvents).toEqual([])
  })

  test('a session that has yet to attach is awaited through the next reload too', () => {
    const world = new World()
    world.run(attach('s'), attach('far', { local: false }))
    expect(awaited(world.tables)).toEqual([])
    world.reload('s')
    expect(awaited(world.tables)).toEqual(['s'])
    world.reload(...awaited(world.tables))
    expect(systemEventsOf(world)).toEqual([])
    dismiss(world.tables, 's')
    expect(awaited(world.tables)).toEqual([])
    expect(systemEventsOf(world)).toEqual(['worker.lost w 1'])
  })

  test('a session whose process becomes the own process of the engine stays the same session', () => {
    const world = new World()
    world.run(attach('s', { local: false }))
    world.reload()
    expect(systemEventsOf(world, attach('s'))).toEqual([])
    expect([...world.store.sessions.values()]).toMatchObject([{ uuid: 's', remote: false, presence: 'here' }])
    world.reload()
    expect(systemEventsOf(world)).toEqual(['worker.lost w 1'])
  })
})

test('a turn stores events of jobs, queues and workers in one order', () => {
  const world = new World()
  world.run(attaching('s', ['a']), enqueueing({ name: 'a' }), { op: 'configure', queue: 'q', changes: { maxLength: 1 } })
  expect(world.store.history.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'worker.attached'],
    [2, 'enqueued'],
    [3, 'queue.configured'],
    [4, 'started'],
  ])
})
