/** Whose file it is, found out read-only, so that nobody else's database is ever touched. */
import { statSync } from 'node:fs'
import { NotADatabaseError, NotWritableError, SchemaTooNewError, StorageBusyError, StorageError } from '@millrace/core'
import { type Database, openDatabase, sqliteCode } from '../driver.ts'
import { SCHEMA_VERSION } from '../migrations/list.ts'
import { assertNotEmptied, assertNotTakenAway, assertWhole, assertWholePages, isEmpty } from './whole.ts'

/** 'Mlrc' in SQLite's header: the file is one of Millrace's. */
export const APPLICATION_ID = 0x4d6c7263

/** For so long one look waits for what has the file locked. */
const LOOK_MS = 1_000

/**
 * Answers whether the file is ours already; false where it is empty or not there. Throws where it is somebody else's or too new, or was
 * emptied or cut, and StorageBusyError where another program has it locked for a second, and for `waitMs` where that is longer.
 */
export function identify(file: string, waitMs = 0): boolean {
  for (let leftMs = waitMs - LOOK_MS; ; leftMs -= LOOK_MS) {
    try {
      return identifyNow(file)
    } catch (error) {
      if (leftMs <= 0 || !(error instanceof StorageBusyError)) throw error
    }
  }
}

function identifyNow(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) {
    assertNotTakenAway(file)
    return false
  }
  if (isEmpty(stats.size)) {
    assertNotEmptied(file)
    // Another engine may just have created it.
    if (isEmpty(sizeOf(file))) return false
  }
  try {
    return look(file, true)
  } catch (error) {
    // As where a part of the schema is missing.
    if (sqliteCode(error)?.startsWith('SQLITE_CORRUPT')) assertWholePages(file)
    if (sqliteCode(error) !== 'SQLITE_READONLY_ROLLBACK') throw translate(error, file)
  }
  // A creation that was cut off has left its journal: whoever opens the file next rolls back what it began.
  try {
    return look(file, false)
  } catch (error) {
    throw translate(error, file)
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function look(file: string, readonly: boolean): boolean {
  const db = openDatabase(file, { readonly, fileMustExist: true, timeout: LOOK_MS })
  try {
    // One state of it: nobody folds its log in meanwhile.
    return db.transaction(() => {
      assertWhole(db, file)
      return isOurs(db, file)
    })()
  } finally {
    db.close()
  }
}

function isOurs(db: Database, file: string): boolean {
  const id = db.pragma('application_id', { simple: true })
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number
  if (id === APPLICATION_ID && tables > 0) {
    checkSchema(db, file)
    return true
  }
  // An empty database may be what is left of a creation that was cut off; nothing is lost by taking it.
  if (tables === 0 && (id === 0 || id === APPLICATION_ID)) return false
  throw new NotADatabaseError(`${file} is an SQLite database of another program. Give Millrace a file of its own`, { path: file })
}

function checkSchema(db: Database, file: string): void {
  const meta = db.prepare('SELECT schema_version, min_reader FROM meta').raw().get() as [number, number] | undefined
  if (meta === undefined) throw new NotADatabaseError(`${file} is damaged: its table meta is empty. Restore a backup`, { path: file })
  const [version, minReader] = meta
  if (minReader > SCHEMA_VERSION) {
    throw new SchemaTooNewError(
      `${file} was written by a newer version of Millrace (schema ${version}; this version knows ${SCHEMA_VERSION}). Update Millrace, or restore a backup made before the update`,
      { path: file, schemaVersion: version, knownVersion: SCHEMA_VERSION },
    )
  }
}

/** An error of SQLite while a file is opened, as its opener is told. */
export function translate(error: unknown, file: string): unknown {
  const options = { cause: error }
  if (isOfSystem(error)) {
    return new NotWritableError(
      `cannot open ${file}: ${error.message}. Give this user write access to the file and its folder`,
      { path: file },
      options,
    )
  }
  const code = sqliteCode(error)
  if (code === undefined) return error
  if (code === 'SQLITE_NOTADB') {
    return new NotADatabaseError(
      `${file} is not an SQLite database. Give the path of a new file, or of one that Millrace made`,
      { path: file },
      options,
    )
  }
  if (code.startsWith('SQLITE_CORRUPT')) {
    return new NotADatabaseError(`${file} is damaged: ${(error as Error).message}. Restore a backup`, { path: file }, options)
  }
  if (code.startsWith('SQLITE_BUSY')) return new StorageBusyError(`${file} is locked by another program`, { path: file }, options)
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY')) {
    return new NotWritableError(
      `cannot open ${file}: ${(error as Error).message}. Give this user write access to the file and its folder`,
      { path: file },
      options,
    )
  }
  return new StorageError(`cannot read ${file}: ${(error as Error).message}`, { path: file }, options)
}

/** An error of a call to the system, as that of a file beside the database that cannot be created. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'
}
