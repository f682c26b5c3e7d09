// Names and sizes of files: one noun or verb a file, and none that reaches for a second.
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { SOURCES } from './sources.ts'

const LINES_MAX = 450

test('no file is called after what it is not', () => {
  const wrong = SOURCES.filter(({ path }) =>
    /^(?:utils?|commons?|helpers?|types?|misc|shared|managers?|.*[Mm]anagers?|.*[Uu]tils?|.*[Hh]elpers?)\.[a-z.]+$/.test(basename(path)),
  )
  expect(wrong.map(({ path }) => path)).toEqual([])
})

test(`no file has more than ${LINES_MAX} lines; tests may`, () => {
  const long = SOURCES.filter((source) => !source.testing)
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > LINES_MAX)
  expect(long).toEqual([])
})

test('no barrels but package roots', () => {
  const barrels = SOURCES.filter(
    ({ path, code }) => /^export \* from/m.test(code) && !/^(?:packages|apps)\/[^/]+\/src\/index\.ts$/.test(path),
  )
  expect(barrels.map(({ path }) => path)).toEqual([])
})

test('a file opens with what it is', () => {
  const silent = SOURCES.filter(({ path, testing }) => !testing && !path.endsWith('/index.ts')).filter(
    ({ text }) => text.split('\n').length > 150 && !/^(?:#!.*\n)?\/[*/]/.test(text),
  )
  expect(silent.map(({ path }) => path)).toEqual([])
})
