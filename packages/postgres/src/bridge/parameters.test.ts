import fc from 'fast-check'
import pg from 'pg'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { escaped } from './nul.ts'
import { parameterOf } from './parameters.ts'

/** Object id of the type of arrays of texts. */
const TEXTS = 1009
const parse = pg.types.getTypeParser(TEXTS as number) as (text: string) => unknown

test('an array of strings is read as it was, escaped', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', 'a', 'é', '😀', '\n', '\0', 'NULL', '') })
  fc.assert(
    fc.property(fc.array(fc.option(text)), (texts) => {
      expect(parse(parameterOf(texts) as string)).toEqual(texts.map((each) => each && escaped(each)))
    }),
    { numRuns: runs(400) },
  )
})

test('numbers, bytes, arrays within arrays and single values', () => {
  const bytes = new Uint8Array([0, 255])
  expect([1.5, -2, 'a\0', bytes, null].map(parameterOf)).toEqual(['1.5', '-2', escaped('a\0'), bytes, null])
  expect(parameterOf([1, null, -2.5])).toBe('{1,NULL,-2.5}')
  expect(parse(parameterOf([bytes, null]) as string)).toEqual(['\\x00ff', null])
  expect(parameterOf([[1], [2]])).toBe('{{1},{2}}')
  expect(parameterOf([])).toBe('{}')
})
