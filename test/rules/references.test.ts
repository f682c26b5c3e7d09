// Each file that a comment names is there, and the pages use words that the code has.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, SOURCES } from './sources.ts'

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
const PATH = /(?<![\w@/.*-])(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:tsx?|mts|mdx?|py|sql|css)\b/g

const tails = new Set(SOURCES.flatMap(({ path }) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))))
const isThere = (path: string, from: string): boolean =>
  tails.has(path) || [from, '', 'docs'].some((folder) => existsSync(join(ROOT, folder, path)))

test('each file that a comment names is there', () => {
  const named = SOURCES.flatMap(({ path: source, text }) =>
    [...text.matchAll(COMMENT)].flatMap(([comment]) => [...comment.matchAll(PATH)].map(([path]) => ({ source, path }))),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(({ source, path }) => !isThere(path, dirname(source)))).toEqual([])
})

/** The text of a file, or of all files of a folder. */
function textOf(path: string): string {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8')
  return readdirSync(path)
    .map((name) => textOf(join(path, name)))
    .join('\n')
}

const rows = readFileSync(join(ROOT, 'docs/vocabulary.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes(']('))

test.each(rows.map((row) => [row.slice(2).split(' |')[0] as string, row] as const))(
  'vocabulary: %s is a word of the file that the row names',
  (cell, row) => {
    const files = [...row.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => join(ROOT, 'docs', path as string))
    const text = files.map((file) => `${file}\n${textOf(file)}`).join('\n')
    const words = cell.replace(/\(.*?\)/, '').split(',')
    const missing = words.filter((word) => !new RegExp(word.trim().split(' ').join('[ _-]?'), 'i').test(text))
    const codes = [...row.matchAll(/`(\w+)`/g)].map(([, code]) => code as string)
    expect([...missing, ...codes.filter((code) => !new RegExp(`\\b${code}\\b`).test(text))]).toEqual([])
  },
)

test('the names of code in the invariants of ARCHITECTURE.md are those of the kernel', () => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const invariants = page.slice(page.indexOf('## Invariants'), page.indexOf('## What must never be'))
  const codes = [...invariants.matchAll(/`([\w.]+)`/g)].map(([, code]) => (code as string).split('.').at(-1) as string)
  const kernel = SOURCES.filter(({ path, testing }) => path.startsWith('packages/core/src/kernel/') && !testing)
  expect(codes.length).toBeGreaterThan(2)
  expect(codes.filter((code) => !kernel.some((source) => new RegExp(`\\b${code}\\b`).test(source.code)))).toEqual([])
})
