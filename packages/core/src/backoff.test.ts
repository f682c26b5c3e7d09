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

test('M4: the cap comes last, so that no jitter passes it', () => {
  expect(backoffDelay({ type: 'fixed', delay: 1_000, maxDelay: 1_100, jitter: 0.5 }, 1, ALMOST_ONE)).toBe(1_100)
  // And what lies under the cap is spread still.
  expect(backoffDelay({ type: 'fixed', delay: 1_000, maxDelay: 1_100, jitter: 0.5 }, 1, 0)).toBe(500)
})

test('E6: the default is 20 s, factor 2, cap 1 h, jitter 0.2', () => {
  expect(delays(DEFAULT_POLICY.backoff, [1, 2, 3, 20])).toEqual([20_000, 40_000, 80_000, 3_600_000])
  expect([0, ALMOST_ONE].map((random) => backoffDelay(DEFAULT_POLICY.backoff, 1, random))).toEqual([16_000, 24_000])
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
