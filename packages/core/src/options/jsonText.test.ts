import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import { checkJsonText } from './jsonText.ts'

const DEEP = LIMITS.jsonDepth

test.each([
  ['1e400', /the number 1e400, .*send it as a string/],
  ['-1E+400', /1E\+400/],
  ['{"a":[1,{"b":1e00400}]}', /1e00400/],
  ['9'.repeat(400), /the number 9{40}\.\.\. \(400 characters\)/],
  ['9007199254740993', /the integer 9007199254740993, which would be stored as 9007199254740992/],
  ['[-9007199254740993]', /9007199254740993/],
  ['{"\\\\":123456789012345678901234567890}', /123456789012345678901234567890/],
])('%s is a number that would change', (text, message) => {
  expect(() => checkJsonText('data', text)).toThrow(expect.objectContaining({ code: 'OPTION_RANGE', option: 'data' }))
  expect(() => checkJsonText('data', text)).toThrow(message)
})

test.each([
  '1e308',
  '9007199254740991',
  // Exact as doubles, and as JSON.stringify writes a double.
  '9007199254740992',
  '36503140147370248',
  '36503140147370250',
  '1e22',
  '100000000000000000000',
  // Decimals are rounded, and what is too small for a double is nothing.
  '0.12345678901234567890',
  '1e-400',
  // No numbers.
  '"9007199254740993"',
  '{"9007199254740993":"1e400","\\"1e400":"\\\\"}',
  // No JSON: for the parser to refuse.
  '"1e400',
  '12345678901234567.1.1',
])('%s stays as it is', (text) => {
  expect(() => checkJsonText('data', text)).not.toThrow()
})

test('a whole number that is taken is the same once parsed', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const value: number = JSON.parse(`${integer}`)
      const kept = BigInt(value) === integer || JSON.stringify(value) === `${integer}`
      if (kept) expect(() => checkJsonText('data', `[${integer}]`)).not.toThrow()
      else expect(() => checkJsonText('data', `[${integer}]`)).toThrow(/stored as/)
    }),
  )
})

test('whatever JSON.stringify writes is taken', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => checkJsonText('data', JSON.stringify(value))))
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => checkJsonText('data', JSON.stringify(value))))
})

test('nesting: 1,000 levels, not one more; brackets in strings are none', () => {
  const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  expect(() => checkJsonText('data', lists(DEEP))).not.toThrow()
  expect(() => checkJsonText('data', lists(DEEP + 1))).toThrow(/data is nested more than 1000 levels deep/)
  expect(() => checkJsonText('data', '{"a":'.repeat(DEEP + 1))).toThrow(expect.objectContaining({ option: 'data', limit: DEEP }))
  expect(() => checkJsonText('data', `[${'[],'.repeat(DEEP)}{}]`)).not.toThrow()
  expect(() => checkJsonText('data', JSON.stringify(['['.repeat(2 * DEEP), `\\"${'{'.repeat(2 * DEEP)}`]))).not.toThrow()
})
