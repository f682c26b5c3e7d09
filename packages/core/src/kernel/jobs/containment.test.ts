/** Tests whether JSON contains JSON: by examples of the manual of Postgres, and by removing parts of random values. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hintOf, jsonJudge } from './containment.ts'

const contains = (stored: string, wanted: unknown) => jsonJudge(JSON.stringify(wanted))(stored)

test.each<readonly [stored: string, wanted: unknown, expected: boolean]>([
  ['"foo"', 'foo', true],
  ['[1, 2, 3]', [1, 3], true],
  ['[1, 2, 3]', [3, 1, 1], true],
  ['[1, 2, 3]', [4], false],
  ['{"product": "PostgreSQL", "version": 9.4, "jsonb": true}', { version: 9.4 }, true],
  ['[1, 2, [1, 3]]', [1, 3], false],
  ['[1, 2, [1, 3]]', [[1, 3]], true],
  ['{"foo": {"bar": "baz"}}', { bar: 'baz' }, false],
  ['{"foo": {"bar": "baz"}}', { foo: {} }, true],
  ['["foo", "bar"]', 'bar', true],
  ['{"a": ["foo"]}', { a: 'foo' }, false],
  ['"bar"', ['bar'], false],
  ['{"a": null}', { a: null }, true],
  ['{}', { a: null }, false],
  ['{"a": [{"b": 1, "c": 2}, {"b": 3}]}', { a: [{ c: 2 }, { b: 3 }] }, true],
  ['{"a": [{"b": 1}, {"c": 2}]}', { a: [{ b: 1, c: 2 }] }, false],
  ['{"0": 1}', [1], false],
  ['[1]', { 0: 1 }, false],
  ['{"n": 7.0e0, "s": "\\u0061\\/"}', { n: 7, s: 'a/' }, true],
  ['{"n": "7"}', { n: 7 }, false],
  ['{"n": -0}', { n: 0 }, true],
  ['{"a": 1, "a": 2}', { a: 2 }, true],
  ['{"__proto__": {"x": 1}}', JSON.parse('{"__proto__": {"x": 1}}'), true],
  ['{"x": 1}', JSON.parse('{"__proto__": {}}'), false],
  ['{"x": 1}', { toString: {} }, false],
  ['null', null, true],
  ['not JSON {"a":1}', { a: 1 }, false],
])('the stored JSON %s contains %j: %s', (stored, wanted, expected) => {
  expect(contains(stored, wanted)).toBe(expected)
})

const json = fc.jsonValue({ maxDepth: 3 })

/** Replaces some parts of a value by a smaller one. */
function partOf(value: unknown, keep: () => boolean): unknown {
  if (Array.isArray(value)) return value.filter(keep).map((each) => partOf(each, keep))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(keep)
      .map(([name, each]) => [name, partOf(each, keep)]),
  )
}

test('a JSON value contains what is left of it when parts are removed, and its text has the hint of that part unless it has a backslash', () => {
  fc.assert(
    fc.property(json, fc.infiniteStream(fc.boolean()), (value, flags) => {
      const part = partOf(value, () => flags.next().value as boolean)
      const stored = JSON.stringify(value)
      expect(contains(stored, part)).toBe(true)
      expect(stored.includes('\\') || stored.includes(hintOf(JSON.stringify(part)))).toBe(true)
    }),
  )
})

test('the hint of a filter is its longest value, or a name if it has no value, and never text that is stored in another form', () => {
  expect(hintOf('{"customerNumber":"c-7","of":["ab"]}')).toBe('"c-7"')
  expect(hintOf('{"customer":7,"a":null}')).toBe('"customer"')
  expect(hintOf('{"a":"line\\nline"}')).toBe('"a"')
  expect(hintOf('[1,2]')).toBe('')
})
