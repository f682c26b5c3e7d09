/**
 * Copies a database. A backup has no node number: the engine that opens it draws a new one, so ids of the two never collide.
 */
import { closeSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { NotWritableError } from '@millrace/core'
import { createFile, type Making } from './access.ts'
import { type Database, openDatabase } from './driver.ts'
import { renameDurably } from './durable.ts'
import { WRITER_BUSY_MS } from './open/pragmas.ts'

/** Pages per step: a step blocks the writer's thread for at most a few milliseconds. */
const STEP_PAGES = 256

/**
 * Copies the database as it is at the end, page by page through SQLite, while writes continue.
 *
 * @param making the mode of the copy
 */
export async function backUp(db: Database, target: string, making: Making): Promise<{ readonly bytes: number }> {
  refuseExisting(target)
  // A folder of its own keeps other backups to the same file, from any process, out of this one.
  const folder = makeFolder(target)
  const partial = join(folder, 'copy.db')
  try {
    closeSync(createFile(partial, making))
    await db.backup(partial, { progress: () => STEP_PAGES })
    asBackup(partial)
    refuseExisting(target)
    renameDurably(partial, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { bytes: statSync(target).size }
}

/** Copies all that a connection sees, at once. The copy is complete and on disk before it gets its name; `finish` makes it so, after SQLite has. */
export function copyWhole(db: Database, target: string, making: Making, finish: (partial: string) => void = () => {}): void {
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  closeSync(createFile(partial, making))
  try {
    db.prepare('VACUUM INTO ?').run(partial)
    finish(partial)
  } catch (error) {
    // On a full disk, the partial copy is what fills it.
    rmSync(partial, { force: true })
    throw error
  }
  renameDurably(partial, target)
}

/** The codes of a folder that is missing, or that may not be written. */
const REFUSED: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS'])

/** @throws NotWritableError */
function makeFolder(target: string): string {
  try {
    return mkdtempSync(`${target}.partial-`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!REFUSED.has(code)) throw error
    throw new NotWritableError(
      `cannot back up to ${target}: no file can be created in its folder (${code}). Create the folder, or name another`,
      { path: target },
      { cause: error },
    )
  }
}

function refuseExisting(target: string): void {
  if (existsSync(target)) throw new NotWritableError(`cannot back up to ${target}: the file exists. Name a new one`, { path: target })
}

/** Turns the copy into one file, without a log beside it and without a node number. */
export function asBackup(partial: string): void {
  const copy = openDatabase(partial, { timeout: WRITER_BUSY_MS })
  try {
    copy.pragma('journal_mode = DELETE')
    copy.pragma('synchronous = FULL')
    copy.prepare('UPDATE meta SET node = NULL').run()
  } finally {
    copy.close()
  }
}
