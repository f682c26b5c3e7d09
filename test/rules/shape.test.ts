// Names and sizes of files: one noun or verb a file, and none that reaches for a second.
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { functionsOf } from './functions.ts'
import { SOURCES } from './sources.ts'

const LINES_MAX = 450
const FUNCTION_MAX = 70
/** The functions there are lists: of routes, of commands, of elements. */
const LISTS = /^(?:packages\/http\/src\/routes\/|apps\/millrace\/src\/cli\/commands\/|apps\/dashboard\/.*\.tsx$)/

test('no file is called after what it is not', () => {
  const wrong = SOURCES.filter(({ path }) =>
    /^(?:utils?|commons?|helpers?|types?|misc|shared|managers?|.*[Mm]anagers?|.*[Uu]tils?|.*[Hh]elpers?)\.[a-z.]+$/.test(basename(path)),
  )
  expect(wrong.map(({ path }) => path)).toEqual([])
})

test(`no file has more than ${LINES_MAX} lines; tests may, and lists of a package's names`, () => {
  const long = SOURCES.filter(({ path, testing }) => !testing && !path.endsWith('/src/index.ts'))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > LINES_MAX)
  expect(long).toEqual([])
})

test(`no function has more than ${FUNCTION_MAX} lines, but for lists`, () => {
  const shipped = SOURCES.filter(({ path, testing }) => !testing && !LISTS.test(path) && /\.tsx?$/.test(path))
  const long = shipped.flatMap((source) =>
    functionsOf(source)
      .filter(({ lines }) => lines > FUNCTION_MAX)
      .map(({ name, line, lines }) => `${source.path}:${line} ${name}: ${lines} lines`),
  )
  expect(long).toEqual([])
})

test('the rule about functions sees methods, and functions within others', () => {
  const text = 'class A {\n  #b() {\n    const c = () => {\n      return 1\n    }\n  }\n}\n'
  expect(functionsOf({ path: 'a.ts', text })).toEqual([
    { name: 'b', line: 2, lines: 5 },
    { name: 'c', line: 3, lines: 3 },
  ])
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
