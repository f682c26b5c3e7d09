/**
 * A folder's lock, which the system frees when the process dies: an SQLite file of its own that nobody ever writes. Node has no other
 * way to a lock of the system's; a file with a pid in it means nothing to another container.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { JournalInUseError } from '../errors.ts'

const SQLITE_BUSY = 5

/** @throws JournalInUseError */
export function lockFolder(folder: string): () => void {
  const holder = join(folder, 'holder')
  const lock = new DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new JournalInUseError(
      `${folder} is the journal of ${holderOf(holder)} just now: stop that, or give each process a folder of its own`,
    )
  }
  writeFileSync(holder, `process ${process.pid} on ${hostname()}`, { mode: 0o600 })
  return () => {
    rmSync(holder, { force: true })
    lock.close()
  }
}

function holderOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return 'another process'
  }
}
