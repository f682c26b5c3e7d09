import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { formatId, type JobKey, NODE_LIMIT, PLACE_LIMIT, parseId, rowOfShortId, SEQ_LIMIT, SHORT_ROWS, shortId, sourcedNode } from './id.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME_MAX = 2 ** 48 - 1

const number = (max: number) =>
  fc.oneof(
    fc.maxSafeNat().map((value) => value % (max + 1)),
    fc.constantFrom(0, 1, max - 1, max),
  )
const key: fc.Arbitrary<JobKey> = fc.record({ seq: number(SEQ_LIMIT - 1), node: number(NODE_LIMIT - 1), enqueuedAt: number(TIME_MAX) })

test('says all of its key, and is a valid UUIDv7', () => {
  fc.assert(
    fc.property(key, (key) => {
      const id = formatId(key)
      expect(id).toMatch(V7)
      expect(parseId(id)).toEqual(key)
      expect(parseId(id.toUpperCase())).toEqual(key)
    }),
    { numRuns: runs(1_000) },
  )
})

test('says the same whatever was asked for before', () => {
  const few = fc.record({
    seq: fc.constantFrom(1, 2, 2 ** 22 - 1, 2 ** 22, 2 ** 36 + 1),
    node: fc.constantFrom(0, 1, 2 ** 24, NODE_LIMIT - 1),
    enqueuedAt: fc.constantFrom(0, 1_795_000_000_000, 1_795_000_000_001),
  })
  fc.assert(
    fc.property(fc.array(few, { maxLength: 20 }), (keys) => {
      expect(keys.map((key) => parseId(formatId(key)))).toEqual(keys)
    }),
  )
})

test('every UUIDv7 is the id of one key', () => {
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), (id) => {
      expect(formatId(parseId(id) as JobKey)).toBe(id)
    }),
  )
})

test('ids of one file sort by (time, row), as text', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      const other = { ...b, node: a.node }
      const order = a.enqueuedAt - other.enqueuedAt || a.seq - other.seq
      const [x, y] = [formatId(a), formatId(other)]
      expect(x < y ? -1 : x > y ? 1 : 0).toBe(Math.sign(order))
    }),
    { numRuns: runs(1_000) },
  )
})

test('34: rows up to 2^48 - 1, nodes up to 2^26 - 1, times beyond 2038', () => {
  const enqueuedAt = Date.UTC(2600, 5, 1)
  for (const seq of [1, 2 ** 22 - 1, 2 ** 22, 2 ** 31, 2 ** 32 + 1, 2 ** 36 - 1, 2 ** 36, 2 ** 48 - 1]) {
    for (const node of [0, 1, 2 ** 26 - 1]) {
      const key = { seq, node, enqueuedAt }
      expect(parseId(formatId(key))).toEqual(key)
    }
  }
  expect(formatId({ seq: SEQ_LIMIT - 1, node: NODE_LIMIT - 1, enqueuedAt: TIME_MAX })).toBe('ffffffff-ffff-7fff-bfff-ffffffffffff')
  expect(formatId({ seq: 0, node: 0, enqueuedAt: 0 })).toBe('00000000-0000-7000-8000-000000000000')
})

test('the time is where UUIDv7 has it', () => {
  expect(formatId({ seq: 1, node: 1, enqueuedAt: 0x0123456789ab }).startsWith('01234567-89ab-7')).toBe(true)
})

test.each([
  ['', 'empty'],
  ['x', 'short'],
  ['00000000-0000-4000-8000-000000000000', 'another version'],
  ['00000000-0000-7000-7000-000000000000', 'another variant'],
  ['00000000-0000-7000-c000-000000000000', 'another variant'],
  ['0000000000007000800000000000000000', 'no dashes'],
  [' 00000000-0000-7000-8000-000000000000', 'a space before'],
  ['00000000-0000-7000-8000-000000000000\n', 'a line end after'],
  ['g0000000-0000-7000-8000-000000000000', 'no hex'],
])('%j is no id: %s', (text) => {
  expect(parseId(text)).toBeUndefined()
})

test('an id that a journal makes says its place and its number, whatever row the job has', () => {
  const place = fc.integer({ min: 1, max: PLACE_LIMIT - 1 })
  const source = fc.integer({ min: 1, max: NODE_LIMIT - 1 })
  fc.assert(
    fc.property(place, source, number(SEQ_LIMIT - 1), number(TIME_MAX), (seq, node, row, enqueuedAt) => {
      const sourced = sourcedNode(seq, node)
      expect(Number.isSafeInteger(sourced)).toBe(true)
      const id = formatId({ seq: row, node: sourced, enqueuedAt })
      expect(id).toMatch(V7)
      expect(parseId(id)).toEqual({ seq, node, enqueuedAt })
    }),
    { numRuns: runs(1_000) },
  )
})

test('a short id says the row, modulo its bits', () => {
  for (const seq of [1, 5, SHORT_ROWS - 1, SHORT_ROWS, 3 * SHORT_ROWS + 17]) {
    const id = formatId({ seq, node: 12_345_678, enqueuedAt: Date.UTC(2025, 10, 23) })
    expect(rowOfShortId(shortId(id))).toBe(seq % SHORT_ROWS)
    expect(rowOfShortId(shortId(id).toUpperCase())).toBe(seq % SHORT_ROWS)
  }
  for (const none of ['', '7c60', '7c60-01275', '7c60-01275dd', 'g000-000000', 'order-7718']) expect(rowOfShortId(none)).toBeUndefined()
})
