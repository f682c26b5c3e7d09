import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { DEFAULT_POLICY, POLICY_FIELDS, type PolicyOptions, parsePolicy, resolvePolicy } from './policy.ts'

const options: fc.Arbitrary<PolicyOptions> = fc.record(
  {
    maxAttempts: fc.integer({ min: 1, max: 9 }),
    maxAge: fc.integer({ min: 1, max: 9 }),
    maxLost: fc.integer({ min: 0, max: 9 }),
    keep: fc.integer({ min: 0, max: 9 }),
    logLines: fc.integer({ min: 0, max: 9 }),
    timeout: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(Number.POSITIVE_INFINITY)),
    heartbeatTimeout: fc.integer({ min: 0, max: 9 }),
    backoff: fc.record({ type: fc.constantFrom('fixed', 'linear'), delay: fc.nat(9) }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<PolicyOptions>

test('the first layer that sets an option wins, and the defaults fill the rest', () => {
  fc.assert(
    fc.property(options, options, (call, definition) => {
      const policy = resolvePolicy(call, undefined, definition)
      for (const option of POLICY_FIELDS) {
        expect(policy[option]).toEqual(call[option] ?? definition[option] ?? DEFAULT_POLICY[option])
      }
    }),
  )
})

test('a weak layer is beneath those behind it, and above the defaults', () => {
  fc.assert(
    fc.property(options, options, options, (call, definition, queue) => {
      const policy = resolvePolicy(call, { ...definition, weak: true }, queue)
      for (const option of POLICY_FIELDS) {
        expect(policy[option]).toEqual(call[option] ?? queue[option] ?? definition[option] ?? DEFAULT_POLICY[option])
      }
    }),
  )
})

test('a heartbeatTimeout of 0 is set, not missing', () => {
  expect(resolvePolicy({ heartbeatTimeout: 0 }, { heartbeatTimeout: 5 }).heartbeatTimeout).toBe(0)
})

test("a row's text says the same policy, Infinity included, even once all that was interned is forgotten", () => {
  fc.assert(
    fc.property(options, (options) => {
      const policy = resolvePolicy(options)
      const { text } = policy
      for (let other = 0; other < 1_001; other++) resolvePolicy({ timeout: 1_000 + other })
      const again = parsePolicy(text)
      expect(again).toEqual(policy)
      expect(again.timeout).toBe(options.timeout ?? DEFAULT_POLICY.timeout)
      expect(again.maxAge).toBe(options.maxAge ?? Number.POSITIVE_INFINITY)
      expect(again.maxLost).toBe(options.maxLost)
      expect(again.keep).toBe(options.keep)
    }),
    { numRuns: runs(20) },
  )
})

test('E6, E7: what sets nothing has the defaults, and stores no text', () => {
  expect(resolvePolicy()).toBe(DEFAULT_POLICY)
  expect(resolvePolicy({}, undefined)).toBe(DEFAULT_POLICY)
  expect(parsePolicy(null)).toBe(DEFAULT_POLICY)
  expect(DEFAULT_POLICY).toMatchObject({ maxAttempts: 4, timeout: 300_000, heartbeatTimeout: 120_000, text: null })
})

test('a layer that sets one field, whichever, is heard', () => {
  for (const field of POLICY_FIELDS)
    expect(resolvePolicy({}, { [field]: field === 'backoff' ? { type: 'fixed', delay: 1 } : 2 })[field]).not.toEqual(DEFAULT_POLICY[field])
})

test('equal policies share one frozen object', () => {
  const policy = resolvePolicy({ maxAttempts: 7 })
  expect(resolvePolicy({}, { maxAttempts: 7 })).toBe(policy)
  expect(parsePolicy(policy.text)).toBe(policy)
  expect(resolvePolicy({ maxAttempts: 8 })).not.toBe(policy)
  expect(Object.isFrozen(policy)).toBe(true)
})

test('policies that differ in one field, of their backoff too, are not taken for each other, however they take turns', () => {
  const base: PolicyOptions = { maxAttempts: 7, backoff: { type: 'fixed', delay: 5 } }
  const backoffs = [{ type: 'linear' }, { delay: 6 }, { factor: 3 }, { maxDelay: 9 }, { jitter: 'full' }]
  const all = [
    base,
    ...POLICY_FIELDS.filter((field) => field !== 'backoff').map((field) => ({ ...base, [field]: 11 })),
    ...backoffs.map((change) => ({ ...base, backoff: { type: 'fixed', delay: 5, ...change } }) as PolicyOptions),
  ]
  for (const pass of [1, 2, 3])
    for (const options of pass === 2 ? all.toReversed() : all) {
      const policy = resolvePolicy({ ...options }, { logLines: 3 })
      expect(policy).toMatchObject({ logLines: 3, ...options })
      expect(parsePolicy(policy.text)).toBe(policy)
    }
})
