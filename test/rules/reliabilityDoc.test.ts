// docs/reliability.md and its companions against the tests: a test that is named there is there, and a file too.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const rowsOf = (path: string) =>
  readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && /`(test|packages)\//.test(line))
const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
const cells = (row: string) => row.split(/(?<!\\)\|/).map((cell) => cell.trim())

const BUGS = 'docs/other-bugs.md'
const bugs = rowsOf(BUGS)
const PAGES: readonly (readonly [path: string, rowsMin: number])[] = [
  ['docs/reliability.md', 70],
  [BUGS, 60],
  ['docs/security-checklist.md', 25],
]

test.each(PAGES)('%s has rows', (path, rowsMin) => {
  expect(rowsOf(path).length).toBeGreaterThanOrEqual(rowsMin)
})

const rows = PAGES.flatMap(([path]) => rowsOf(path))

test.each(rows.map((row) => [cells(row).at(-2) ?? '', row]))('the files of %s are there', (files) => {
  expect(quoted(files).length).toBeGreaterThan(0)
  for (const file of quoted(files)) expect(existsSync(join(ROOT, file)), file).toBe(true)
})

test.each(bugs.map((row) => [quoted(cells(row)[3])[0] ?? '', quoted(cells(row)[4])] as const))('%s is a test', (name, files) => {
  expect(name).not.toBe('')
  for (const file of files) expect(readFileSync(join(ROOT, file), 'utf8'), file).toContain(name)
})
