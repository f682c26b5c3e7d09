// A file that was emptied or cut is never opened as a new one; one that never had content is.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileTruncatedError, ForeignLogError, NotADatabaseError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { STRIDE } from '../../../testkit/src/testing/runs.ts'
import { auditFile } from '../audit.ts'
import { openStore } from '../open-store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'

const open = (file: string) => openStore(storeOptions(file, { ballastBytes: 4_096 }))

function insert(turns: Turns, bytes: number): void {
  turns.insert({ data: JSON.stringify('x'.repeat(bytes)) })
  turns.commit()
}

/** With content, closed by its engine, and no ballast. */
function written(): string {
  const file = join(temporaryFolder(), 'jobs.db')
  const store = open(file)
  insert(new Turns(store), 20_000)
  store.close()
  return file
}

/** As a killed engine leaves it: its database, and beside it a log with the pages of its last job. */
function killed(): string {
  const file = join(temporaryFolder(), 'jobs.db')
  const store = open(join(temporaryFolder(), 'jobs.db'))
  const turns = new Turns(store)
  insert(turns, 200_000)
  store.care.foldWal()
  insert(turns, 40_000)
  // By another process: to close a file here would drop the locks of this one.
  for (const end of ['', '-wal', '-owner']) spawnSync('cp', [`${store.file}${end}`, `${file}${end}`])
  store.close()
  return file
}

function refusal(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('it was opened')
}

describe('an emptied file is refused', () => {
  test.each([0, 1])('with %i bytes beside the file of its owner', (bytes) => {
    const file = written()
    writeFileSync(file, 'x'.repeat(bytes))
    const before = readdirSync(join(file, '..'))
    const error = refusal(() => open(file))
    expect(error).toBeInstanceOf(FileTruncatedError)
    expect(error).toMatchObject({ code: 'FILE_TRUNCATED', path: file, bytes, retryable: false })
    expect(error.message).toBe(
      `${file} was emptied: it has ${bytes} bytes, and a queue has left jobs.db-owner beside it. Restore a backup; or, to start with an empty queue, delete jobs.db, jobs.db-owner`,
    )
    expect(readdirSync(join(file, '..'))).toEqual(before)
    expect(statSync(file).size).toBe(bytes)
    expect(refusal(() => auditFile(file))).toBeInstanceOf(FileTruncatedError)
    // As it says.
    rmSync(file)
    rmSync(`${file}-owner`)
    open(file).close()
  })

  test.each(['-ballast', '-owner', '-wal', '-journal', '-control'])('with nothing but jobs.db%s beside it', (end) => {
    const file = join(temporaryFolder(), 'jobs.db')
    writeFileSync(file, '')
    writeFileSync(`${file}${end}`, 'something')
    expect(refusal(() => open(file)).message).toContain(`a queue has left jobs.db${end} beside it`)
    expect(readFileSync(`${file}${end}`, 'utf8')).toBe('something')
  })

  test('after a kill its log stays', () => {
    const file = killed()
    truncateSync(file, 0)
    const log = readFileSync(`${file}-wal`)
    expect(refusal(() => open(file)).message).toContain('jobs.db-owner, jobs.db-wal')
    expect(readFileSync(`${file}-wal`).equals(log)).toBe(true)
  })

  test('a missing file whose log is left is refused, and without the log it is new', () => {
    const file = killed()
    rmSync(file)
    expect(refusal(() => open(file))).toMatchObject({ code: 'FILE_TRUNCATED', message: expect.stringMatching(/Put the file back/) })
    expect(existsSync(file)).toBe(false)
    rmSync(`${file}-wal`)
    open(file).close()
  })
})

