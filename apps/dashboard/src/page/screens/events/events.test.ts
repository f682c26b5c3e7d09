import type { EventAnswer } from '@millrace/http'
import { describe, expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../../../../packages/core/src/events.ts'
import { TYPES } from '../../live/eventTypes.ts'
import { beginningOf, filterOf, urlOf } from './filter.ts'
import { KEPT, rowOf, withEvents } from './rows.ts'

const AT = '2026-11-26T03:20:41.000Z'
const ID = '01a20941-7c60-7000-8000-01275d5b9b95'
const jobEvent = (seq: number, change: object = {}) =>
  ({ seq, type: 'completed', jobId: ID, queue: 'mail', name: 'send', at: AT, run: 1, attempt: 1, ...change }) as EventAnswer

test('every type of an event is offered once', () => {
  expect(TYPES.toSorted()).toEqual([...EVENT_TYPES].toSorted())
})

describe('the list', () => {
  test('has the newest first, at most 500, and none twice', () => {
    const first = withEvents([], [jobEvent(1), jobEvent(2)])
    const second = withEvents(first, [jobEvent(2), jobEvent(3)])
    expect(second.map(({ seq }) => seq)).toEqual([3, 2, 1])
    expect(second.slice(1)).toEqual(first)
    const many = Array.from({ length: 1_200 }, (_, index) => jobEvent(10 + index))
    const full = withEvents(second, many)
    expect([full.length, full[0]?.seq, full.at(-1)?.seq]).toEqual([KEPT, 1_209, 710])
  })

  test('keeps rows that were there: they are not drawn again', () => {
    const first = withEvents([], [jobEvent(1)])
    expect(withEvents(first, [jobEvent(2)])[1]).toBe(first[0])
  })
})

describe('a row', () => {
  test('of a job leads to it, and shows the error and the attempt', () => {
    expect(rowOf(jobEvent(4, { type: 'failed', error: 'SmtpError', attempt: 3 }))).toMatchObject({
      ...{ type: 'failed', what: 'send', link: `/jobs/${ID}`, queue: 'mail', tone: 's-failed', detail: 'SmtpError · attempt 3' },
    })
    expect(rowOf(jobEvent(5, { type: 'progress', progress: 0.256 })).detail).toBe('26 %')
    expect(rowOf(jobEvent(6)).detail).toBeUndefined()
  })

  test.each<[object, object]>([
    [
      { type: 'queue.paused', queue: 'mail', name: 'send' },
      { what: 'mail', link: '/queues/mail', detail: 'jobs named send' },
    ],
    [
      { type: 'queue.paused', queue: 'mail', key: 'eu' },
      { what: 'mail', detail: 'jobs with the key eu' },
    ],
    [
      { type: 'schedule.fired', schedule: 'nightly', jobId: ID },
      { what: 'nightly', jobId: ID, link: '/schedules?schedule=nightly' },
    ],
    [
      { type: 'schedule.skipped', schedule: 'nightly', reason: 'overlap' },
      { detail: 'overlap', tone: 's-warn' },
    ],
    [
      { type: 'worker.lost', worker: 'w-1', session: 's' },
      { what: 'w-1', link: '/workers?worker=w-1', tone: 's-warn' },
    ],
    [{ type: 'engine.paused' }, { what: 'all queues', link: '/queues' }],
  ])('of %j', (event, row) => {
    expect(rowOf({ seq: 9, at: AT, ...event } as EventAnswer)).toMatchObject({ seq: 9, at: AT, ...row })
  })

  test('of a gap says that events are missing, and the next event comes behind it', () => {
    const rows = withEvents([], [{ type: 'gap', after: 3, resumesAt: 90 }, jobEvent(90)])
    expect(rows.map(({ type }) => type)).toEqual(['completed', 'gap'])
  })
})

describe('the filter', () => {
  test('is what the address says; an unknown type is none', () => {
    expect(filterOf({ type: 'failed', queue: ' mail ', name: '', job: ID })).toEqual({
      types: 'failed',
      queue: 'mail',
      name: undefined,
      jobId: ID,
    })
    expect(filterOf({ type: 'nonsense' }).types).toBeUndefined()
  })

  test('begins a little before now, further back if few events match', () => {
    const all = filterOf({})
    expect([beginningOf(all, 1_000), beginningOf(all, 50), beginningOf(all, undefined)]).toEqual([800, 0, 'now'])
    expect(beginningOf(filterOf({ queue: 'mail' }), 5_000)).toBe(3_000)
  })

  test('is applied by the server', () => {
    expect(urlOf(filterOf({ type: 'failed', queue: 'a b&c' }), 7)).toBe('/v1/events?after=7&types=failed&queue=a+b%26c')
    expect(urlOf(filterOf({}), 'now')).toBe('/v1/events?after=now')
  })
})
