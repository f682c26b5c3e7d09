import { describe, expect, test } from 'vitest'
import { cut } from './cut.ts'
import { ago, duration, exactSpan, ON_MESSAGE, rough, span } from './durations.ts'
import { escaped } from './escaped.ts'
import { shortId } from './ids.ts'
import { bytes, change, count, counted, rate, short } from './numbers.ts'
import { clockTime, clockTimeMs, dayDate, dayMinute, exactTime, minuteTime, zoneName } from './times.ts'

const S = 1_000
const MIN = 60 * S
const H = 60 * MIN

test.each([
  [0, '0 ms'],
  [0.04, '0 ms'],
  [1.44, '1.4 ms'],
  [37.4, '37 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [7_440, '7.4 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_499, '59 s'],
  [59_600, '59 s'],
  [MIN, '1 m 00 s'],
  [14 * MIN + 2 * S, '14 m 02 s'],
  [3 * H + 10 * MIN, '3 h 10 m'],
  [24 * H, '1 d 0 h'],
  [123 * H, '5 d 3 h'],
])('a duration of %d ms is "%s"', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  [-5_000, 'in 5 s'],
  [-500, 'now'],
  [0, 'now'],
  [999, 'now'],
  [41 * S, '41 s ago'],
  [8 * MIN, '8 min ago'],
  [3 * H, '3 h ago'],
  [120 * H, '5 d ago'],
])('%d ms in the past is "%s"', (past, text) => {
  expect(ago(1_000_000_000, 1_000_000_000 + past)).toBe(text)
})

test('a job that waits for a message alone is due at no time', () => {
  expect(ago(ON_MESSAGE, 1_000)).toBe('on a message')
})

test('a setting is in the largest unit that says all of it', () => {
  expect([span(300_000), span(90_000), span(2_000), span(72 * H), span(1_500), span(0)]).toEqual([
    '5 min',
    '90 s',
    '2 s',
    '3 d',
    '1.5 s',
    '0 ms',
  ])
})

test('a setting for the API is exact', () => {
  expect([0, 250, 1_500, 90_000, 7_200_000, 604_800_000].map(exactSpan)).toEqual(['0ms', '250ms', '1500ms', '90s', '2h', '7d'])
})

test('rough durations round down', () => {
  expect([rough(59 * S + 999), rough(MIN), rough(H - 1), rough(47 * H)]).toEqual(['59 s', '1 min', '59 min', '1 d'])
})

test.each([
  [count(12_320), '12,320'],
  [count(-2_010), '−2,010'],
  [count(2 ** 53), '9,007,199,254,740,992'],
  [change(640), '+640'],
  [change(-2_010), '−2,010'],
  [change(0), '0'],
  [rate(8.66), '8.7'],
  [rate(0), '0'],
  [rate(196.4), '196'],
  [short(9_999), '9,999'],
  [short(15_000), '15k'],
  [short(30_000), '30k'],
  [counted(1, 'job'), '1 job'],
  [counted(3_174, 'job waits', 'jobs wait'), '3,174 jobs wait'],
  [bytes(0), '0 B'],
  [bytes(148), '148 B'],
  [bytes(1_234), '1.2 kB'],
  [bytes(12_000_000), '12 MB'],
  [bytes(5e15), '5,000 TB'],
])('%s', (text, expected) => {
  expect(text).toBe(expected)
})

describe('times', () => {
  const at = Date.UTC(2025, 10, 23, 2, 20, 41, 732)

  test('in UTC', () => {
    expect(clockTime(at, 'utc')).toBe('02:20:41')
    expect(clockTimeMs(at, 'utc')).toBe('02:20:41.732')
    expect(minuteTime(at, 'utc')).toBe('02:20')
    expect(dayDate(at, 'utc')).toBe('23 Nov')
    expect(dayMinute(at, 'utc')).toBe('23 Nov, 02:20')
    expect(exactTime(at, 'utc')).toBe('23 Nov 2025, 02:20:41.732 UTC')
  })

  test('midnight is 00:00', () => {
    expect(minuteTime(Date.UTC(2025, 0, 1), 'utc')).toBe('00:00')
  })

  test('the local zone has a name', () => {
    expect(zoneName(at, 'local')).not.toBe('')
  })
})

test('a text is cut where it is longer', () => {
  expect([cut('charge', 6), cut('charges', 6), cut('', 6)]).toEqual(['charge', 'charg…', ''])
})

test('an id is shortened to what differs; what is no id stays', () => {
  expect(shortId('01a20941-7c60-7000-8000-0127d5b9b95e')).toBe('7c60-0127d5')
  expect(shortId('order-7718')).toBe('order-7718')
})

test('signs that turn the direction, or that nobody sees, are escaped; letters of any direction stay', () => {
  expect(escaped('a\u202eexe.png\u2066b\u200b')).toBe(String.raw`a\u202eexe.png\u2066b\u200b`)
  expect(escaped('שלום مرحبا 😀')).toBe('שלום مرحبا 😀')
})
