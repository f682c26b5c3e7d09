import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utf8Bytes, utf8Start } from './utf8.ts'

const encoder = new TextEncoder()

test('a beginning has at most so many bytes, ends with a whole character, and one more would be too much', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), fc.nat({ max: 60 }), (text, bytesMax) => {
      const start = utf8Start(text, bytesMax)
      expect(text.startsWith(start)).toBe(true)
      expect(encoder.encode(start).length).toBeLessThanOrEqual(bytesMax)
      const [next] = text.slice(start.length)
      if (next !== undefined) expect(encoder.encode(start + next).length).toBeGreaterThan(bytesMax)
      expect(utf8Bytes(start)).toBe(encoder.encode(start).length)
    }),
  )
})
