/**
 * Checks that a file still has its end. SQLite takes a file of 0 bytes for a new database and removes the log beside it. It also
 * fills the missing part of the last page with zeros. Both would hide a loss.
 */
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { FileTruncatedError, NotADatabaseError } from '@millrace/core'
import { newFile, tracesOf, walFile } from '../companionFiles.ts'
import type { Database } from '../driver.ts'
import { hasLog, logBytes, WAL_HEADER_BYTES } from './log.ts'
import { PAGE_BYTES } from './pragmas.ts'

const WAL_FRAME_HEADER_BYTES = 24

/** True if SQLite takes the file for an empty one, which it also does for one byte. */
export function isEmpty(bytes: number): boolean {
  return bytes <= 1
}

/**
 * Rejects a file that was emptied. A new file may be empty: created by `touch`, or by a first start that was killed before its
 * first commit, which has left its mark.
 *
 * @throws FileTruncatedError if files beside it say that it had content
 */
export function assertNotEmptied(file: string): void {
  const traces = existsSync(newFile(file)) ? [] : tracesOf(file).filter((path) => existsSync(path))
  // Read last: another engine removes the mark after the file has content.
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (!isEmpty(bytes)) return
  if (traces.length > 0) throw emptied(file, bytes, traces)
  if (bytes > 0) {
    throw new NotADatabaseError(
      `${file} has ${bytes} byte and is not an SQLite database. Give the path of a new file, or of one that Millrace made`,
      { path: file },
    )
  }
}

/** Rejects a missing file if its log was left behind, because SQLite would delete the log. @throws FileTruncatedError */
export function assertNotTakenAway(file: string): void {
  const wal = walFile(file)
  const bytes = logBytes(file)
  if (!hasLog(file) || existsSync(newFile(file)) || existsSync(file)) return
  throw new FileTruncatedError(
    `${file} does not exist, and its log ${basename(wal)} (${bytes} bytes) may hold jobs that are nowhere else. Put the file back; or, to start with an empty queue, delete ${basename(wal)}`,
    { path: file, bytes: 0 },
  )
}

/** Must run in a transaction. @throws FileTruncatedError if pages of the file are neither in it nor in its log */
export function assertWhole(db: Database, file: string): void {
  const pages = db.pragma('page_count', { simple: true }) as number
  const pageBytes = db.pragma('page_size', { simple: true }) as number
  const { size } = statSync(file)
  if (Math.floor(size / pageBytes) + framesOf(file, pageBytes) < pages) throw cut(file, size, `should have ${pages * pageBytes}`)
  assertWholePages(file, pageBytes)
}

/** A power cut while the log is folded in may leave part of a page; the log then has the whole page. @throws FileTruncatedError */
export function assertWholePages(file: string, pageBytes = PAGE_BYTES): void {
  const { size } = statSync(file)
  if (size % pageBytes !== 0 && framesOf(file, pageBytes) === 0) throw cut(file, size, `consists of pages of ${pageBytes}`)
}

function cut(file: string, bytes: number, expected: string): FileTruncatedError {
  return new FileTruncatedError(
    `${file} was cut: it has ${bytes} bytes, and ${expected}. A copy that finds the disk full ends so. Restore a backup, and keep this file`,
    { path: file, bytes },
  )
}

/** Returns the number of pages that the write-ahead log can hold at most. */
function framesOf(file: string, pageBytes: number): number {
  return Math.max(0, Math.floor((logBytes(file) - WAL_HEADER_BYTES) / (WAL_FRAME_HEADER_BYTES + pageBytes)))
}

function emptied(file: string, bytes: number, traces: readonly string[]): FileTruncatedError {
  const names = traces.map((path) => basename(path)).join(', ')
  return new FileTruncatedError(
    `${file} was emptied: it has ${bytes} bytes, and a queue has left ${names} beside it. Restore a backup; or, to start with an empty queue, delete ${basename(file)}, ${names}`,
    { path: file, bytes },
  )
}
