import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprintOf, formatFingerprint, normalized } from './fingerprint.ts'

const of = (message: string, name = 'Error') => fingerprintOf({ name, message })

test.each([
  ['job 17 has failed after 3.5 s', 'job # has failed after #.# s'],
  ['connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED #.#.#.#:#'],
  ['no user 01a1fc18-403e-7000-8000-00000699080a', 'no user #'],
  ['no such file "a/b.png"', 'no such file #'],
  ["cannot read 'x y' of `z`", 'cannot read # of #'],
  ["it can't be, and isn't", "it can't be, and isn't"],
  ['plain words', 'plain words'],
])('%s', (message, expected) => {
  expect(normalized(message)).toBe(expected)
})

test('the same but for numbers is the same; another class or another text is not', () => {
  expect(of('row 1 of 5')).toBe(of('row 23 of 4'))
  expect(of('row 1')).not.toBe(of('column 1'))
  expect(of('row 1')).not.toBe(of('row 1', 'TypeError'))
})

test('any message has one, of 14 hexadecimal digits, and soon', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (message) => {
      expect(formatFingerprint(of(message))).toMatch(/^[0-9a-f]{14}$/)
    }),
  )
  const begin = performance.now()
  for (const hard of ["'", '"', 'a', '1', "a'", '-', '` ']) for (let round = 0; round < 20; round++) of(hard.repeat(4_096))
  expect(performance.now() - begin).toBeLessThan(2_000)
})

test('neither the code nor the causes of an error change it', () => {
  const error = { name: 'Error', message: 'row 1', code: 'E', cause: [{ name: 'Error', message: 'deep', code: 'F' }] }
  expect(fingerprintOf(error)).toBe(of('row 1'))
})

test('it is what it has always been: files keep it', () => {
  expect(formatFingerprint(of('no such file "a"'))).toBe(formatFingerprint(of("no such file 'b'")))
  expect(formatFingerprint(of('no such file "a"'))).toMatchInlineSnapshot(`"0d391ff3220ec2"`)
})
