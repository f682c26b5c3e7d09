import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOption, isBase64 } from './base64.ts'

test('bytes come out of base64 as they went in', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      expect(bytesOption('data', text)).toEqual(bytes)
      expect(bytesOption('data', { base64: text })).toEqual(bytes)
    }),
  )
})

test('a string is decoded only if it is what its bytes are written as', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('A', 'B', '/', '=', '-', ' '), maxLength: 9 }), (text) => {
      const written = Buffer.from(text, 'base64').toString('base64') === text
      expect(isBase64(text)).toBe(written)
      const decode = () => bytesOption('data', text)
      if (written) expect(decode()).toEqual(new Uint8Array(Buffer.from(text, 'base64')))
      else expect(decode).toThrow(expect.objectContaining({ code: 'OPTION_TYPE', option: 'data' }))
    }),
  )
})
