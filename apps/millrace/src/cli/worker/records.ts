/** Records of the workers that `millrace worker start` runs on this machine: a file for each, while it lives. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beginningOf } from './processes.ts'

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

/** Writes a record atomically, readable only by this user. */
export function writeRecord(folder: string, record: WorkerRecord): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const partial = `${pathOf(folder, record.id)}.${record.pid}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(partial, pathOf(folder, record.id))
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
  return beginningOf(pid) === beginning
}

/** Returns a file name for an id, which may contain slashes and colons. */
export function fileNameOf(id: string): string {
  return encodeURIComponent(id)
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
