// What is kept of logs, and for how long.
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JobInfo } from '@millrace/worker'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../testing/folder.ts'
import { LogFolder } from './folder.ts'

const DAY_MS = 86_400_000
const idOf = (number: number) => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`
const run = (number: number) => ({ id: idOf(number), run: 1 }) as JobInfo

function logOf(folder: string, number: number, { bytes = 100, ageMs = 0 }): void {
  const path = join(folder, `${idOf(number)}-1.log`)
  writeFileSync(path, Buffer.alloc(bytes))
  const at = (Date.now() - ageMs) / 1_000
  utimesSync(path, at, at)
}

const numbers = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => Number(name.slice(24, 36)))
    .sort((one, other) => one - other)

/** The first run of a folder looks it through when it is over. */
async function tidied(path: string, bounds: { readonly folderBytes?: number; readonly ageMs?: number }) {
  const folder = new LogFolder(path, { logBytes: 1_000, folderBytes: 10_000, ageMs: DAY_MS, ...bounds })
  const files = await folder.begin(run(999))
  await files.over()
  return numbers(path)
}

test('logs that are too old go', async () => {
  const path = temporaryFolder()
  logOf(path, 1, { ageMs: DAY_MS + 60_000 })
  logOf(path, 2, { ageMs: DAY_MS - 60_000 })
  expect(await tidied(path, {})).toEqual([2, 999])
})

test('the oldest go until the rest is within its bytes', async () => {
  const path = temporaryFolder()
  for (const number of [1, 2, 3, 4, 5]) logOf(path, number, { bytes: 1_000, ageMs: number * 60_000 })
  expect(await tidied(path, { folderBytes: 3_500 })).toEqual([1, 2, 3, 999])
})

test('logs of runs that go on stay, and so does whatever is no log', async () => {
  const path = temporaryFolder()
  const old = { ageMs: 10 * DAY_MS }
  logOf(path, 1, old)
  writeFileSync(join(path, 'notes.log'), 'not of this package')
  const folder = new LogFolder(path, { logBytes: 1_000, folderBytes: 10_000, ageMs: DAY_MS })
  const goingOn = await folder.begin(run(2))
  utimesSync(goingOn.log.path, 0, 0)
  await (await folder.begin(run(3))).over()
  expect(readdirSync(path).sort()).toEqual([`${idOf(2)}-1.log`, `${idOf(2)}-1.pid`, `${idOf(3)}-1.log`, 'notes.log'])
  await goingOn.over()
  expect(readdirSync(path).filter((name) => name.endsWith('.pid'))).toEqual([])
})

test('the folder is looked through again when enough was written', async () => {
  const path = temporaryFolder()
  const folder = new LogFolder(path, { logBytes: 1_000, folderBytes: 8_000, ageMs: DAY_MS })
  for (let number = 1; number <= 40; number++) {
    const files = await folder.begin(run(number))
    await files.log.write(Buffer.alloc(1_000))
    await files.over()
    // Each is older than the next.
    utimesSync(files.log.path, number, number)
  }
  // They are also far too old: every look but the last one's own left nothing else.
  expect(numbers(path).length).toBeLessThanOrEqual(2)
})
