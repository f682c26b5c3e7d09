// A test that is not run says why; none is left alone, focused or to be written.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pathOf, placesOf, ROOT, walk, withoutComments } from './sources.ts'

const TESTS = ['packages', 'apps', 'test', 'bench']
  .flatMap((folder) => walk(join(ROOT, folder)))
  .filter((file) => /\.tsx?$/.test(file) && (/\.test\.tsx?$/.test(file) || /\/(?:test|testing|testkit)\//.test(`/${pathOf(file)}`)))
  .map((file) => ({ path: pathOf(file), code: withoutComments(readFileSync(file, 'utf8')) }))
  .filter(({ path }) => path !== 'test/rules/skips.test.ts')

const found = (pattern: RegExp) => TESTS.flatMap((file) => placesOf(file, pattern))

test('the tests are found', () => {
  expect(TESTS.length).toBeGreaterThan(10)
})

test('every skip states its reason', () => {
  // `context.skip('reason')` or `skip('reason')`, also with a condition before the reason.
  expect(found(/\bskip\(\s*\)/)).toEqual([])
  expect(found(/\bskip\((?!\s*(?:[^()'"`]*,\s*)?['"`][^'"`]{5,})/)).toEqual([])
})

test('tests are skipped from within, where a reason can be told', () => {
  expect(found(/\b(?:test|it|describe)\s*\.\s*(?:skip|skipIf|runIf|todo)\b/)).toEqual([])
})

test('no test is focused, or expected to fail', () => {
  expect(found(/\b(?:test|it|describe)\s*\.\s*(?:only|fails)\b/)).toEqual([])
})
