import { describe, expect, test } from 'vitest'
import { attemptsOf } from '../../job/attempts.ts'
import { shownState } from '../../job/state.ts'
import { before, jobOf, NOW, queueStats, statsOf } from '../../testing/inputs.ts'
import { bulksOf } from './bulks.ts'
import { columnsOf, dataOf, timeOf, tookMs } from './cells.ts'
import { bulkFilterOf, faultyTime, filterOf, listQuery } from './filter.ts'
import { parseQuery } from './query.ts'
import { isEmpty, isSelected, NOTHING_SELECTED, rangeTo, type Selection, toggled } from './selection.ts'
import { countsOf, tabOf } from './tabs.ts'
import { whenOf } from './when.ts'

test('a scheduled job that has failed before is retrying', () => {
  expect(shownState(jobOf({ state: 'scheduled' }))).toBe('scheduled')
  expect(shownState(jobOf({ state: 'scheduled', attempt: 1 }))).toBe('retrying')
  expect(shownState(jobOf({ state: 'failed', attempt: 1 }))).toBe('failed')
})

test('the time of a row is what matters in its state', () => {
  const times = { enqueuedAt: before(5), runAt: before(4), startedAt: before(3), finishedAt: before(2) }
  expect(timeOf(jobOf({ ...times, state: 'failed' }))).toEqual({ at: before(2), kind: 'ended' })
  expect(timeOf(jobOf({ ...times, state: 'active' }))).toEqual({ at: before(3), kind: 'started' })
  expect(timeOf(jobOf({ ...times, state: 'scheduled' }))).toEqual({ at: before(4), kind: 'due' })
  expect(timeOf(jobOf({ state: 'blocked', enqueuedAt: before(5), runAt: before(4) }))).toEqual({ at: before(5), kind: 'enqueued' })
})

test('a run takes the time between its start and its end, or until now', () => {
  const run = { run: 1, worker: 'w', startedAt: before(1_000) }
  expect(tookMs(jobOf({ lastRun: { ...run, endedAt: before(400) } }), NOW)).toBe(600)
  expect(tookMs(jobOf({ state: 'active', lastRun: run }), NOW)).toBe(1_000)
  expect(tookMs(jobOf({ state: 'waiting', lastRun: run }), NOW)).toBeUndefined()
  expect(tookMs(jobOf(), NOW)).toBeUndefined()
})

test('attempts are of the most that there are', () => {
  expect(attemptsOf(jobOf({ attempt: 2 }))).toEqual([2, 3])
  expect(attemptsOf(jobOf())).toBeUndefined()
})

test('data is its first values; bytes and other text are as they are', () => {
  const preview = (text: string, more = {}) => dataOf(jobOf({ preview: { data: { bytes: 9, text, ...more } } }))
  expect(preview('{"tenant":"acme","user":{"id":7}}')?.pairs).toMatchObject([{ name: 'tenant' }, { name: 'user.id', value: '7' }])
  expect(preview('{"a":1,"b":"cu', { cut: true })?.pairs).toMatchObject([{ name: 'a' }, { name: 'b', value: 'cu' }])
  expect(preview('QUJD', { binary: true })).toEqual({ pairs: [], raw: 'QUJD' })
  expect(dataOf(jobOf())).toBeUndefined()
  const hidden = { preview: { data: { bytes: 9, text: '{"a":"[redacted]"}' } } }
  expect(dataOf(jobOf({ ...hidden, redacted: ['data'] }))?.pairs[0]?.isRedacted).toBe(true)
  expect(dataOf(jobOf(hidden))?.pairs[0]?.isRedacted).toBe(false)
})

test('the queue is no column where it is the same in each row', () => {
  expect(columnsOf('waiting', false)).toContain('queue')
  expect(columnsOf('waiting', true)).not.toContain('queue')
})

const AROUND = { now: NOW, aheadMs: 3_600_000 }

test('a tab and a query are one question', () => {
  expect(filterOf('failed', parseQuery('queue:a name:b tag:c key:d schedule:e some text'), AROUND)).toEqual({
    ...{ state: 'failed', queue: 'a', name: 'b', tag: 'c', key: 'd', schedule: 'e' },
    search: 'some text',
  })
  expect(filterOf(tabOf('no such state'), parseQuery(''), AROUND)).toEqual({})
  expect(filterOf('retrying', parseQuery(''), AROUND)).toEqual({ state: 'scheduled', retrying: 'true' })
  expect(filterOf('scheduled', parseQuery(''), AROUND)).toEqual({ state: 'scheduled', retrying: 'false' })
  expect(listQuery('failed', { state: 'failed' })).toMatchObject({ order: 'finished', payload: 'preview', include: 'lastRun' })
  expect(listQuery('retrying', {})).toMatchObject({ order: 'due' })
  expect(listQuery('waiting', {})['order']).toBeUndefined()
})

