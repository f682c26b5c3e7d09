import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Source } from '@millrace/client'
import type { SourceEntry } from '@millrace/core'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Step, testFiles } from '../testing/files.ts'
import { JournalLog } from './log.ts'
import { HEADER_BYTES } from './segment.ts'

const AT = Date.UTC(2030, 0, 1)
const [A, B]: [Source, Source] = [
  { uuid: '00000000-0000-4000-8000-00000000000a', number: 10 },
  { uuid: '00000000-0000-4000-8000-00000000000b', number: 11 },
]
/** Two of them are more than a file takes. */
const LARGE = 'x'.repeat(5 * 2 ** 20)

const entry = (...data: string[]): SourceEntry => ({ at: AT, jobs: data.map((text) => ({ name: 'a', data: JSON.stringify(text) })) })
const files = (folder: string) => readdirSync(folder).toSorted()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-log-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** All that is there, as (number of the source, place, data), dropped as it is read. */
async function drain(log: JournalLog): Promise<[number, number, string][]> {
  const all: [number, number, string][] = []
  for (let chunk = await log.read(); chunk !== undefined; chunk = await log.read()) {
    let place = chunk.first
    for (const { jobs } of chunk.entries) for (const { data } of jobs) all.push([chunk.source.number, place++, JSON.parse(data as string)])
    expect(place).toBe(chunk.next.place)
    await log.drop(chunk)
  }
  return all
}

async function drained(where = folder): Promise<[number, number, string][]> {
  const log = await JournalLog.open(where)
  const all = await drain(log)
  await log.close()
  return all
}

test.each<[string, (file: string) => void]>([
  ['deleted', (file) => rmSync(file)],
  ['moved away', (file) => renameSync(file, `${file}.moved`)],
  ['replaced', (file) => [rmSync(file), writeFileSync(file, '')]],
])('a file that is %s: nothing more is kept in it, and what it has is still sent', async (_how, harm) => {
  const log = await JournalLog.open(folder)
  await log.write(A, 1, [entry('1')])
  harm(join(folder, files(folder)[0] as string))
  await expect(log.write(A, 2, [entry('2')])).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('deleted, moved or replaced'),
  })
  await log.write(A, 3, [entry('3')])
  await log.write(A, 4, [entry('4')])
  const [left = ''] = files(folder).filter((name) => name.endsWith('2.journal'))
  const copy = mkdtempSync(join(tmpdir(), 'millrace-log-'))
  copyFileSync(join(folder, left), join(copy, left))
  expect(await drained(copy)).toEqual([
    [10, 3, '3'],
    [10, 4, '4'],
  ])
  rmSync(copy, { recursive: true })
  expect((await drain(log)).map(([, , data]) => data)).toEqual(['1', '3', '4'])
  await log.close()
})

describe('what is written', () => {
  test('is read in order, with its places; nothing is left of it after that', async () => {
    const log = await JournalLog.open(folder)
    await log.write(A, 1, [entry('1'), entry('2', '3')])
    await log.write(A, 4, [entry('4')])
    expect(log.bytes).toBeGreaterThan(0)
    expect(await drain(log)).toEqual([
      [10, 1, '1'],
      [10, 2, '2'],
      [10, 3, '3'],
      [10, 4, '4'],
    ])
    expect(log.bytes).toBe(0)
    expect(await log.read()).toBeUndefined()
    await log.write(A, 5, [entry('5')])
    expect(await drain(log)).toEqual([[10, 5, '5']])
    await log.close()
    expect(files(folder)).toEqual([])
  })

  test('is read again until it is dropped, also by the next process', async () => {
    const log = await JournalLog.open(folder)
    await log.write(A, 7, [entry('7')])
    expect(await log.read()).toEqual(await log.read())
    await log.close()
    expect(await drained()).toEqual([[10, 7, '7']])
    expect(files(folder)).toEqual([])
  })

  test('goes to several files, of which each is removed when it was read, and few are open', async () => {
    let opened = 0
    const counting = async (...args: Parameters<typeof open>) => {
      const handle = await open(...args)
      opened++
      const close = handle.close.bind(handle)
      handle.close = () => {
        opened--
        return close()
      }
      return handle
    }
    const log = await JournalLog.open(folder, counting)
    for (let place = 1; place <= 8; place++) await log.write(A, place, [entry(`${place} ${LARGE}`)])
    expect(files(folder)).toHaveLength(4)
    expect(opened).toBe(2)
    for (let left = 4; left > 1; left--) {
      for (const _half of [1, 2]) {
        const chunk = await log.read()
        if (chunk !== undefined) await log.drop(chunk)
      }
      expect(files(folder)).toHaveLength(left - 1)
    }
    expect((await drain(log)).map(([, place]) => place)).toEqual([7, 8])
    await log.close()
    expect(opened).toBe(0)
    expect(files(folder)).toEqual([])
  })

  test('keeps the sources apart, and their order', async () => {
    const first = await JournalLog.open(folder)
    await first.write(A, 1, [entry('1')])
    await first.write(A, 2, [entry('2')])
    await first.close()
    const second = await JournalLog.open(folder)
    expect([...second.numbers]).toEqual([10])
    await second.write(B, 1, [entry('3')])
    // As where the ids of one are used up.
    await second.write(A, 9, [entry('4')])
    await second.write(B, 20, [entry('5')])
    expect(await drain(second)).toEqual([
      [10, 1, '1'],
      [10, 2, '2'],
      [11, 1, '3'],
      [10, 9, '4'],
      [11, 20, '5'],
    ])
    await second.close()
  })

  test('of many small calls comes in chunks of so many, whatever lies in between', async () => {
    const log = await JournalLog.open(folder)
    for (let place = 1; place <= 2_500; place += 10) {
      await log.write(
        A,
        place,
        Array.from({ length: 10 }, (_, index) => entry(`${place + index}`.padEnd(300))),
      )
    }
    const chunk = await log.read()
    expect(chunk?.entries.length).toBeGreaterThan(100)
    expect(chunk?.entries.length).toBeLessThanOrEqual(1_000)
    expect((await drain(log)).map(([, place]) => place)).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1))
    await log.close()
  })
})

