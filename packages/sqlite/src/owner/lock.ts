/**
 * One engine owns a file: all its life it holds an exclusive transaction on a small SQLite file beside it. The system drops the
 * lock when the process dies, however it dies. A second engine in the same process is shut out as well.
 */
import { AlreadyOpenError } from '@millrace/core'
import { createLockable, type Making } from '../access.ts'
import { ownerFile } from '../companionFiles.ts'
import { type Database, openDatabase, sqliteCode } from '../driver.ts'
import { readOwnerNote, removeOwnerNote, writeOwnerNote } from './note.ts'

export interface OwnerLock {
  /** Writes the owner of the file as plain text beside it, for others to read. */
  announce(epoch: number): void
  release(): void
}

export interface OwnerOptions {
  readonly file: string
  readonly pid: number
  readonly host: string
  readonly now: number
  readonly waitMs: number
  /** Returns the mode and the owner for the files of the lock. */
  readonly making: () => Making
}

/** Keeps the connections alive: the garbage collector closes a connection that nobody refers to, and its lock would go with it. */
const DEFERRED = new Set<Database>()

/** One wait within SQLite, which nothing can interrupt. It outlasts a probe, which holds the lock for an instant. */
const SLICE_MS = 50

/** Throws AlreadyOpenError if another engine has the lock. */
export function lockOwner({ file, pid, host, now, waitMs, making }: OwnerOptions): OwnerLock {
  createLockable(ownerFile(file), making())
  const db = openDatabase(ownerFile(file), { timeout: SLICE_MS })
  try {
    hold(db, waitMs)
  } catch (error) {
    db.close()
    throw isBusy(error) ? alreadyOpen(file, error) : error
  }
  DEFERRED.add(db)
  return {
    announce: (epoch) => writeOwnerNote(file, { pid, host, epoch, startedAt: now }, making()),
    release: () => {
      removeOwnerNote(file)
      DEFERRED.delete(db)
      // Rolls back the transaction that holds the lock.
      db.close()
    },
  }
}

/** Waits slice by slice, so that the thread, and its process with it, can be ended during a long wait. */
function hold(db: Database, waitMs: number): void {
  for (let leftMs = waitMs - SLICE_MS; ; leftMs -= SLICE_MS) {
    try {
      // Avoids a journal file: nothing is ever written, and none may be left behind.
      db.pragma('journal_mode = MEMORY')
      db.exec('BEGIN EXCLUSIVE')
      return
    } catch (error) {
      if (leftMs <= 0 || !isBusy(error)) throw error
    }
  }
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith('SQLITE_BUSY') === true
}

function alreadyOpen(file: string, cause: unknown): AlreadyOpenError {
  const owner = readOwnerNote(file)
  const who = owner === undefined ? 'another engine' : `process ${owner.pid} on ${owner.host}`
  const details = owner === undefined ? { path: file } : { path: file, pid: owner.pid, host: owner.host }
  return new AlreadyOpenError(
    `${file} is already open in ${who}. Stop that engine first, wait for it with waitForOwner, or share one engine`,
    details,
    { cause },
  )
}
