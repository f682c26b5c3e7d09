/**
 * docs/compare.md says what test/rules/compare says, and each cell of ours names a test that is there.
 * After a change: `vitest run --project rules test/rules/compare.test.ts -u` writes the page anew.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blockOf, GROUPS } from './compare/page.ts'
import { MARKS, marksOf, PEERS, type Row } from './compare/row.ts'
import { ROOT } from './sources.ts'

const PAGE = join(ROOT, 'docs/compare.md')
const BLOCK = /<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g
const page = readFileSync(PAGE, 'utf8')
const rows = GROUPS.flatMap((group) => group.rows)
const named = rows.map((row): [string, Row] => [row.feature, row])

test('its tables are what the data says', async () => {
  const blocks = new Map(GROUPS.map((group) => [group.name, blockOf(group)]))
  expect([...page.matchAll(BLOCK)].map(([, name]) => name)).toEqual([...blocks.keys()])
  await expect(page.replace(BLOCK, (_, name: string) => `<!-- table: ${name} -->\n${blocks.get(name)}\n<!-- end -->`)).toMatchFileSnapshot(
    PAGE,
  )
})

test('no feature has two rows', () => {
  expect(new Set(rows.map(({ feature }) => feature)).size).toBe(rows.length)
})

test.each(named)('%s: a known mark for each peer, and a note wherever it is partly', (_, row) => {
  const marks = marksOf(row)
  expect(marks).toHaveLength(PEERS.length)
  expect(marks.filter((mark) => !(mark in MARKS))).toEqual([])
  const partly = PEERS.filter((_, index) => marks[index] === 'partly').map(({ key }) => key)
  expect(partly.filter((key) => row.notes[key] === undefined)).toEqual([])
})

test.each(named)('%s: ours has its test, or its reason', (_, { own, proof, why }) => {
  expect(proof !== undefined).toBe(own !== 'no')
  expect(why !== undefined).toBe(own !== 'yes')
  if (proof === undefined) return
  const [file, words] = proof
  expect(file).toMatch(/\.test\.ts$|^packages\/testkit\/src\/conformance\/\w+\.ts$/)
  expect(existsSync(join(ROOT, file)), `${file} is there`).toBe(true)
  const titles = readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .filter((line) => /\b(?:test|describe)\b|^\s*(?:['"`[])/.test(line))
  expect(words.length).toBeGreaterThan(5)
  expect(
    titles.some((title) => title.includes(words)),
    `${file} has a test with the words: ${words}`,
  ).toBe(true)
})

test('the page names each peer, its version and what was read', () => {
  const sources = page.slice(page.indexOf('## Sources'))
  for (const { name } of PEERS) expect(sources).toMatch(new RegExp(`^\\| ${name} \\| [^|]*\\d[^|]* \\| [^|]*https://`, 'm'))
})
