import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columns, columnWidths, grouped, line, placeAt } from './paths.ts'
import { linear, logarithmic, roundTicks, roundTimes, timeTicks } from './scale.ts'

const BOX = { left: 10, top: 5, width: 100, height: 50 }

describe('scales', () => {
  test('linear: the ends, the middle, and what is beyond', () => {
    const scale = linear(0, 900, 200, 0)
    expect([scale(0), scale(450), scale(900), scale(2_000), scale(-5)]).toEqual([200, 100, 0, 0, 200])
  })

  test('a span of nothing is no division by zero', () => {
    expect(linear(5, 5, 0, 100)(5)).toBe(0)
  })

  test('logarithmic: an order of magnitude is the same anywhere; 0 is at the start', () => {
    const scale = logarithmic(1, 1_000, 0, 300)
    expect([1, 10, 100, 1_000].map((value) => Math.round(scale(value)))).toEqual([0, 100, 200, 300])
    expect(scale(0)).toBe(0)
  })

  test.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [900, [0, 300, 600, 900]],
    [901, [0, 300, 600, 900, 1_200]],
    [13_000, [0, 5_000, 10_000, 15_000]],
  ])('ticks up to %d', (largest, ticks) => {
    expect(roundTicks(largest)).toEqual(ticks)
  })

  test('ticks hold any count, and are few', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (largest) => {
        const ticks = roundTicks(largest)
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(largest)
        expect(ticks.length).toBeLessThanOrEqual(5)
      }),
    )
  })

  test('times of an axis are round by the clock that people look at', () => {
    const from = Date.UTC(2025, 10, 23, 1, 12)
    const clock = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().slice(11, 16))
    expect(clock(roundTimes(from, from + 3_600_000, 7, 0))).toEqual(['01:20', '01:30', '01:40', '01:50', '02:00', '02:10'])
    // Half an hour ahead, as in Kolkata.
    expect(clock(roundTimes(from, from + 6 * 3_600_000, 6, 19_800_000))).toEqual(['01:30', '02:30', '03:30', '04:30', '05:30', '06:30'])
    expect(roundTimes(from, from + 14 * 86_400_000, 8, 3_600_000).map((time) => new Date(time).getUTCHours())).toEqual(Array(7).fill(23))
  })

  test('an axis of times ends with the first tick that holds the longest', () => {
    expect(timeTicks(0).at(-1)?.[0]).toBe(1_000)
    expect(timeTicks(61_000).at(-1)?.[0]).toBe(600_000)
    expect(timeTicks(1e12).at(-1)?.[0]).toBe(36_000_000)
  })
})

describe('paths', () => {
  test('columns stand side by side, each on the one below', () => {
    expect(columns([50, 100], undefined, 100, BOX)).toBe('M10 55v-25h49v25zM60 55v-50h49v50z')
    expect(columns([50, 0], [50, 100], 100, BOX)).toBe('M10 30v-25h49v25z')
  })

  test('what is small is seen, what is nothing is not', () => {
    expect(columns([1, 0], undefined, 100_000, BOX)).toBe('M10 55v-1.5h49v1.5z')
    expect(columns([], undefined, 0, BOX)).toBe('')
  })

  test('a line goes through the middles', () => {
    expect(line([0, 100], 100, BOX)).toBe('M34.5 55L84.5 5')
    expect(line([], 100, BOX)).toBe('')
  })

  test('a place is found under the pointer', () => {
    expect([9, 10, 59.9, 60, 110, 111].map((x) => placeAt(x, 2, BOX))).toEqual([undefined, 0, 0, 1, 1, undefined])
    expect(placeAt(50, 0, BOX)).toBeUndefined()
  })

  test('many columns have smaller gaps', () => {
    expect(columnWidths(360, 720)).toEqual({ step: 2, column: 1.6 })
    expect(columnWidths(0, 720).step).toBe(0)
  })

  test('groups keep the sum', () => {
    expect(grouped([1, 2, 3, 4, 5], 2)).toEqual([3, 7, 5])
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 20 }), (values, size) => {
        const total = (all: readonly number[]) => all.reduce((sum, value) => sum + value, 0)
        expect(total(grouped(values, size))).toBe(total(values))
      }),
    )
  })
})
