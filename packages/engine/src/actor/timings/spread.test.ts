import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Spread } from './spread.ts'

const ms = fc.oneof(fc.nat(20), fc.nat(5_000), fc.nat(2 ** 31))

test('percentiles are right to within 6 %, and to the millisecond below 16', () => {
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1, maxLength: 300 }), (durations) => {
      const spread = new Spread()
      for (const duration of durations) spread.add(duration)
      const sorted = durations.toSorted((a, b) => a - b)
      const { p50, p95, p99 } = spread.percentiles()
      for (const [share, told] of [
        [0.5, p50],
        [0.95, p95],
        [0.99, p99],
      ] as const) {
        const right = sorted[Math.ceil(share * sorted.length) - 1] as number
        expect(Math.abs(told - right)).toBeLessThanOrEqual(right < 16 ? 0 : right * 0.0625)
      }
    }),
  )
})

test('what is long past is forgotten: of one kind 2,048 are enough', () => {
  const spread = new Spread()
  for (let index = 0; index < 5_000; index++) spread.add(10_000)
  for (let index = 0; index < 2_047; index++) spread.add(3)
  expect(spread.percentiles().p50).toBe(3)
  spread.add(3)
  expect(spread.percentiles()).toEqual({ p50: 3, p95: 3, p99: 3 })
})

test('none, and what no clock should say', () => {
  const spread = new Spread()
  expect(spread.percentiles()).toEqual({ p50: 0, p95: 0, p99: 0 })
  spread.add(-5)
  expect(spread.percentiles().p99).toBe(0)
  for (let index = 0; index < 9; index++) spread.add(Number.MAX_SAFE_INTEGER)
  expect(spread.percentiles().p99).toBeGreaterThan(2 ** 31)
  spread.clear()
  expect(spread.percentiles().p99).toBe(0)
})