describe('after a kill', () => {
  test('at every byte of the last write, what was synced before is there, and nothing else', async () => {
    const log = await JournalLog.open(folder)
    await log.write(A, 1, [entry('1')])
    await log.write(A, 2, [entry('2', '3')])
    const [name = ''] = files(folder)
    const safe = readFileSync(join(folder, name)).length
    await log.write(A, 4, [entry('4'), entry('5')])
    const all = readFileSync(join(folder, name)).length
    for (let length = safe; length <= all; length++) {
      const copy = mkdtempSync(join(tmpdir(), 'millrace-log-'))
      copyFileSync(join(folder, name), join(copy, name))
      truncateSync(join(copy, name), length)
      const next = await JournalLog.open(copy)
      await next.write(B, 1, [entry('next')])
      const places = [...[1, 2, 3].map((place) => [10, place]), ...(length === all ? [4, 5].map((place) => [10, place]) : []), [11, 1]]
      expect((await drain(next)).map(([number, place]) => [number, place])).toEqual(places)
      await next.close()
      expect(files(copy)).toEqual([])
      rmSync(copy, { recursive: true })
    }
    await log.close()
  })

  test('at every byte of a new file, that file is gone', async () => {
    const log = await JournalLog.open(folder)
    await log.write(A, 1, [entry('1')])
    const [name = ''] = files(folder)
    await log.close()
    const bytes = readFileSync(join(folder, name))
    for (let length = 0; length < bytes.length; length++) {
      writeFileSync(join(folder, name), bytes.subarray(0, length))
      expect(await drained()).toEqual([])
      expect(files(folder)).toEqual([])
    }
  })
})

describe('a damaged file', () => {
  test.each([
    ['in its header', 20, 0],
    ['in a record', HEADER_BYTES + 15, HEADER_BYTES],
  ])('%s is named, with the place, and stays', async (_where, at, offset) => {
    const log = await JournalLog.open(folder)
    await log.write(A, 1, [entry('1')])
    await log.write(A, 2, [entry('2')])
    await log.close()
    const [name = ''] = files(folder)
    const file = join(folder, name)
    const bytes = readFileSync(file)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(file, bytes)
    await expect(JournalLog.open(folder)).rejects.toMatchObject({ name: 'JournalDamagedError', code: 'JOURNAL_DAMAGED', file, offset })
    expect(readFileSync(file)).toEqual(bytes)
  })
})

test('what is told is safe from a power cut: the bytes, and the name of each new file, are synced before', async () => {
  const { openFile, trace } = testFiles()
  const log = await JournalLog.open(folder, openFile)
  const steps = () => trace.splice(0).map((step) => step.replace(basename(folder), 'folder'))
  await log.write(A, 1, [entry('1')])
  const first = '000000000001.journal'
  expect(steps()).toEqual([`write ${first}`, `datasync ${first}`, 'sync folder', `write ${first}`, `datasync ${first}`])
  await log.write(A, 2, [entry('2')])
  expect(steps()).toEqual([`write ${first}`, `datasync ${first}`])
  // Another source begins another file.
  await log.write(B, 1, [entry('3')])
  const second = '000000000002.journal'
  expect(steps()).toEqual([`write ${second}`, `datasync ${second}`, 'sync folder', `write ${second}`, `datasync ${second}`])
  await log.close()
})