test('times mean the end of jobs that have ended, and the beginning of others', () => {
  const query = parseQuery('after:1h before:2025-11-23T04:00')
  expect(filterOf('failed', query, AROUND)).toMatchObject({
    finishedAfter: { agoMs: 3_600_000 },
    finishedBefore: '2025-11-23T03:00:00.000Z',
  })
  expect(filterOf('waiting', query, AROUND)).toMatchObject({ enqueuedAfter: { agoMs: 3_600_000 } })
  expect(faultyTime(query, AROUND)).toBeUndefined()
  const wrong = parseQuery('before:soon')
  expect(faultyTime(wrong, AROUND)).toBe('before')
  expect(filterOf('failed', wrong, AROUND)).toEqual({ state: 'failed' })
})

test.each([
  ['30s', { agoMs: 30_000 }],
  ['10m', { agoMs: 600_000 }],
  ['7d', { agoMs: 7 * 86_400_000 }],
  ['03:20', { at: Date.UTC(2025, 10, 23, 2, 20) }],
  ['2025-11-23', { at: Date.UTC(2025, 10, 22, 23) }],
  ['2025-11-23T03:20:41Z', { at: Date.UTC(2025, 10, 23, 3, 20, 41) }],
  ['2025-13-45', undefined],
  ['soon', undefined],
  ['1', undefined],
])('%s is a time', (text, when) => {
  expect(whenOf(text, NOW, 3_600_000)).toEqual(when)
})

test('a bulk call gets the same filter, with times that stay', () => {
  const filter = filterOf('retrying', parseQuery('after:1h key:a'), AROUND)
  expect(bulkFilterOf(filter, NOW)).toEqual({ state: 'scheduled', retrying: true, key: 'a', enqueuedAfter: before(3_600_000) })
})

describe('a selection', () => {
  const order = ['a', 'b', 'c', 'd']
  const idsOf = ({ ids }: Selection) => [...ids].toSorted().join('')

  test('has rows one by one, and from one to another', () => {
    const one = toggled(NOTHING_SELECTED, 'b', order)
    expect([idsOf(one), idsOf(rangeTo(one, 'd', order)), idsOf(rangeTo(one, 'a', order))]).toEqual(['b', 'bcd', 'ab'])
    expect(isEmpty(toggled(one, 'b', order))).toBe(true)
    expect(idsOf(rangeTo({ ...one, anchor: 'gone' }, 'c', order))).toBe('bc')
  })

  test('of all that match is of those that are loaded, once one is left out', () => {
    const all = { ...NOTHING_SELECTED, allAt: NOW }
    expect([isSelected(all, 'x'), isEmpty(all)]).toEqual([true, false])
    expect([idsOf(toggled(all, 'b', order)), toggled(all, 'b', order).allAt]).toEqual(['acd', undefined])
  })

  test('is what bulk calls are about, and says so', () => {
    const query = parseQuery('queue:billing')
    const filter = filterOf('failed', query, AROUND)
    const scope = { tab: 'failed', query, filter } as const
    const [retry, remove] = bulksOf({ ...scope, selection: { ...NOTHING_SELECTED, allAt: NOW } }, NOW + 5_000)
    const what = 'failed jobs that match queue:billing'
    expect(retry).toEqual({ word: 'retry', what, at: NOW, filter: { state: 'failed', queue: 'billing' } })
    expect(remove?.word).toBe('delete')
    const [some] = bulksOf({ ...scope, selection: toggled(NOTHING_SELECTED, 'b', order) }, NOW)
    expect(some).toEqual({ word: 'retry', what: 'selected jobs', at: NOW, filter: { ids: ['b'] } })
  })
})

test('tabs have numbers only where somebody counts them', () => {
  const states = { scheduled: 1, waiting: 2, active: 3, blocked: 0, completed: 4, failed: 5, cancelled: 0 }
  const stats = statsOf({ states, queues: { mail: queueStats({ failed: 5 }), constructor: queueStats() } as never })
  expect(countsOf(stats, parseQuery(''))).toMatchObject({ all: 15, failed: 5, scheduled: 1, retrying: 0 })
  expect(countsOf(stats, parseQuery('queue:mail'))).toMatchObject({ all: 5, failed: 5, waiting: 0 })
  expect(countsOf(stats, parseQuery('queue:toString'))).toBeUndefined()
  expect(countsOf(stats, parseQuery('queue:mail name:a'))).toBeUndefined()
  expect(countsOf(stats, parseQuery('text'))).toBeUndefined()
  expect(countsOf(undefined, parseQuery(''))).toBeUndefined()
})
