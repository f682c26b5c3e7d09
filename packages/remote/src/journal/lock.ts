/**
 * A folder's lock, which the system frees when the process dies: an SQLite file of its own that is never written. Node has no other
 * access to the system's locks; a file with a pid in it means nothing to another container.
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
  // Imported only when it is needed: Node 22 prints that it is experimental.
  const sqlite = await import('node:sqlite')
  const holder = join(folder, 'holder')
  let lock: DatabaseSync | undefined
  try {
    const path = join(folder, 'lock')
    createLock(path)
    lock = new sqlite.DatabaseSync(path)
    lock.exec('BEGIN EXCLUSIVE')
    // A killed process may have left it, or somebody may have put a link there.
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
 * Creates the file for its owner alone: anyone who can read it can lock it. It is created elsewhere, and gets its name after it is
 * closed: closing a descriptor of it drops the lock that another thread of this process may have taken meanwhile.
 */
function createLock(path: string): void {
  if (existsSync(path)) return
  const folder = mkdtempSync(`${path}.partial-`)
  try {
    const made = join(folder, 'lock')
    writeFileSync(made, '', { mode: 0o600, flag: 'wx' })
    linkSync(made, path)
  } catch {
    // Another process was first, or the file system has no links: SQLite creates it, or reports why it cannot.
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
