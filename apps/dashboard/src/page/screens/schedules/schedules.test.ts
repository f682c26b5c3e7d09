import { describe, expect, test } from 'vitest'
import { scheduleOf } from '../../testing/inputs.ts'
import { changedBy, createdBy, errorsOf, formOf, NEW } from './form.ts'
import { interval, wordsOf } from './words.ts'

describe('words', () => {
  test.each([
    ['0 3 * * *', 'every day at 03:00'],
    ['30 8 * * 1-5', 'Monday to Friday at 08:30'],
    ['0 6,18 * * *', 'every day at 06:00 and 18:00'],
    ['0 4 * * SUN', 'every Sunday at 04:00'],
    ['0 4 * * 7', 'every Sunday at 04:00'],
    ['0 9 * * mon,wed', 'every Monday and Wednesday at 09:00'],
    ['0 0 L * *', 'on the last day of the month at 00:00'],
    ['0 6 1 1,4,7,10 *', 'on day 1 of the month in January, April, July and October at 06:00'],
    ['0 6 1,15 * *', 'on days 1 and 15 of the month at 06:00'],
    ['* * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['*/10 8-17 * * MON-FRI', 'every 10 minutes from 08:00 to 17:59 Monday to Friday'],
    ['0 * * * *', 'every hour'],
    ['5 */2 * * *', 'every 2 hours at minute 5'],
    ['0 30 2 * * *', 'every day at 02:30'],
    ['@daily', 'every day at 00:00'],
    ['@weekly', 'every Sunday at 00:00'],
    ['@yearly', 'on day 1 of the month in January at 00:00'],
  ])('%s is "%s"', (cron, words) => {
    expect(wordsOf({ cron })).toBe(words)
  })

  test.each(['0 0 1 * 1', '0 0 * * 1#2', '15 30 2 * * *', '0 0 9 1 1 * 2027', '1-5 * * * *', '0 0 15W * *', 'nonsense', '0 0 * 13 *'])(
    '%s has none',
    (cron) => {
      expect(wordsOf({ cron })).toBeUndefined()
    },
  )

  test('intervals in the largest unit that divides them', () => {
    expect([90_000, 3_600_000, 86_400_000, 1_500].map(interval)).toEqual(['90 s', '1 h', '1 d', '1500 ms'])
    expect(wordsOf({ every: 20_000 })).toBe('every 20 s')
  })
})

describe('the form', () => {
  const before = formOf(
    scheduleOf({ cron: '0 3 * * *', timezone: 'Europe/Berlin', data: { of: 'yesterday' }, options: { queue: 'reports' } }),
  )

  test('shows a schedule as it is, and asks for nothing', () => {
    expect(before).toMatchObject({ id: 'nightly', kind: 'cron', cron: '0 3 * * *', timezone: 'Europe/Berlin', job: 'report', jitter: '' })
    expect(changedBy(before, before)).toEqual({})
    expect(errorsOf(before)).toEqual({})
  })

  test.each<[Partial<typeof before>, unknown]>([
    [{ cron: '0 4 * * *' }, { cron: '0 4 * * *', timezone: 'Europe/Berlin' }],
    [{ kind: 'every', every: '6h' }, { every: '6h' }],
    [{ jitter: '5s' }, { jitter: '5s' }],
    [{ endAt: '2026-01-31T12:00:00Z' }, { endAt: '2026-01-31T12:00:00Z' }],
    [{ data: '[1]' }, { data: [1] }],
    [{ data: '' }, { data: null }],
    [{ options: '' }, { options: {} }],
    [
      { overlap: 'queue', job: 'other' },
      { overlap: 'queue', job: 'other' },
    ],
  ])('%j asks for %j', (changes, body) => {
    expect(changedBy(before, { ...before, ...changes })).toEqual(body)
  })

  test('a bound and a jitter are taken away', () => {
    const bounded = { ...before, endAt: '2026-01-31T12:00:00Z', jitter: '5s' }
    expect(changedBy(bounded, { ...bounded, endAt: '', jitter: '' })).toEqual({ endAt: null, jitter: 0 })
  })

  test('creates with what was given alone', () => {
    expect(createdBy({ ...NEW, id: 'poll', kind: 'every', every: ' 90s ', job: 'poll', jitter: '5s' })).toEqual({
      ...{ id: 'poll', job: 'poll', overlap: 'skip', catchUp: 'latest', data: undefined, every: '90s', jitter: '5s' },
    })
    expect(createdBy({ ...NEW, id: 'n', cron: '@daily', job: 'n', data: '{"a":1}', options: '{"queue":"q"}' })).toMatchObject({
      ...{ cron: '@daily', timezone: 'UTC', data: { a: 1 }, options: { queue: 'q' } },
    })
  })

  test('says what is missing, and what is no JSON', () => {
    expect(errorsOf({ ...NEW, data: '{', options: '[]' })).toEqual({
      ...{ id: 'is needed', job: 'is needed', cron: 'is needed', data: 'is not JSON', options: 'is not a JSON object' },
    })
  })
})
