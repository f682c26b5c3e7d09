// What people and programs are shown: tables, amounts, and values as JSON.
import { expect, test } from 'vitest'
import { awayText, bytesText, countText, durationText, many, timeText } from './amounts.ts'
import { plain } from './plain.ts'
import { oneLine, tableLines } from './table.ts'

const NOW = Date.UTC(2026, 10, 21, 17, 4, 5, 678)

test('a table: columns as wide as their widest text, numbers at the right, no spaces at the end', () => {
  const rows = [
    { name: 'a', count: 7 },
    { name: 'longer', count: 1_234 },
  ]
  const lines = tableLines<(typeof rows)[number]>(
    [
      { title: 'NAME', text: ({ name }) => name },
      { title: 'COUNT', text: ({ count }) => countText(count), right: true },
      { title: '', text: ({ count }) => (count > 10 ? 'many' : '') },
    ],
    rows,
  )
  expect(lines).toEqual(['NAME    COUNT', 'a           7', 'longer  1,234  many'])
})

test('a table: styles take no room, and characters beyond ASCII take one place', () => {
  const lines = tableLines(
    [
      { title: 'X', text: (text: string) => text },
      { title: 'Y', text: () => '|' },
    ],
    ['\u001b[31mred\u001b[39m', 'žluť', '🙂'],
  )
  expect(lines).toEqual(['X     Y', '\u001b[31mred\u001b[39m   |', 'žluť  |', '🙂     |'])
})

test('what a terminal would obey is taken out of texts: lines, bells, cursors', () => {
  expect(oneLine('a\nb\rc\u0007d\u001b[2Je\u009bf\u001b]0;title\u0007')).toBe('a b c d [2Je f ]0;title ')
  expect(oneLine('\u001b[31mred\u001b[39m')).toBe('\u001b[31mred\u001b[39m')
})

test.each([
  [0, '0ms'],
  [999, '999ms'],
  [1_250, '1.3s'],
  [59_900, '59.9s'],
  [61_000, '1m 1s'],
  [3_600_000, '1h 0m'],
  [172_800_000, '2d 0h'],
  [Number.POSITIVE_INFINITY, 'none'],
])('a duration: %s is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})

test('times, distances, counts and bytes', () => {
  expect(timeText(new Date(NOW))).toBe('2026-11-21 17:04:05Z')
  expect(timeText(undefined)).toBe('-')
  expect(awayText(new Date(NOW - 5_000), NOW)).toBe('5.0s ago')
  expect(awayText(new Date(NOW + 120_000), NOW)).toBe('in 2m 0s')
  expect(awayText(undefined, NOW)).toBe('-')
  expect([many(1, 'job'), many(1_000, 'job')]).toEqual(['1 job', '1,000 jobs'])
  expect([0, 1_023, 1_024, 5 * 2 ** 20].map(bytesText)).toEqual(['0 B', '1023 B', '1.0 KiB', '5.0 MiB'])
})

test('values as JSON: times are ISO, bytes base64, what is not there null, no limit null', () => {
  const value = {
    at: new Date(NOW),
    none: undefined,
    bytes: new Uint8Array([1, 2]),
    limit: Number.POSITIVE_INFINITY,
    list: [undefined, { a: 1 }],
  }
  expect(plain(value)).toEqual({
    at: '2026-11-21T17:04:05.678Z',
    none: null,
    bytes: { base64: 'AQI=' },
    limit: null,
    list: [null, { a: 1 }],
  })
})