describe('a disk that fails', () => {
  test.each<[Step, string, string]>([
    ['write', 'ENOSPC', 'DISK_FULL'],
    ['write', 'EDQUOT', 'DISK_FULL'],
    ['write', 'EIO', 'STORAGE'],
    ['datasync', 'ENOSPC', 'DISK_FULL'],
    ['datasync', 'EIO', 'STORAGE'],
  ])('at %s with %s: nothing of the call is kept, and the next goes to another file', async (step, code, expected) => {
    const { openFile, fail } = testFiles()
    const log = await JournalLog.open(folder, openFile)
    await log.write(A, 1, [entry('1')])
    fail(step, code)
    const before = log.bytes
    await expect(log.write(A, 2, [entry('2')])).rejects.toMatchObject({
      code: expected,
      retryable: true,
      message: expect.stringContaining(code),
    })
    expect(log.bytes).toBe(before)
    await log.write(A, 3, [entry('3')])
    expect(files(folder)).toHaveLength(2)
    // As the next process finds it.
    const copy = join(folder, 'copy')
    mkdirSync(copy)
    for (const name of files(folder).filter((name) => name !== 'copy')) copyFileSync(join(folder, name), join(copy, name))
    const kept = [
      [10, 1, '1'],
      [10, 3, '3'],
    ]
    expect(await drained(copy)).toEqual(kept)
    expect(await drain(log)).toEqual(kept)
    await log.close()
    expect(files(folder)).toEqual(['copy'])
  })

  test.each<[Step, string, string]>([
    ['open', 'EMFILE', 'STORAGE'],
    ['write', 'ENOSPC', 'DISK_FULL'],
    ['datasync', 'EIO', 'STORAGE'],
  ])('at %s of a new file with %s: it is not there', async (step, code, expected) => {
    const { openFile, fail } = testFiles()
    const log = await JournalLog.open(folder, openFile)
    fail(step, code)
    await expect(log.write(A, 1, [entry('1')])).rejects.toMatchObject({ code: expected })
    expect(files(folder)).toEqual([])
    await log.write(A, 2, [entry('2')])
    expect(await drain(log)).toEqual([[10, 2, '2']])
    await log.close()
  })

  test('that does not take it back either: of unknown outcome, not forwarded in this process', async () => {
    const { openFile, fail } = testFiles()
    const log = await JournalLog.open(folder, openFile)
    await log.write(A, 1, [entry('1')])
    fail('datasync')
    fail('truncate')
    await expect(log.write(A, 2, [entry('2')])).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN', retryable: true })
    await log.write(A, 3, [entry('3')])
    const copy = join(folder, 'copy')
    mkdirSync(copy)
    for (const name of files(folder).filter((name) => name !== 'copy')) copyFileSync(join(folder, name), join(copy, name))
    expect((await drain(log)).map(([, place]) => place)).toEqual([1, 3])
    // In order, and nowhere twice, if it was kept after all.
    expect((await drained(copy)).map(([, place]) => place)).toEqual([1, 2, 3])
    await log.close()
  })

  test('at the sync of the folder: a file whose name may be lost is not there either, and nothing is told', async () => {
    const { openFile, fail } = testFiles()
    const log = await JournalLog.open(folder, openFile)
    fail('sync')
    await expect(log.write(A, 1, [entry('1')])).rejects.toMatchObject({ code: 'STORAGE' })
    expect(files(folder)).toEqual([])
    await log.close()
  })

  test('while what was written before is read: the file goes when it is done with, not before', async () => {
    const { openFile, fail } = testFiles()
    const log = await JournalLog.open(folder, openFile)
    await log.write(A, 1, [entry('1')])
    expect(await drain(log)).toHaveLength(1)
    fail('write', 'ENOSPC')
    const written = expect(log.write(A, 2, [entry('2')])).rejects.toMatchObject({ code: 'DISK_FULL' })
    while (files(folder).length > 0) {
      await log.read()
      await quiet()
    }
    await written
    await log.close()
  })

  test('a file that cannot be opened to be read: it is read the next time', async () => {
    const first = await JournalLog.open(folder)
    await first.write(A, 1, [entry('1')])
    await first.close()
    const { openFile, fail } = testFiles()
    const log = await JournalLog.open(folder, openFile)
    fail('open', 'EMFILE')
    await expect(log.read()).rejects.toThrow('EMFILE')
    expect(await drain(log)).toEqual([[10, 1, '1']])
    await log.close()
  })
})
