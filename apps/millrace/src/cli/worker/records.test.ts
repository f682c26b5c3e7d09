// Records of workers: whose process is meant, and what becomes of those that are gone.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { beginningOf, isRunning } from './processes.ts'
import { claimRecord, currentRecord, liveRecords, recordFolder, removeRecord, type WorkerRecord, writeRecord } from './records.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'millrace-records-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return join(made, 'workers')
}

const own = (changes: Partial<WorkerRecord> = {}): WorkerRecord => ({
  id: 'a/b:c',
  pid: process.pid,
  beginning: beginningOf(process.pid) as string,
  target: 'unix:/s',
  log: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  draining: false,
  ...changes,
})

test("one that lives is found, by whatever name; and is this user's alone", () => {
  const at = folder()
  expect(liveRecords(at)).toEqual([])
  writeRecord(at, own())
  writeRecord(at, own({ draining: true }))
  expect(liveRecords(at)).toEqual([own({ draining: true })])
  expect(currentRecord(at, own())).toEqual(own({ draining: true }))
  expect(readdirSync(at)).toHaveLength(1)
})

test('a name that a worker has is claimed by no other; that of one that is gone is', () => {
  const at = folder()
  const living = { pid: process.ppid, beginning: beginningOf(process.ppid) as string }
  claimRecord(at, own(living))
  expect(() => claimRecord(at, own())).toThrow(
    expect.objectContaining({ code: 'WORKER_EXISTS', message: expect.stringContaining(`${process.ppid}`) }),
  )
  expect(liveRecords(at)).toEqual([own(living)])
  claimRecord(at, own({ id: 'other' }))
  expect(liveRecords(at).map(({ id }) => id)).toEqual(['a/b:c', 'other'])
  for (const gone of [JSON.stringify(own({ beginning: 'another boot:1' })), '{', '']) {
    writeFileSync(join(at, 'other.json'), gone)
    claimRecord(at, own({ id: 'other' }))
    expect(currentRecord(at, own({ id: 'other' }))).toEqual(own({ id: 'other' }))
  }
  expect(readdirSync(at)).toHaveLength(2)
})

test('a process of the same number that began at another time is another one: its record goes', () => {
  const at = folder()
  writeRecord(at, own({ id: 'before', beginning: 'another boot:1' }))
  writeRecord(at, own({ id: 'now' }))
  expect(currentRecord(at, own({ id: 'before' }))).toBeUndefined()
  expect(liveRecords(at).map(({ id }) => id)).toEqual(['now'])
  expect(readdirSync(at)).toEqual(['now.json'])
})

test('a successor of the same name keeps its record; what makes no sense is passed over', () => {
  const at = folder()
  writeRecord(at, own())
  removeRecord(at, { id: own().id, pid: 1 })
  expect(liveRecords(at)).toHaveLength(1)
  writeFileSync(join(at, 'rubbish.json'), '{')
  expect(liveRecords(at)).toHaveLength(1)
  removeRecord(at, own())
  expect(liveRecords(at)).toEqual([])
  expect(existsSync(join(at, 'rubbish.json'))).toBe(true)
})

test('a record of the longest id that an engine takes has a name that every file system takes; another id has another one', () => {
  const at = folder()
  const ids = ['a', 'b'].map((last) => `${'/'.repeat(127)}${last}`)
  for (const id of ids) claimRecord(at, own({ id }))
  expect(new Set(liveRecords(at).map(({ id }) => id))).toEqual(new Set(ids))
  for (const name of readdirSync(at)) expect(`${name}.${2 ** 32}.partial`.length).toBeLessThanOrEqual(255)
})

test('where records are kept', () => {
  expect(recordFolder({ MILLRACE_STATE_DIR: '/a', XDG_STATE_HOME: '/b' })).toBe('/a/workers')
  expect(recordFolder({ XDG_STATE_HOME: '/b' })).toBe('/b/millrace/workers')
  expect(recordFolder({})).toMatch(/\/\.local\/state\/millrace\/workers$/)
})

test('nobody begins at a number that is free', () => {
  expect(beginningOf(2 ** 30)).toBeUndefined()
})

test('a process whose beginning is unknown runs; one that began at another time does not', () => {
  const beginning = beginningOf(process.pid) as string
  expect(isRunning(process.pid, beginning)).toBe(true)
  expect(isRunning(process.pid, '')).toBe(true)
  expect(isRunning(process.pid, `${beginning}1`)).toBe(false)
  expect(isRunning(2 ** 30, beginning)).toBe(false)
})
