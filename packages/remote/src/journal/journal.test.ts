/** A producer's journal as its engine uses it: what it answers while its disk fails, and what is there after that. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Command, Forwarded, NewJob } from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { quiet, seededRandom } from '@millrace/testkit/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFiles } from '../testing/files.ts'
import { Journal } from './journal.ts'
import { REFUSED_FILE } from './refusals.ts'

type Forward = Command & { readonly op: 'forward' }

const MIB = 2 ** 20
const job = (data: string): NewJob => ({ name: 'a', data: JSON.stringify(data) })
/** A third of what the journal of these tests may hold. */
const large = (data: string): NewJob => job(data.repeat(300_000))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function open(files = testFiles()) {
  const clock = new VirtualClock()
  return Journal.open({ folder, maxBytes: MIB, clock, random: seededRandom(1), logger: undefined, openFile: files.openFile })
}

/** What is forwarded of the folder, by an engine that takes all but what it is told to refuse. */
async function forwarded(files = testFiles(), refused: (data: string) => boolean = () => false) {
  const journal = await open(files)
  const taken: string[] = []
  journal.start(async ({ first, entries }: Forward): Promise<Forwarded> => {
    let place = first
    for (const { jobs } of entries) {
      const [one] = jobs
      const data = JSON.parse(one?.data as string)
      if (refused(data)) return { mark: place - 1, merged: [], refused: { place, refusal: { code: 'UNIQUE_CONFLICT', message: 'taken' } } }
      taken.push(data)
      place += jobs.length
    }
    return { mark: place - 1, merged: [] }
  })
  await journal.forwarded()
  await journal.close()
  return taken
}

test('calls that the disk has refused take no room: once there is space again, there is room for as much as before', async () => {
  const files = testFiles()
  const journal = await open(files)
  for (let round = 0; round < 10; round++) {
    files.fail('write', 'ENOSPC')
    const calls = [journal.append([large('x')]), journal.append([large('y')])]
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(outcomes[0]).toMatchObject({ reason: { code: 'DISK_FULL' } })
  }
  // The bound is what it was.
  for (const data of ['1', '2', '3']) await journal.append([large(data)])
  await expect(journal.append([large('4')])).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
  await journal.close()
  expect((await forwarded()).map((data) => data[0])).toEqual(['1', '2', '3'])
})

test('of calls that are refused in between nothing is forwarded, and the others are in their order', async () => {
  const files = testFiles()
  const journal = await open(files)
  const stored: string[] = []
  for (let number = 1; number <= 9; number++) {
    if (number % 3 === 0) files.fail(number === 6 ? 'datasync' : 'write', 'EIO')
    await journal.append([job(String(number))]).then(
      () => stored.push(String(number)),
      (error) => expect(error).toMatchObject({ code: 'STORAGE' }),
    )
  }
  await journal.close()
  expect(stored).toEqual(['1', '2', '4', '5', '7', '8'])
  expect(await forwarded()).toEqual(stored)
})

test('closed while it writes: what was called before is stored, and there for the next process', async () => {
  const files = testFiles()
  const journal = await open(files)
  const release = files.hold('datasync')
  const calls = Array.from({ length: 60 }, (_, number) => journal.append([job(String(number))]))
  await quiet()
  const later = [journal.append([job('60')]), journal.append([job('61')])]
  let closed = false
  const closing = journal.close().then(() => {
    closed = true
  })
  await expect(journal.append([job('too late')])).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await quiet()
  expect(closed).toBe(false)
  release()
  await closing
  expect((await Promise.allSettled([...calls, ...later])).map(({ status }) => status)).toEqual(Array(62).fill('fulfilled'))
  expect(await forwarded()).toEqual(Array.from({ length: 62 }, (_, number) => String(number)))
})

test('what the engine has refused is synced to its file, and so is its name, before the journal lets go of it', async () => {
  const journal = await open()
  for (const data of ['1', 'no', '3']) await journal.append([job(data)])
  await journal.close()
  const files = testFiles()
  expect(await forwarded(files, (data) => data === 'no')).toEqual(['1', '3'])
  const steps = files.trace.map((step) => step.replace(basename(folder), 'folder'))
  expect(steps).toEqual([`write ${REFUSED_FILE}`, `datasync ${REFUSED_FILE}`, 'sync folder'])
  expect(readdirSync(folder).filter((name) => name.endsWith('.journal'))).toEqual([])
})

test.each(['write', 'datasync', 'sync'] as const)(
  'a refusal that cannot be noted, at %s: the journal keeps the entry for the next try',
  async (step) => {
    const journal = await open()
    await journal.append([job('no')])
    await journal.close()
    const files = testFiles()
    const failing = await open(files)
    files.fail(step, 'ENOSPC')
    let asked = 0
    failing.start(async ({ first }: Forward) => {
      asked++
      return { mark: first - 1, merged: [], refused: { place: first, refusal: { code: 'UNIQUE_CONFLICT', message: 'taken' } } }
    })
    await failing.forwarded()
    await failing.close()
    expect(asked).toBe(1)
    expect(await forwarded(testFiles(), () => true)).toEqual([])
    const lines = readFileSync(join(folder, REFUSED_FILE), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).jobs[0].data)).toContain('no')
    expect(readdirSync(folder).filter((name) => name.endsWith('.journal'))).toEqual([])
  },
)
