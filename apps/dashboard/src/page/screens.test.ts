import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ICONS } from './parts/icons.ts'
import { SCREENS } from './screens.ts'

test('each screen has a path and, in the sidebar, a key of its own', () => {
  const paths = SCREENS.map(({ path }) => path)
  const keys = SCREENS.flatMap(({ navigation }) => navigation?.key ?? [])
  expect(new Set(paths).size).toBe(paths.length)
  expect(new Set(keys).size).toBe(keys.length)
})

test('five screens have room at the bottom of a phone', () => {
  expect(SCREENS.filter(({ navigation }) => navigation?.phone).length).toBeLessThanOrEqual(5)
})

test('the sprite has the icons that have names, and no others', () => {
  const page = readFileSync(new URL('index.html', import.meta.url), 'utf8')
  const symbols = [...page.matchAll(/<symbol id="i-([\w-]+)"/g)].map(([, name]) => name)
  expect(symbols.toSorted()).toEqual([...ICONS].toSorted())
})
