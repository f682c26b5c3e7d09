import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../sha256.ts'
import { encodeData } from './data.ts'
import { uniqueKeyBy, uniqueKeyOf } from './uniqueBy.ts'
import { utf8Encoded } from './utf8.ts'

interface Vector {
  readonly name: string
  readonly data: unknown
  readonly by?: readonly string[]
  readonly canonical?: string
  readonly key: string
}

const file = new URL('../../vectors/uniqueKeys.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { readonly vectors: readonly Vector[] }

const keyOf = (data: unknown, by: unknown = 'data') => uniqueKeyBy(encodeData('data', data, 1e6), by)

function read(data: unknown): unknown {
  const { $bytes, $none } = Object(data) as { readonly $bytes?: string; readonly $none?: true }
  if ($none === true) return undefined
  return $bytes === undefined ? data : new Uint8Array(Buffer.from($bytes, 'hex'))
}

test.each(vectors)('$name', ({ data, by, canonical, key }) => {
  expect(keyOf(read(data), by)).toBe(key)
  if (canonical !== undefined) expect(`sha256:${createHash('sha256').update(canonical).digest('hex')}`).toBe(key)
})

test('names and numbers are told apart', () => {
  expect(new Set(vectors.map(({ key }) => key)).size).toBe(vectors.length)
})

describe('for any data', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, each]) => [name, shuffled(each)]),
    )
  }
  const stored = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

  test('another order of the fields is the same key', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(keyOf(shuffled(value))).toBe(keyOf(value))
      }),
    )
  })

  test('other data is another key', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (one, other) => {
        const isSame = fc.stringify(sorted(stored(one))) === fc.stringify(sorted(stored(other)))
        expect(keyOf(one) === keyOf(other)).toBe(isSame)
      }),
    )
  })

  test('the key of fields is that of an object of their paths', () => {
    const data = fc.record({ customer: fc.jsonValue(), order: fc.record({ id: fc.jsonValue(), sum: fc.double() }), rest: fc.jsonValue() })
    fc.assert(
      fc.property(data, (value) => {
        const key = uniqueKeyOf({ customer: value.customer, 'order.id': value.order.id })
        expect(keyOf(value, ['order.id', 'customer'])).toBe(key)
        expect(keyOf({ ...value, rest: 'other' }, ['customer', 'order.id', 'customer'])).toBe(key)
      }),
    )
  })

  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted)
    if (typeof value !== 'object' || value === null) return value
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
    // An object without fields is no empty array.
    return { fields: fields.map(([name, each]) => [name, sorted(each)]) }
  }
})

test('SHA-256 and UTF-8 are those of Node', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'))
      expect(utf8Encoded(text)).toEqual(new Uint8Array(Buffer.from(text)))
    }),
  )
  const million = new Uint8Array(1_000_000).fill(97)
  expect(sha256(million)).toBe('cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0')
})

describe('is refused', () => {
  const data = { customer: 'c1', order: { id: 7 }, items: ['a'], none: null, text: 'secret' }
  test.each<[what: string, data: unknown, by: unknown, says: string]>([
    [
      'a field that is missing',
      data,
      ['custmer'],
      'names the field "custmer", and the data has the fields customer, order, items, none, text: correct the path, or set the field to null',
    ],
    ['a field inside that is missing', data, ['order.nr'], 'and "order" has the fields id'],
    ['a field of a string', data, ['text.length'], 'and "text" is a string'],
    ['a field of null', data, ['none.id'], 'and "none" is null'],
    ['the length of an array', data, ['items.length'], 'and "items" is an array of length 1'],
    ['a place beyond the end', data, ['items.1'], 'and "items" is an array of length 1'],
    ['a place in another form', data, ['items.00'], 'and "items" is an array of length 1'],
    ['a field of the prototype', data, ['toString'], 'and the data has the fields customer'],
    ['a field that is undefined', { a: undefined }, ['a'], 'and the data is an empty object'],
    ['a field of a number', 5, ['a'], 'and the data is a number'],
    ['fields of no data', undefined, ['a'], "and the job has no data: use 'data'"],
    ['fields of bytes', new Uint8Array(1), ['a'], "and the job has bytes as its data: use 'data'"],
    ['no paths', data, [], 'got an empty array'],
    ['one path without an array', data, 'customer', 'got "customer": put the path of a single field into an array'],
    ['a path that is no string', data, [7], 'unique.by[0] must be a string, got 7'],
    ['an empty path', data, [''], 'unique.by[0] must have 1 to 512 characters'],
    ['something else', data, true, "unique.by must be 'data' or an array of paths"],
    ['too many paths', data, Array.from({ length: 33 }, () => 'customer'), 'unique.by must have at most 32 paths, got 33'],
  ])('%s', (_what, value, by, says) => {
    expect(() => keyOf(value, by)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(says), code: expect.stringMatching(/^OPTION_/) }),
    )
    expect(() => keyOf(value, by)).not.toThrow(/secret/)
  })

  test('data that is too deep, or has an integer that would change', () => {
    expect(() => uniqueKeyBy('['.repeat(1_001) + ']'.repeat(1_001), 'data')).toThrow('data is nested more than 1000 levels deep')
    expect(keyOf(JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)))).toMatch(/^sha256:/)
    expect(() => uniqueKeyBy('{"id":9007199254740993}', ['id'])).toThrow('data has the integer 9007199254740993')
  })
})
