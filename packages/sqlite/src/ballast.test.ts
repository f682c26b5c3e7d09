import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ballastBeside } from './ballast.ts'
import { openTestStore, temporaryFolder } from './testing/files.ts'

test('the ballast takes real room when asked to, and gives it back', () => {
  const store = openTestStore({ ballastBytes: 3_000_000 })
  const path = `${store.file}-ballast`
  expect(existsSync(path)).toBe(false)
  expect(store.restoreBallast()).toBe(true)
  const { size, blocks } = statSync(path)
  expect(size).toBe(3_000_000)
  expect(blocks * 512).toBeGreaterThanOrEqual(3_000_000)
  expect(store.restoreBallast()).toBe(true)
  store.releaseBallast()
  store.releaseBallast()
  expect(existsSync(path)).toBe(false)
})

test('half a ballast is made whole', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  writeFileSync(`${file}-ballast`, 'short')
  expect(ballastBeside(file, 10_000).restore()).toBe(true)
  expect(statSync(`${file}-ballast`).size).toBe(10_000)
})

test('there is no room for more than the disk holds, and nothing is left of the attempt', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  expect(ballastBeside(file, 2 ** 60).restore()).toBe(false)
  expect(existsSync(`${file}-ballast`)).toBe(false)
  expect(ballastBeside(join(file, 'no', 'such'), 10).restore()).toBe(false)
})
