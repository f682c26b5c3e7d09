/**
 * Tests schedules, the same through every Port: part of the conformance suite. The Ports' clocks are not the test's, so it sends
 * ticks itself.
 */
import { type CommandOf, type JobKey, LIMITS, type NewJob, type ScheduleSpec, type ScheduleView } from '@millrace/core'
import { expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

const PLAIN = { jitter: 0, overlap: 'skip', catchUp: 'latest' } as const
const HOURLY: ScheduleSpec = { every: 3_600_000, ...PLAIN }

function upserting(
  id: string,
  spec: ScheduleSpec = HOURLY,
  job: Partial<NewJob> = {},
  runImmediately = false,
): CommandOf<'upsertSchedule'> {
  return { op: 'upsertSchedule', id, spec, job: { name: 'a', data: '{"n":1}', ...job }, runImmediately }
}

export function scheduleConformance(under: () => Probe): void {
  const get = (id: string, times = 0) => under().call<'getSchedule'>({ op: 'getSchedule', id, times })

  test('E13: a schedule is created, told, and changed; unchanged it keeps its next tick', async () => {
    const probe = under()
    const spec: ScheduleSpec = { cron: '30 2 * * *', timezone: 'Europe/Berlin', ...PLAIN, jitter: 600_000, overlap: 'queue' }
    const job = { name: 'report', data: '{"a":[1]}', queue: 'q', timeout: Number.POSITIVE_INFINITY, tags: ['t'], meta: '{"m":1}' }
    const { created, fireAt } = await probe.call<'upsertSchedule'>(upserting('reports/daily', spec, job))
    expect(created).toBe(true)
    const view = await get('reports/daily', 3)
    expect(view).toMatchObject({
      id: 'reports/daily',
      spec,
      job,
      paused: false,
      fireAt,
      lastAt: 0,
      fired: 0,
      skipped: 0,
      last: null,
      result: null,
    })
    expect(view?.times).toHaveLength(3)
    expect(view?.times[0]).toBe(fireAt)
    const again = await probe.call<'upsertSchedule'>(upserting('reports/daily', spec, { ...job, data: '{"a":[2]}' }))
    expect(again).toEqual({ created: false, fireAt })
    expect(await get('reports/daily')).toMatchObject({ job: { data: '{"a":[2]}' }, times: [] })
    expect(await get('reports')).toBeNull()
  })

  test('an upsert that updates the waiting job says how many it has changed', async () => {
    const probe = under()
    await probe.call<'upsertSchedule'>(upserting('s', HOURLY, {}, true))
    const { last } = (await get('s')) as ScheduleView
    const plain = await probe.call<'upsertSchedule'>(upserting('s', HOURLY, { data: '{"n":2}' }))
    expect(plain).not.toHaveProperty('waitingUpdated')
    const changed = { ...upserting('s', HOURLY, { data: '{"n":3}', priority: 4 }), updateWaiting: true }
    expect(await probe.call<'upsertSchedule'>(changed)).toMatchObject({ created: false, waitingUpdated: 1 })
    expect(await probe.call<'upsertSchedule'>(changed)).toMatchObject({ created: false, waitingUpdated: 0 })
    expect(await probe.call<'get'>({ op: 'get', id: last as JobKey })).toMatchObject({ data: '{"n":3}', priority: 4, state: 'waiting' })
  })

  test('E13: its job comes at once where that is asked for, and says where it is from', async () => {
    const probe = under()
    await probe.attach(['a'])
    await probe.call<'upsertSchedule'>(upserting('s', HOURLY, { data: new Uint8Array([0, 255]) }, true))
    const grant = await probe.grants.take()
    expect(grant.data).toEqual(new Uint8Array([0, 255]))
    expect(grant.tags).toEqual(['schedule:s'])
    const at = new Date((await get('s'))?.lastAt as number).toISOString()
    expect(JSON.parse(grant.meta as string)).toEqual({ schedule: { id: 's', at } })
    const { seq, node, enqueuedAt } = grant
    expect(await get('s')).toMatchObject({ fired: 1, last: { seq, node, enqueuedAt }, result: { state: 'active', output: null } })
    // One is live, so the call returns it.
    expect(await probe.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })).toEqual([{ seq, node, enqueuedAt, created: false }])
    await probe.call<'complete'>({ op: 'complete', seq, run: grant.run, output: '"done"' })
    expect((await get('s'))?.result).toEqual({ state: 'completed', output: '"done"', error: null })
    const [triggered] = await probe.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
    expect(triggered).toMatchObject({ created: true })
    const second = await probe.grants.take()
    await probe.call<'fail'>({ op: 'fail', seq: second.seq, run: second.run, error: { name: 'E', message: 'm' }, retry: false })
    expect((await get('s'))?.result).toMatchObject({ state: 'failed', error: { name: 'E', message: 'm' } })
    await probe.call<'upsertSchedule'>(upserting('never'))
    const page = await probe.call<'listSchedules'>({ op: 'listSchedules', prefix: '', limit: 10 })
    expect(page.schedules.map(({ id, result }) => [id, result])).toEqual([
      ['never', null],
      ['s', { state: 'failed', output: null, error: { name: 'E', message: 'm' } }],
    ])
  })

  test('E13: an interval counts from its startAt, gone by or to come', async () => {
    const probe = under()
    const { fireAt } = await probe.call<'upsertSchedule'>(upserting('s'))
    const startAt = fireAt - 5_400_000
    expect(await probe.call<'upsertSchedule'>(upserting('s', { ...HOURLY, startAt }))).toEqual({
      created: false,
      fireAt: startAt + 3_600_000,
    })
    const later = { ...HOURLY, startAt: fireAt + 1, endAt: fireAt + 3_600_000 }
    expect(await probe.call<'upsertSchedule'>(upserting('s', later))).toEqual({ created: false, fireAt: fireAt + 1 })
    expect((await get('s', 5))?.times).toEqual([fireAt + 1])
  })

  test('E13: paused it has no next time, resumed it has', async () => {
    const probe = under()
    const { fireAt } = await probe.call<'upsertSchedule'>(upserting('s'))
    await probe.call<'pauseSchedule'>({ op: 'pauseSchedule', id: 's' })
    expect(await get('s', 2)).toMatchObject({ paused: true, fireAt: 0, times: [] })
    await probe.call<'resumeSchedule'>({ op: 'resumeSchedule', id: 's' })
    expect(await get('s', 2)).toMatchObject({ paused: false, fireAt, times: [fireAt, fireAt + 3_600_000] })
  })

  test('E13: listed by prefix, page by page, in order; deleted, with the job that has not started', async () => {
    const probe = under()
    await probe.callAll(['b/2', 'b/1', 'a', 'c', 'b/3'].map((id) => upserting(id, HOURLY, {}, id === 'b/1')))
    const list = async (prefix: string, limit: number, after?: string) => {
      const page = await probe.call<'listSchedules'>({ op: 'listSchedules', prefix, limit, ...(after !== undefined && { after }) })
      return [page.schedules.map(({ id }) => id), page.next]
    }
    expect(await list('b/', 2)).toEqual([['b/1', 'b/2'], 'b/2'])
    expect(await list('b/', 2, 'b/2')).toEqual([['b/3'], null])
    expect(await list('', 50)).toEqual([['a', 'b/1', 'b/2', 'b/3', 'c'], null])
    await probe.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 'b/1' })
    expect(await list('b/', 50)).toEqual([['b/2', 'b/3'], null])
    expect((await probe.call<'stats'>({ op: 'stats' })).states).toMatchObject({ waiting: 0, cancelled: 0 })
  })

  test('E13: what is not as the caller expects is refused, and a new one may be paused', async () => {
    const probe = under()
    const replies = await probe.settle([
      { ...upserting('s'), updatedAt: 1 },
      { ...upserting('s'), absent: true, paused: true },
      { ...upserting('s'), absent: true },
      { ...upserting('s'), updatedAt: 1 },
    ])
    expect(replies.map((reply) => reply.refusal?.code)).toEqual(['SCHEDULE_NOT_FOUND', undefined, 'SCHEDULE_EXISTS', 'SCHEDULE_CHANGED'])
    const { updatedAt, paused } = (await get('s')) as ScheduleView
    expect(paused).toBe(true)
    expect(await probe.call<'upsertSchedule'>({ ...upserting('s'), paused: false, updatedAt })).toMatchObject({ created: false })
    expect(await get('s')).toMatchObject({ paused: false, updatedAt })
  })

  test('E13: what is not there, or cannot be, is refused', async () => {
    const probe = under()
    const replies = await probe.settle([
      { op: 'deleteSchedule', id: 'none' },
      { op: 'pauseSchedule', id: 'none' },
      { op: 'resumeSchedule', id: 'none' },
      { op: 'triggerSchedule', id: 'none' },
      upserting('s', { cron: 'nonsense', ...PLAIN }),
      upserting('s', { cron: '0 0 * * *', timezone: 'No/Where', ...PLAIN }),
      upserting('s', { cron: '0 0 30 2 *', ...PLAIN }),
      upserting('s', { cron: '0 0 * * *', every: LIMITS.everyMs, ...PLAIN }),
      upserting('s', PLAIN),
      upserting('s', HOURLY, { delay: 5 }),
    ])
    const refused = [...Array(4).fill('SCHEDULE_NOT_FOUND'), ...Array(6).fill('INVALID_SCHEDULE')]
    expect(replies.map((reply) => reply.refusal?.code)).toEqual(refused)
    expect(await get('s')).toBeNull()
  })
}
