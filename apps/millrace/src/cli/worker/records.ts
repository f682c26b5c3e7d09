/** Records of the workers that `millrace worker start` runs on this machine: a file for each, while it lives. */
import { createHash } from 'node:crypto'
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { WorkerExistsError } from '../errors.ts'
import { isRunning } from './processes.ts'

export interface WorkerRecord {
  /** The public name of the worker. */
  readonly id: string
  readonly pid: number
  /** Distinguishes its process from later ones with the same id. */
  readonly beginning: string
  /** The file or the URL that it works for. */
  readonly target: string
  /** The log file of a detached worker; null for others. */
  readonly log: string | null
  /** An ISO time. */
  readonly startedAt: string
  /** True if the worker has been asked to stop: a further signal would end it. */
  readonly draining: boolean
}

/** Returns the folder of records, in `MILLRACE_STATE_DIR` or in the user's folder for the state of programs. */
export function recordFolder(env: NodeJS.ProcessEnv): string {
  const { MILLRACE_STATE_DIR: own, XDG_STATE_HOME: state } = env
  const folder = own ? own : join(state ? state : join(homedir(), '.local', 'state'), 'millrace')
  return join(folder, 'workers')
}

/**
 * Writes the first record of a worker. Each record has a name of its own, so that `worker stop` finds every worker.
 *
 * @throws WorkerExistsError if a worker that lives has the name
 */
export function claimRecord(folder: string, record: WorkerRecord): void {
  const path = pathOf(folder, record.id)
  const partial = writePartial(folder, record)
  try {
    while (!isLinked(partial, path)) {
      refuseAlive(readRecord(path))
      // It is gone, or there is a new one since: that goes back to its place.
      const former = `${path}.${record.pid}.former`
      if (!isMoved(path, former)) continue
      const moved = readRecord(former)
      if (moved !== undefined && isAlive(moved)) isLinked(former, path)
      rmSync(former, { force: true })
      refuseAlive(moved)
    }
  } finally {
    rmSync(partial, { force: true })
  }
}

/** @throws WorkerExistsError if the worker of a record lives. */
export function refuseAlive(record: WorkerRecord | undefined): void {
  if (record !== undefined && isAlive(record)) throw new WorkerExistsError(record.id, record.pid)
}

/** Writes the record of a worker that has claimed it, atomically. */
export function writeRecord(folder: string, record: WorkerRecord): void {
  renameSync(writePartial(folder, record), pathOf(folder, record.id))
}

/** Returns the path of a file with the record, readable only by this user. */
function writePartial(folder: string, record: WorkerRecord): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const partial = `${pathOf(folder, record.id)}.${record.pid}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' })
  return partial
}

/** The errors of file systems without hard links. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Gives a file a second name. Returns false if that is taken. */
function isLinked(from: string, to: string): boolean {
  try {
    return unless('EEXIST', () => linkSync(from, to))
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error
    return unless('EEXIST', () => copyFileSync(from, to, constants.COPYFILE_EXCL))
  }
}

/** Gives a file another name. Returns false if there is none. */
function isMoved(from: string, to: string): boolean {
  return unless('ENOENT', () => renameSync(from, to))
}

function unless(code: string, act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false
    throw error
  }
}

/** Removes a record. That of a successor with the same name stays. */
export function removeRecord(folder: string, { id, pid }: Pick<WorkerRecord, 'id' | 'pid'>): void {
  if (readRecord(pathOf(folder, id))?.pid === pid) rmSync(pathOf(folder, id), { force: true })
}

/** Returns the current record of a worker; undefined if its process has ended. */
export function currentRecord(folder: string, { id, pid }: Pick<WorkerRecord, 'id' | 'pid'>): WorkerRecord | undefined {
  const record = readRecord(pathOf(folder, id))
  return record?.pid === pid && isAlive(record) ? record : undefined
}

/** Returns the records of live workers. Removes those that killed workers have left. */
export function liveRecords(folder: string): WorkerRecord[] {
  const files = readFolder(folder).filter((name) => name.endsWith('.json'))
  return files.flatMap((name) => {
    const record = readRecord(join(folder, name))
    if (record === undefined) return []
    if (isAlive(record)) return [record]
    removeRecord(folder, record)
    return []
  })
}

export function isAlive({ pid, beginning }: Pick<WorkerRecord, 'pid' | 'beginning'>): boolean {
  return isRunning(pid, beginning)
}

/** The longest part of a file's name that says an id: file systems take 255 bytes, and a record that is written has more behind it. */
const NAME_LENGTH = 200
const HASH_LENGTH = 32

/** Returns a file name for an id, which may contain slashes and colons. That of a long id ends in a hash. */
export function fileNameOf(id: string): string {
  const name = encodeURIComponent(id)
  if (name.length <= NAME_LENGTH) return name
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH)
  return `${name.slice(0, NAME_LENGTH - HASH_LENGTH - 1)}-${hash}`
}

function pathOf(folder: string, id: string): string {
  return join(folder, `${fileNameOf(id)}.json`)
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Returns undefined if there is no record, or if it cannot be parsed. */
function readRecord(path: string): WorkerRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as WorkerRecord
    return typeof record.id === 'string' && Number.isSafeInteger(record.pid) && typeof record.beginning === 'string' ? record : undefined
  } catch {
    return undefined
  }
}
