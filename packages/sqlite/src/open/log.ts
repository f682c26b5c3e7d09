/** Checks that the write-ahead log beside a file belongs to it. */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { ForeignLogError } from '@millrace/core'
import { walFile } from '../companionFiles.ts'

export const WAL_HEADER_BYTES = 32

/** True if the write-ahead log has content. */
export function hasLog(file: string): boolean {
  return logBytes(file) > WAL_HEADER_BYTES
}

/**
 * Rejects the log of another file. The header of a backup says that it has a rollback journal, and SQLite changes that, synced,
 * before it begins a log. So a log with content beside such a file belongs to another one. SQLite does not check: it would replay
 * the log into the backup.
 *
 * Call it only while no connection of this process has the file open: closing the descriptor drops the locks of that connection.
 *
 * @throws ForeignLogError
 */
export function assertOwnLog(file: string): void {
  if (!hasLog(file) || !hasRollbackHeader(file)) return
  const [name, wal] = [basename(file), basename(walFile(file))]
  throw new ForeignLogError(
    `${file} is a backup, and ${wal} beside it (${logBytes(file)} bytes) is the log of the file that was there before: it would break the backup. Delete ${wal} and ${name}-shm, and open ${name} again`,
    { path: file },
  )
}

/** The offset of the write and the read version in the header of an SQLite file: 1 with a rollback journal, 2 with a write-ahead log. */
const VERSIONS_AT = 18
const ROLLBACK = 1

function hasRollbackHeader(file: string): boolean {
  if (!existsSync(file)) return false
  const descriptor = openSync(file, 'r')
  try {
    const header = Buffer.alloc(VERSIONS_AT + 2)
    if (readSync(descriptor, header, 0, header.length, 0) < header.length) return false
    return (
      header.toString('latin1', 0, 15) === 'SQLite format 3' && header[VERSIONS_AT] === ROLLBACK && header[VERSIONS_AT + 1] === ROLLBACK
    )
  } finally {
    closeSync(descriptor)
  }
}

/** The length of the write-ahead log; 0 if there is none. */
export function logBytes(file: string): number {
  return statSync(walFile(file), { throwIfNoEntry: false })?.size ?? 0
}