describe('a cut file is refused', () => {
  const last = (file: string) => statSync(file).size - 1
  test.each([
    ['without its last byte', last],
    ['without its last half page', (file: string) => statSync(file).size - 2_048],
    ['with half a page too much', (file: string) => statSync(file).size + 2_048],
  ])('%s', (_what, bytes) => {
    const file = written()
    truncateSync(file, bytes(file))
    const found = readFileSync(file)
    const error = refusal(() => open(file))
    expect(error).toMatchObject({ code: 'FILE_TRUNCATED', path: file, bytes: found.length })
    expect(error.message).toMatch(/Restore a backup, and keep this file$/)
    expect(readFileSync(file).equals(found)).toBe(true)
  })

  test('beside a log that has not the pages that are missing', () => {
    const file = killed()
    const frames = Math.floor((statSync(`${file}-wal`).size - 32) / (24 + 4_096))
    const pages = statSync(file).size / 4_096
    expect(frames).toBeLessThan(40)
    truncateSync(file, (pages - 40) * 4_096)
    expect(refusal(() => open(file))).toMatchObject({ code: 'FILE_TRUNCATED' })
  })

  test('a file that is shorter than its log says is opened, with all that the log has', () => {
    const file = killed()
    const store = open(file)
    expect(store.jobs([1, 2])).toHaveLength(2)
    store.close()
  })

  test('a single byte that no queue has left is no database', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    writeFileSync(file, 'x')
    expect(refusal(() => open(file))).toBeInstanceOf(NotADatabaseError)
  })
})

describe('a first start that is killed', () => {
  const program = new URL('../testing/killed-start.ts', import.meta.url).pathname
  const start = (file: string, call: number) => spawnSync(process.execPath, [program, file, String(call)], { encoding: 'utf8' })

  // Each is a process of its own: without a file, where less can go wrong, every third call. A start has some thirty calls.
  test.each([
    ['on a file that `touch` has made', 1, (file: string) => writeFileSync(file, '')],
    ['where no file is', 3, () => {}],
  ])('at any call, %s, can start again', (_what, step, make) => {
    let call = 1
    for (; ; call += Math.ceil((step * STRIDE) / 2)) {
      const file = join(temporaryFolder(), 'jobs.db')
      make(file)
      const { signal, status, stderr } = start(file, call)
      if (signal === null) {
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
        break
      }
      open(file).close()
      // From then on it has content, and nothing says that it is new.
      expect(existsSync(`${file}-new`)).toBe(false)
      writeFileSync(file, '')
      expect(refusal(() => open(file))).toBeInstanceOf(FileTruncatedError)
    }
    expect(call).toBeGreaterThan(20)
  })
})

describe('a backup beside the log of the file that it replaces', () => {
  /** Of a queue that has one job. */
  async function backup(): Promise<string> {
    const store = open(join(temporaryFolder(), 'jobs.db'))
    insert(new Turns(store), 20_000)
    const copy = join(temporaryFolder(), 'copy.db')
    await store.care.backup(copy)
    store.close()
    return copy
  }

  test('is refused and left as it is, and opened as soon as the log is deleted', async () => {
    const file = killed()
    spawnSync('cp', [await backup(), file])
    const [content, log] = [readFileSync(file), readFileSync(`${file}-wal`)]
    const error = refusal(() => open(file))
    expect(error).toBeInstanceOf(ForeignLogError)
    expect(error).toMatchObject({ code: 'FOREIGN_LOG', path: file, retryable: false })
    expect(error.message).toBe(
      `${file} is a backup, and jobs.db-wal beside it (${log.length} bytes) is the log of the file that was there before: it would break the backup. Delete jobs.db-wal and jobs.db-shm, and open jobs.db again`,
    )
    expect(refusal(() => auditFile(file))).toBeInstanceOf(ForeignLogError)
    expect(refusal(() => open(file))).toBeInstanceOf(ForeignLogError)
    expect(readFileSync(file).equals(content)).toBe(true)
    expect(readFileSync(`${file}-wal`).equals(log)).toBe(true)
    // As it says.
    rmSync(`${file}-wal`)
    rmSync(`${file}-shm`, { force: true })
    open(file).close()
    expect(auditFile(file).problems).toEqual({ integrity: [], counters: [], lists: [] })
  })

  test('is no reason to refuse a log without content, or the log of an engine that was killed', async () => {
    const file = killed()
    open(file).close()
    spawnSync('cp', [await backup(), file])
    writeFileSync(`${file}-wal`, '')
    open(file).close()
  })

  test('is not looked at while an engine has the file open', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const store = open(file)
    insert(new Turns(store), 200_000)
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(32)
    expect(refusal(() => open(file))).toMatchObject({ code: 'ALREADY_OPEN' })
    expect(auditFile(file).problems.integrity).toEqual([])
    store.close()
  })
})
