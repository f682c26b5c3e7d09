import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

test.each([
  [0, 0],
  [1.5, 1.5],
  [-3, -3],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ['0ms', 0],
  ['250ms', 250],
  ['20s', 20_000],
  ['5m', 300_000],
  ['5 m', 300_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['1w', 604_800_000],
  ['-5s', -5_000],
  [{ minutes: 5 }, 300_000],
  [{ hours: 1, minutes: 30, seconds: 1, milliseconds: 2 }, 5_401_002],
  [{ weeks: 1, days: -7 }, 0],
])('%j is %d ms', (value, ms) => {
  expect(parseDuration(value)).toBe(ms)
})

test.each([
  [''],
  ['5'],
  ['m'],
  ['5 minutes'],
  ['5M'],
  ['5m '],
  [' 5m'],
  ['5  m'],
  ['5m30s'],
  ['1e3s'],
  ['.5s'],
  ['5m\n'],
  ['٥m'],
  [Number.NaN],
  [{}],
  [[]],
  [[5]],
  [{ minutes: '5' }],
  [{ minutes: Number.NaN }],
  [{ minutes: 5, fortnights: 1 }],
  [{ toString: 1 }],
  [{ constructor: 1 }],
  [JSON.parse('{ "__proto__": 1 }')],
  [null],
  [undefined],
  [true],
  [() => 5],
])('%j is no duration', (value) => {
  expect(parseDuration(value)).toBeUndefined()
})

test('what is formatted is read back', () => {
  const hundredYearsMs = 100 * 365 * 86_400_000
  fc.assert(
    fc.property(fc.integer({ min: -hundredYearsMs, max: hundredYearsMs }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms)
    }),
  )
})

test.each([
  [0, '0ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [90_000, '90s'],
  [300_000, '5m'],
  [7_200_000, '2h'],
  [86_400_000, '1d'],
  [1_209_600_000, '2w'],
])('%d ms is told as %s: the largest unit that divides it', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
