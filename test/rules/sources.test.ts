// The rules are only as good as their eyes: what finds imports, comments and files finds them.
import { expect, test } from 'vitest'
import { importsOf, SHIPPED, SOURCES, withoutComments } from './sources.ts'

test('every package is looked at', () => {
  for (const name of ['core', 'sqlite', 'worker', 'client', 'engine']) {
    expect(SHIPPED.filter((source) => source.package === name).length, name).toBeGreaterThan(1)
  }
  expect(SOURCES.some((source) => source.testing)).toBe(true)
  expect(SHIPPED.some((source) => source.path.endsWith('.test.ts'))).toBe(false)
})

test('imports of every form are found', () => {
  const code = `
import a from 'one'
import type { B } from "two"
import {
  c,
  type D,
} from 'three'
import 'four'
export * from './five.ts'
export type { E } from './six.ts'
const f = await import('seven')
const g = require('eight')
`
  expect(importsOf(code).sort((a, b) => a.specifier.localeCompare(b.specifier))).toEqual([
    { specifier: './five.ts', typeOnly: false },
    { specifier: './six.ts', typeOnly: true },
    { specifier: 'eight', typeOnly: false },
    { specifier: 'four', typeOnly: false },
    { specifier: 'one', typeOnly: false },
    { specifier: 'seven', typeOnly: false },
    { specifier: 'three', typeOnly: false },
    { specifier: 'two', typeOnly: true },
  ])
})

test('comments go, strings stay, lines keep their numbers', () => {
  const code = withoutComments("a // b\n/* c\nd */ e('// no', `/* no */`)")
  expect(code).not.toMatch(/[bcd]/)
  expect(code).toContain("e('// no', `/* no */`)")
  expect(code.split('\n')).toHaveLength(3)
})
