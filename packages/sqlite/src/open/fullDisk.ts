/** Opening a file takes a little disk space, for its log and its index. If there is none, the ballast is given up. */
import { statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DiskFullError, isError } from '@millrace/core'
import { sqliteCode } from '../driver.ts'

/** Below this, an I/O error means a full disk: SQLite reports a shared index that finds no space as one. */
const NO_SPACE_BYTES = 256 * 1024

/** Opens the file, if necessary without the ballast. Throws DiskFullError if the space is not enough even then. */
export function openWithSpace<T>(file: string, releaseBallast: () => void, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (!lacksSpace(file, error)) throw error
    releaseBallast()
  }
  try {
    return open()
  } catch (error) {
    if (!lacksSpace(file, error)) throw error
    throw new DiskFullError(
      `cannot open ${file}: the disk is full. Free some space there, and open it again`,
      { path: file },
      { cause: error },
    )
  }
}

export function lacksSpace(file: string, error: unknown): boolean {
  if (!isError(error)) return false
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return true
  const code = sqliteCode(error)
  if (code === 'SQLITE_FULL') return true
  if (code !== undefined && /^SQLITE_(IOERR|CANTOPEN)/.test(code)) return isFull(file)
  return error.cause !== undefined && lacksSpace(file, error.cause)
}

function isFull(file: string): boolean {
  const { blocks, bavail, bsize } = statfsSync(dirname(resolve(file)))
  // A file system without any blocks, such as /proc, is not a disk.
  return blocks > 0 && bavail * bsize < NO_SPACE_BYTES
}
