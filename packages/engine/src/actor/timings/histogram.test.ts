import { TIMING_BOUNDS_MS } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { Histogram } from './histogram.ts'

const ms = fc.oneof(fc.nat(20), fc.nat(5_000), fc.nat(2 ** 31))

test('percentiles are right to within 6 %, and to the millisecond up to 16', () => {
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1, maxLength: 300 }), (durations) => {
      const histogram = new Histogram()
      for (const duration of durations) histogram.add(duration)
      const sorted = durations.toSorted((a, b) => a - b)
      const { p50, p95, p99 } = histogram.timing()
      for (const [share, told] of [
        [0.5, p50],
        [0.95, p95],
        [0.99, p99],
      ] as const) {
        const right = sorted[Math.ceil(share * sorted.length) - 1] as number
        expect(Math.abs(told - right)).toBeLessThanOrEqual(right <= 16 ? 0 : right * 0.0625)
      }
    }),
  )
})

test('what is long past is forgotten: of one kind 2,048 are enough', () => {
  const histogram = new Histogram()
  for (let index = 0; index < 5_000; index++) histogram.add(10_000)
  for (let index = 0; index < 2_047; index++) histogram.add(3)
  expect(histogram.timing().p50).toBe(3)
  histogram.add(3)
  expect(histogram.timing()).toMatchObject({ p50: 3, p95: 3, p99: 3 })
})

test('the histogram forgets nothing, and has each duration once, on the right side of each bound', () => {
  const near = fc.nat(32).chain((power) => fc.constantFrom(2 ** power - 1, 2 ** power, 2 ** power + 1))
  fc.assert(
    fc.property(fc.array(fc.oneof(ms, near), { maxLength: 20 }), fc.integer({ min: 1, max: 300 }), (durations, times) => {
      const histogram = new Histogram()
      const all = Array.from({ length: times }, () => durations).flat()
      for (const duration of all) histogram.add(duration)
      const { sum, buckets } = histogram.timing()
      const capped = all.map((each) => Math.min(each, 0xffff_ffff))
      expect(sum).toBe(capped.reduce((total, each) => total + each, 0))
      expect(buckets.reduce((total, each) => total + each, 0)).toBe(all.length)
      expect(buckets.at(-1)).not.toBe(0)
      for (const [index, bound] of TIMING_BOUNDS_MS.entries()) {
        const upTo = buckets.slice(0, index + 1).reduce((total, each) => total + each, 0)
        expect(upTo).toBe(capped.filter((each) => each <= bound).length)
      }
    }),
    { numRuns: runs(50) },
  )
})

test('none, and what no clock should say', () => {
  const histogram = new Histogram()
  expect(histogram.timing()).toEqual({ p50: 0, p95: 0, p99: 0, sum: 0, buckets: [] })
  histogram.add(-5)
  expect(histogram.timing()).toMatchObject({ p99: 0, sum: 0, buckets: [1] })
  for (let index = 0; index < 9; index++) histogram.add(Number.MAX_SAFE_INTEGER)
  expect(histogram.timing().p99).toBeGreaterThan(2 ** 31)
  expect(histogram.timing().buckets).toEqual([1, ...new Array(22).fill(0), 9])
  histogram.clear()
  expect(histogram.timing()).toEqual({ p50: 0, p95: 0, p99: 0, sum: 0, buckets: [] })
})
