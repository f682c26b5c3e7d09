import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withCommas } from './withCommas.ts'

test('integers are written as the locale does', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (integer) => {
      expect(withCommas(integer)).toBe(integer.toLocaleString('en-US'))
    }),
  )
  for (const integer of [0, 7, 999, 1_000, -1_000, 65_535, 1_000_000, Number.MAX_SAFE_INTEGER])
    expect(withCommas(integer)).toBe(integer.toLocaleString('en-US'))
})
