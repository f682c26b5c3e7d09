// What is kept of logs, and for how long.
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
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

test('the files of a run count together, and go together', async () => {
  const path = temporaryFolder()
  const rotated = (number: number, minutes: number) => {
    logOf(path, number, { bytes: 1_000, ageMs: minutes * 60_000 })
    // Its beginning is older than what others have: the run is as old as its end.
    for (const suffix of ['1', '2']) {
      const file = join(path, `${idOf(number)}-1.${suffix}.log`)
      writeFileSync(file, Buffer.alloc(1_000))
      const at = Date.now() / 1_000 - 36_000
      utimesSync(file, at, at)
    }
  }
  rotated(1, 1)
  rotated(2, 3)
  logOf(path, 3, { bytes: 1_000, ageMs: 120_000 })
  logOf(path, 4, { bytes: 1_000, ageMs: 240_000 })
  // 3,000 and 1,000 fit; of the next 3,000 nothing is left, though 500 would have been.
  expect(await tidied(path, { folderBytes: 4_500 })).toEqual([1, 1, 1, 3, 999])
})

test('what was written in all files of a run counts towards the next look', async () => {
  const path = temporaryFolder()
  const folder = new LogFolder(path, { logBytes: 6_000, folderBytes: 64_000, ageMs: DAY_MS })
  await (await folder.begin(run(1))).over()
  logOf(path, 2, { ageMs: 2 * DAY_MS })
  const files = await folder.begin(run(3))
  // A sixteenth of the folder is 4,000: more than one of its files takes.
  await files.log.write(Buffer.alloc(5_000))
  await files.over()
  expect(numbers(path)).toEqual([1, 3, 3, 3])
})

test('logs of runs that go on stay, and so does whatever is no log', async () => {
  const path = temporaryFolder()
  const old = { ageMs: 10 * DAY_MS }
  logOf(path, 1, old)
  writeFileSync(join(path, `${idOf(2)}-1.3.log`), 'not of this package')
  writeFileSync(join(path, 'notes.log'), 'not of this package')
  const folder = new LogFolder(path, { logBytes: 1_000, folderBytes: 10_000, ageMs: DAY_MS })
  const goingOn = await folder.begin(run(2))
  await goingOn.log.write(Buffer.alloc(1_000))
  const own = ['.1.log', '.2.log', '.log'].map((end) => `${idOf(2)}-1${end}`)
  for (const name of own) utimesSync(join(path, name), 0, 0)
  await (await folder.begin(run(3))).over()
  expect(readdirSync(path).sort()).toEqual([...own, `${idOf(2)}-1.3.log`, `${idOf(2)}-1.pid`, `${idOf(3)}-1.log`, 'notes.log'].sort())
  await goingOn.over()
  expect(readdirSync(path).filter((name) => name.endsWith('.pid'))).toEqual([])
})

test('the log of a run that goes on stays where the system lets nothing be recorded of it', async () => {
  const path = temporaryFolder()
  const folder = new LogFolder(path, { logBytes: 1_000, folderBytes: 10_000, ageMs: DAY_MS })
  const goingOn = await folder.begin(run(1))
  rmSync(join(path, `${idOf(1)}-1.pid`), { force: true })
  utimesSync(goingOn.log.path, 0, 0)
  logOf(path, 2, { ageMs: 2 * DAY_MS })
  await (await folder.begin(run(3))).over()
  expect(numbers(path)).toEqual([1, 3])
  await goingOn.over()
})

test('the folder is looked through again when enough was written', async () => {
  const path = temporaryFolder()
  const folder = new LogFolder(path, { logBytes: 3_000, folderBytes: 8_000, ageMs: DAY_MS })
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
