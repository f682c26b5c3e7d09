import { expect, test } from 'vitest'
import { attemptsOf } from '../../job/attempts.ts'
import { shownState } from '../../job/state.ts'
import { before, jobOf, NOW, queueStats, statsOf } from '../../testing/evidence.ts'
import { columnsOf, dataOf, timeOf, tookMs } from './cells.ts'
import { filterOf, listQuery } from './filter.ts'
import { parseQuery } from './query.ts'
import { countsOf, tabOf } from './tabs.ts'

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

test('a tab and a query are one question', () => {
  expect(filterOf('failed', parseQuery('queue:a name:b tag:c some text'))).toEqual({
    state: 'failed',
    queue: 'a',
    name: 'b',
    tag: 'c',
    search: 'some text',
  })
  expect(filterOf(tabOf('no such state'), parseQuery(''))).toEqual({})
  expect(listQuery({ state: 'failed' })).toMatchObject({ state: 'failed', payload: 'preview', include: 'lastRun' })
})

test('tabs have numbers only where somebody counts them', () => {
  const states = { scheduled: 1, waiting: 2, active: 3, blocked: 0, completed: 4, failed: 5, cancelled: 0 }
  const stats = statsOf({ states, queues: { mail: queueStats({ failed: 5 }), constructor: queueStats() } as never })
  expect(countsOf(stats, parseQuery(''))).toMatchObject({ all: 15, failed: 5 })
  expect(countsOf(stats, parseQuery('queue:mail'))).toMatchObject({ all: 5, failed: 5, waiting: 0 })
  expect(countsOf(stats, parseQuery('queue:toString'))).toBeUndefined()
  expect(countsOf(stats, parseQuery('queue:mail name:a'))).toBeUndefined()
  expect(countsOf(stats, parseQuery('text'))).toBeUndefined()
  expect(countsOf(undefined, parseQuery(''))).toBeUndefined()
})
