// What people and programs are shown: tables, amounts, and values as JSON.
import { styleText } from 'node:util'
import { expect, test } from 'vitest'
import { jsonText } from '../../visible.ts'
import { awayText, bytesText, countText, durationText, many, timeText } from './amounts.ts'
import { Line, line, type Text, written } from './line.ts'
import { plain } from './plain.ts'
import type { Paint } from './style.ts'
import { tableLines } from './table.ts'

const paint: Paint = (style, text) => new Line(styleText(style, written(text), { validateStream: false }))
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
  expect(lines.map(written)).toEqual(['NAME    COUNT', 'a           7', 'longer  1,234  many'])
})

test('a table: styles take no room, and characters beyond ASCII take one place', () => {
  const lines = tableLines(
    [
      { title: 'X', text: (text: Text) => text },
      { title: 'Y', text: () => '|' },
    ],
    [paint('red', 'red'), 'žluť', '🙂'],
  )
  expect(lines.map(written)).toEqual(['X     Y', '\u001b[31mred\u001b[39m   |', 'žluť  |', '🙂     |'])
})

test('what a terminal would obey is written out: lines, bells, cursors, styles, and what turns text round', () => {
  expect(written('a\nb\r\tc\u0007d\u001b[2Je\u009bf\u007f\u202eg\u2028')).toBe('a\\nb\\r\\tc\\x07d\\x1b[2Je\\x9bf\\x7f\\u202eg\\u2028')
  expect(written('\u001b[31mred\u001b[39m')).toBe('\\x1b[31mred\\x1b[39m')
  expect(written('žluť 🙂 עברית "\\n"')).toBe('žluť 🙂 עברית "\\n"')
})

test('a style is put on what is visible, and stays where a line is made of it', () => {
  expect(written(paint('red', '\u001b[1mx'))).toBe('\u001b[31m\\x1b[1mx\u001b[39m')
  expect(written(line`a ${paint('red', 'b')} ${'\u0007'}${3}`)).toBe('a \u001b[31mb\u001b[39m \\x073')
  expect(written(paint('bold', paint('red', 'b')))).toBe('\u001b[1m\u001b[31mb\u001b[39m\u001b[22m')
})

test('JSON has none of it either, and says the same', () => {
  const value = { '\u009b': 'a\u001b\u007f\u0085\u2028\u202e' }
  const text = jsonText(value)
  expect(text).toBe('{"\\u009b":"a\\u001b\\u007f\\u0085\\u2028\\u202e"}')
  expect(JSON.parse(text)).toEqual(value)
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
  const never = new Date('9999-12-31T23:59:59.999Z')
  expect([awayText(never, NOW), timeText(never)]).toEqual(['on a message', 'on a message'])
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
