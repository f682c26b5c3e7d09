// docs/requirements.md: each file of its table is there, and has a test that names the row.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const table = readFileSync(join(ROOT, 'docs/requirements.md'), 'utf8')
const rows = [...table.matchAll(/^\| ([A-Z]\d+) \|.*\| ([^|]+) \|$/gm)].map(
  ([, row = '', files = '']) => [row, [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)] as const,
)

/** The file, or the tests in the folder. */
function testsOf(path: string): readonly string[] {
  const here = join(ROOT, path)
  if (!existsSync(here)) return []
  if (!statSync(here).isDirectory()) return [readFileSync(here, 'utf8')]
  const files = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
  return files.map((file) => readFileSync(join(here, file), 'utf8'))
}

test('has rows, each once', () => {
  expect(rows.length).toBeGreaterThan(40)
  expect(new Set(rows.map(([row]) => row)).size).toBe(rows.length)
})

test.each(rows)('%s is proven by a test that says so', (row, files) => {
  expect(files.length).toBeGreaterThan(0)
  // In a text: the name of a test, or of several.
  const named = new RegExp(`['"\`][^'"\`\\n]*\\b${row}\\b`)
  const silent = files.filter((file) => !testsOf(file).some((text) => named.test(text)))
  expect(silent).toEqual([])
})
