// What is as expected, and what is not: for any values.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mismatches } from './mismatch.ts'

const plain = fc.dictionary(
  fc.string().filter((name) => name !== 'asymmetricMatch' && name !== '__proto__'),
  fc.jsonValue(),
)

test('any value is as itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(mismatches(value, structuredClone(value), '')).toEqual([])
    }),
  )
})

test('more than is expected of an object is no mismatch; less is one line each', () => {
  fc.assert(
    fc.property(plain, fc.jsonValue(), (expected, more) => {
      expect(mismatches(expected, { ...expected, 'one more': more }, '')).toEqual([])
      expect(mismatches({ ...expected, 'one more': 1 }, expected, 'data').filter((line) => line.startsWith('data.one more:'))).toEqual(
        'one more' in expected ? [] : ['data.one more: expected 1, was undefined'],
      )
    }),
  )
})

test('two different texts, numbers or bytes are told with their place', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer(), fc.string({ maxLength: 20 })),
      fc.oneof(fc.integer(), fc.string({ maxLength: 20 })),
      (one, other) => {
        fc.pre(one !== other)
        expect(mismatches({ a: [one] }, { a: [other] }, '')[0]).toMatch(/^a\[0\]: expected /)
      },
    ),
  )
  expect(mismatches(new Uint8Array([1]), new Uint8Array([1]), 'data')).toEqual([])
  expect(mismatches(new Uint8Array([1]), new Uint8Array([2]), 'data')).toHaveLength(1)
  expect(mismatches({}, new Uint8Array([2]), 'data')).toHaveLength(1)
  expect(mismatches(new Date(5), new Date(5), 'at')).toEqual([])
  expect(mismatches(new Date(5), new Date(6), 'at')).toHaveLength(1)
  expect(mismatches([1], { 0: 1 }, 'data')).toHaveLength(1)
  expect(mismatches(null, undefined, 'data')).toHaveLength(1)
})
