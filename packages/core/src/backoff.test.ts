import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { type Backoff, backoffDelay } from './backoff.ts'
import { LIMITS } from './limits.ts'
import { DEFAULT_POLICY } from './policy.ts'

const ALMOST_ONE = 1 - Number.EPSILON
const delays = (backoff: Backoff, attempts: number[], random = 0.5) => attempts.map((attempt) => backoffDelay(backoff, attempt, random))

describe('without jitter', () => {
  test('E6, M4: exponential: delay * factor^(attempt - 1), factor 2 unless said', () => {
    expect(delays({ type: 'exponential', delay: 100 }, [1, 2, 3, 4])).toEqual([100, 200, 400, 800])
    expect(delays({ type: 'exponential', delay: 100, factor: 3 }, [1, 2, 3])).toEqual([100, 300, 900])
    expect(delays({ type: 'exponential', delay: 100, factor: 1 }, [1, 9])).toEqual([100, 100])
  })

  test('M4: linear: delay * attempt', () => {
    expect(delays({ type: 'linear', delay: 100 }, [1, 2, 3])).toEqual([100, 200, 300])
  })

  test('M4: fixed: delay', () => {
    expect(delays({ type: 'fixed', delay: 100 }, [1, 2, 3])).toEqual([100, 100, 100])
  })
})

describe('M4: jitter', () => {
  const fixed = (jitter: Backoff['jitter']): Backoff => ({ type: 'fixed', delay: 1_000, ...(jitter !== undefined && { jitter }) })

  test.each([
    [0.2, 800, 1_000, 1_200],
    [1, 0, 1_000, 2_000],
    ['equal', 500, 750, 1_000],
    ['full', 0, 500, 1_000],
  ] as const)('%s spreads 1,000 ms over %d, %d, %d', (jitter, least, middle, most) => {
    expect([0, 0.5, ALMOST_ONE].map((random) => backoffDelay(fixed(jitter), 1, random))).toEqual([least, middle, most])
  })
})

describe('M4: at the cap, jitter spreads as below it', () => {
  test.each([
    [0.5, 300, 600, 900],
    [1, 0, 450, 900],
    ['equal', 450, 675, 900],
    ['full', 0, 450, 900],
    [0, 900, 900, 900],
  ] as const)('%s spreads over %d, %d, %d', (jitter, least, middle, most) => {
    for (const type of ['exponential', 'linear', 'fixed'] as const)
      for (const attempt of [1, 10, LIMITS.maxAttempts]) {
        const backoff: Backoff = { type, delay: 1_000, maxDelay: 900, jitter }
        expect([0, 0.5, ALMOST_ONE].map((random) => backoffDelay(backoff, attempt, random))).toEqual([least, middle, most])
      }
  })

  test('two draws that differ have delays that differ, whatever the cap', () => {
    const jitter = fc.oneof(fc.double({ min: 0.01, max: 1, noNaN: true }), fc.constantFrom('equal' as const, 'full' as const))
    const type = fc.constantFrom('exponential' as const, 'linear' as const, 'fixed' as const)
    const large = fc.integer({ min: 1_000_000, max: LIMITS.durationMs })
    fc.assert(
      fc.property(type, large, large, jitter, fc.integer({ min: 1, max: 50 }), (type, delay, maxDelay, jitter, attempt) => {
        const drawn = [0, 0.25, 0.5, 0.75].map((random) => backoffDelay({ type, delay, maxDelay, jitter }, attempt, random))
        expect(new Set(drawn).size).toBe(4)
        expect(drawn).toEqual(drawn.toSorted((one, other) => one - other))
      }),
      { numRuns: runs(300) },
    )
  })
})

test('E6: the default is 20 s, factor 2, cap 1 h, jitter 0.2', () => {
  expect(delays(DEFAULT_POLICY.backoff, [1, 2, 3, 20])).toEqual([20_000, 40_000, 80_000, 3_000_000])
  expect([0, ALMOST_ONE].map((random) => backoffDelay(DEFAULT_POLICY.backoff, 1, random))).toEqual([16_000, 24_000])
  expect([0, ALMOST_ONE].map((random) => backoffDelay(DEFAULT_POLICY.backoff, 20, random))).toEqual([2_400_000, 3_600_000])
})

test('whatever the attempt, a whole number of milliseconds that leads to a time that a Date can hold', () => {
  const backoff: fc.Arbitrary<Backoff> = fc.record(
    {
      type: fc.constantFrom('exponential', 'linear', 'fixed'),
      delay: fc.oneof(fc.constant(0), fc.nat(LIMITS.durationMs)),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      maxDelay: fc.nat(LIMITS.durationMs),
      jitter: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom('equal' as const, 'full' as const)),
    },
    { requiredKeys: ['type', 'delay'] },
  )
  const attempt = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.constantFrom(1_025, LIMITS.maxAttempts))
  fc.assert(
    fc.property(backoff, attempt, fc.double({ min: 0, max: ALMOST_ONE, noNaN: true }), (backoff, attempt, random) => {
      const delay = backoffDelay(backoff, attempt, random)
      expect(Number.isSafeInteger(delay)).toBe(true)
      expect(delay).toBeGreaterThanOrEqual(0)
      expect(delay).toBeLessThanOrEqual(backoff.maxDelay ?? LIMITS.durationMs)
      expect(new Date(Date.UTC(2100) + delay).getTime()).not.toBeNaN()
    }),
    { numRuns: runs(1_000) },
  )
})
