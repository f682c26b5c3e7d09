// The first program of a page is what its reader tries first, perhaps on the oldest Node that the packages accept.
import { transformSync } from 'rolldown/utils'
import { expect, test } from 'vitest'
import { BLOCKS, PAGES } from './blocks.ts'

const OLDEST = 'node22.14'
const LANGUAGES = /^(?:[cm]?[jt]s|[jt]sx)$/

/** True if a compiler for that Node has to write the program in another way. */
function isNewer(text: string): boolean {
  const compiled = (target: string) => transformSync('a.tsx', text, { target })
  const [old, newest] = [compiled(OLDEST), compiled('esnext')]
  return newest.errors.length === 0 && old.code !== newest.code
}

const first = PAGES.flatMap((page) => BLOCKS.find((block) => block.page === page && LANGUAGES.test(block.language)) ?? [])

test('the check knows what the oldest Node cannot parse', () => {
  expect(['await using a = b()', 'using a = b()', 'await b()', 'const a: number = 1'].map(isNewer)).toEqual([true, true, false, false])
})

test('the first program of each page runs on it', () => {
  expect(first.length).toBeGreaterThan(40)
  expect(first.filter(({ text }) => isNewer(text)).map(({ place }) => place)).toEqual([])
})
