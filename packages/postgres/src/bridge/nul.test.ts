import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { escaped, restored } from './nul.ts'

const text = fc.string({ unit: fc.constantFrom('\0', '\uf8f1', '\uf8f2', '\uf8f3', 'a', '"') })

test('a string comes back, and has no NUL on its way', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(escaped(one)).not.toContain('\0')
      expect(restored(escaped(one))).toBe(one)
      // So a string is found within another.
      expect(escaped(one) + escaped(other)).toBe(escaped(one + other))
    }),
    { numRuns: runs(400) },
  )
})
