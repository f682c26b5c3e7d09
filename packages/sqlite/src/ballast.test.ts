import { spawnSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ballastBeside } from './ballast.ts'
import { openTestStore, temporaryFolder } from './testing/files.ts'

const MAKING = () => ({ mode: 0o600, like: undefined })

test('the ballast takes real room when asked to, and gives it back', () => {
  const store = openTestStore({ ballastBytes: 3_000_000 })
  const path = `${store.file}-ballast`
  expect(existsSync(path)).toBe(false)
  expect(store.care.restoreBallast()).toBe(true)
  const { size, blocks } = statSync(path)
  expect(size).toBe(3_000_000)
  expect(blocks * 512).toBeGreaterThanOrEqual(3_000_000)
  expect(store.care.restoreBallast()).toBe(true)
  store.care.releaseBallast()
  store.care.releaseBallast()
  expect(existsSync(path)).toBe(false)
})

test('half a ballast is made whole', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  writeFileSync(`${file}-ballast`, 'short')
  expect(ballastBeside(file, 10_000, MAKING).restore()).toBe(true)
  expect(statSync(`${file}-ballast`).size).toBe(10_000)
})

test('there is no room for more than the disk holds, and nothing is left of the attempt', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  expect(ballastBeside(file, 2 ** 60, MAKING).restore()).toBe(false)
  expect(existsSync(`${file}-ballast`)).toBe(false)
  expect(ballastBeside(join(file, 'no', 'such'), 10, MAKING).restore()).toBe(false)
})

test('a ballast that could be filled only in part does not stay', (context) => {
  if (process.platform === 'win32') context.skip('there is no ulimit on Windows')
  const file = join(temporaryFolder(), 'jobs.db')
  const script = new URL('./testing/limited-ballast.ts', import.meta.url).pathname
  const limited = (blocks: number) =>
    spawnSync('bash', ['-c', `ulimit -f ${blocks}; exec "${process.execPath}" "${script}" "${file}"`], { encoding: 'utf8' }).stdout
  // In units of 1024 bytes in bash: one and a half of its chunks, and all of them.
  expect(JSON.parse(limited(1_536))).toEqual({ restored: false, left: [] })
  expect(JSON.parse(limited(8_192))).toEqual({ restored: true, left: ['jobs.db-ballast'] })
})
