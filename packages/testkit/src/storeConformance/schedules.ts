/** Tests how schedules are written and read: whole, as their times move, and by pages. Part of the suite. */
import type { NewJob, ScheduleSpec } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { plain } from './image.ts'
import { standBy } from './standBy.ts'
import type { StoreTurns } from './storeTurns.ts'

const EVERY: ScheduleSpec = { every: 1_000, jitter: 0, overlap: 'skip', catchUp: 'latest' }

function put(turns: StoreTurns, id: string, job: Partial<NewJob> = {}, spec: ScheduleSpec = EVERY): void {
  turns.call<'upsertSchedule'>({ op: 'upsertSchedule', id, spec, job: { name: 'a', data: null, ...job }, runImmediately: false })
}

export function schedulesConformance(under: () => StoreTurns): void {
  describe('a schedule', () => {
    test('comes back as it was put, changed where it was put again, and not where it was deleted', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      put(turns, 'by')
      const bystander = turns.store.schedules(['by'])
      const job = { name: 'b', data: new Uint8Array([0, 255]), timeout: Number.POSITIVE_INFINITY, tags: ['t'], priority: 2 }
      put(turns, 's', job, { ...EVERY, overlap: 'queue', endAt: turns.now.wall + 1e9 })
      const { wall } = turns.now
      const [stored] = turns.store.schedules(['s'])
      expect(plain(stored)).toMatchObject(
        plain({
          id: 's',
          job,
          spec: { ...EVERY, overlap: 'queue', endAt: wall + 1e9 },
          paused: false,
          held: false,
          fired: 0,
          createdAt: wall,
          updatedAt: wall,
        }),
      )
      turns.pass(5)
      put(turns, 's', { name: 'c' })
      expect(turns.store.schedules(['s'])).toMatchObject([{ job: { name: 'c', data: null }, createdAt: wall, updatedAt: turns.now.wall }])
      expect(turns.store.schedules(['s'])[0]?.job.timeout).toBeUndefined()
      turns.run({ op: 'deleteSchedule', id: 's' })
      expect(turns.store.schedules(['s', 'by'])).toEqual(bystander)
      assertBystanders()
    })

    test('was deleted and created again within a turn', () => {
      const turns = under()
      put(turns, 's', { name: 'a' })
      const upsert = { op: 'upsertSchedule' as const, id: 's', spec: EVERY, job: { name: 'b', data: null }, runImmediately: false }
      turns.pass(7)
      turns.run({ op: 'deleteSchedule', id: 's' }, upsert)
      expect(turns.store.schedules(['s'])).toMatchObject([{ job: { name: 'b' }, createdAt: turns.now.wall }])
      turns.run(upsert, { op: 'deleteSchedule', id: 's' })
      expect(turns.store.schedules(['s'])).toEqual([])
    })

    test('moves with each tick, and names the job of the last one', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      put(turns, 's', { data: '"d"' })
      put(turns, 'by', {}, { ...EVERY, every: 1e8 })
      const bystander = turns.store.schedules(['by'])
      const { fireAt } = turns.store.deadlines()
      expect(turns.store.dueSchedules(fireAt - 1, 9)).toEqual([])
      expect(turns.store.dueSchedules(fireAt, 9)).toEqual(turns.store.schedules(['s']))
      turns.after(fireAt - turns.now.wall)
      const [job] = turns.rows().filter(({ laneId }) => laneId === turns.lane('a').id)
      expect(turns.store.schedules(['s'])).toMatchObject([{ fired: 1, lastAt: fireAt, last: { seq: job?.seq }, job: { data: '"d"' } }])
      expect(turns.store.deadlines().fireAt).toBe(fireAt + 1_000)
      expect(turns.store.schedules(['by'])).toEqual(bystander)
      assertBystanders()
    })

    test('fires neither while it is paused nor while it waits for a job to end', () => {
      const turns = under()
      put(turns, 'paused')
      turns.run({ op: 'pauseSchedule', id: 'paused' })
      expect([turns.store.deadlines().fireAt, turns.store.dueSchedules(1e15, 9)]).toEqual([0, []])
      put(turns, 'queued', {}, { ...EVERY, overlap: 'queue' })
      turns.after(turns.store.deadlines().fireAt - turns.now.wall)
      turns.after(1_000)
      const [queued] = turns.store.schedules(['queued'])
      expect(queued).toMatchObject({ held: true, fired: 1 })
      expect([turns.store.dueSchedules(1e15, 9), turns.store.load().freed]).toEqual([[], []])
      turns.run({ op: 'resumeSchedule', id: 'paused' })
      expect(turns.store.dueSchedules(1e15, 9).map(({ id }) => id)).toEqual(['paused'])
    })
  })

  test('schedules that are due come the earliest first, up to a limit', () => {
    const turns = under()
    for (const every of [3_000, 1_000, 2_000]) put(turns, `s${every}`, {}, { ...EVERY, every })
    const due = (limit: number) => turns.store.dueSchedules(1e15, limit).map(({ id }) => id)
    const byTime = turns.store
      .schedulePage('', undefined, 9)
      .toSorted((a, b) => a.fireAt - b.fireAt)
      .map(({ fireAt }) => fireAt)
    expect(turns.store.dueSchedules(1e15, 9).map(({ fireAt }) => fireAt)).toEqual(byTime)
    expect([due(2).length, due(0).length]).toEqual([2, 0])
  })

  test('pages go by the order of ids, behind one, of a prefix, and without payloads', () => {
    const turns = under()
    for (const id of ['b/2', 'a', 'b/1', 'b', 'B', 'b_1', 'c']) put(turns, id, { data: '"d"' })
    const page = (prefix: string, after: string | undefined, limit: number) => turns.store.schedulePage(prefix, after, limit)
    const ids = (...args: Parameters<typeof page>) => page(...args).map(({ id }) => id)
    expect(ids('', undefined, 99)).toEqual(['B', 'a', 'b', 'b/1', 'b/2', 'b_1', 'c'])
    expect(ids('b', undefined, 99)).toEqual(['b', 'b/1', 'b/2', 'b_1'])
    expect(ids('b/', 'b/1', 99)).toEqual(['b/2'])
    expect(ids('', 'b', 2)).toEqual(['b/1', 'b/2'])
    expect(ids('z', undefined, 9)).toEqual([])
    expect(page('', undefined, 9).map(({ job }) => job.data)).toEqual(Array(7).fill(null))
    expect(turns.store.schedules(['c', 'none', 'a']).map(({ id, job }) => [id, job.data])).toEqual([
      ['c', '"d"'],
      ['a', '"d"'],
    ])
  })
}
