/**
 * A folder's lock, which the system frees when the process dies: an SQLite file of its own that nobody ever writes. Node has no other
 * way to a lock of the system's; a file with a pid in it means nothing to another container.
 */
import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { NotWritableError } from '@millrace/core'
import { JournalInUseError } from '../errors.ts'

const SQLITE_BUSY = 5

/** @throws JournalInUseError, NotWritableError */
export async function lockFolder(folder: string): Promise<() => void> {
  // Not before it is wanted: Node 22 prints that it is experimental.
  const sqlite = await import('node:sqlite')
  const holder = join(folder, 'holder')
  let lock: DatabaseSync | undefined
  try {
    const path = join(folder, 'lock')
    createLock(path)
    lock = new sqlite.DatabaseSync(path)
    lock.exec('BEGIN EXCLUSIVE')
    // Left by a process that was killed, or a link that somebody has put there.
    rmSync(holder, { force: true })
    writeFileSync(holder, `process ${process.pid} on ${hostname()}`, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    lock?.close()
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new NotWritableError(`the folder of the journal, ${folder}, cannot be locked: ${(cause as Error).message}`, {}, { cause })
    }
    throw new JournalInUseError(
      `${folder} is the journal of ${holderOf(holder)} just now: stop that, or give each process a folder of its own`,
    )
  }
  return () => {
    try {
      rmSync(holder, { force: true })
    } finally {
      lock.close()
    }
  }
}

/**
 * For its owner alone: whoever can read the file can lock it. Made elsewhere, it gets its name when it is closed: to close a descriptor of
 * it drops the lock that another thread of this process may have taken meanwhile.
 */
function createLock(path: string): void {
  if (existsSync(path)) return
  const folder = mkdtempSync(`${path}.partial-`)
  try {
    const made = join(folder, 'lock')
    writeFileSync(made, '', { mode: 0o600, flag: 'wx' })
    linkSync(made, path)
  } catch {
    // Another process was first, or the file system has no links: SQLite creates it, or says why it cannot.
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function holderOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return 'another process'
  }
}
