/** Finds out read-only which program a file belongs to, so that another program's database is never touched. */
import { existsSync, statSync } from 'node:fs'
import {
  isError,
  isErrorOf,
  NotADatabaseError,
  NotWritableError,
  SchemaTooNewError,
  SchemaTooOldError,
  StorageBusyError,
  StorageError,
  StoreMovedError,
  StoreMovingError,
} from '@millrace/core'
import { walFile } from '../companionFiles.ts'
import { type Database, openDatabase, sqliteCode } from '../driver.ts'
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../migrations/list.ts'
import { assertNotEmptied, assertNotTakenAway, assertWhole, assertWholePages, isEmpty } from './whole.ts'

/** 'Mlrc' in SQLite's header: marks the file as one of Millrace's. */
export const APPLICATION_ID = 0x4d6c7263
/** 'Mlro': the content has moved to another store. */
export const MOVED_ID = 0x4d6c726f
/** 'Mlri': the content of another store is being moved here. */
export const MOVING_ID = 0x4d6c7269

/** The milliseconds that one look waits for a lock on the file. */
const LOOK_MS = 1_000

export interface IdentifyOptions {
  /** The time for which another program may keep the file locked. Default, and at least, a second. */
  readonly waitMs?: number
  /** The oldest schema that the file may have. Default: any. */
  readonly oldest?: number
  /** The part that the file has in a move: a source may have moved, and a target may be half filled. Default: none. */
  readonly move?: 'source' | 'target'
}

/**
 * Returns true if the file is Millrace's already; false if it is empty or missing. Throws if it belongs to another program, has a schema
 * that is too new or older than `oldest`, or was emptied or cut. Throws StorageBusyError if another program keeps it locked for too long.
 */
export function identify(file: string, { waitMs = 0, ...options }: IdentifyOptions = {}): boolean {
  for (let leftMs = waitMs - LOOK_MS; ; leftMs -= LOOK_MS) {
    try {
      return identifyNow(file, options)
    } catch (error) {
      if (leftMs <= 0 || !isErrorOf(error, 'StorageBusyError')) throw error
    }
  }
}

type Allowed = Omit<IdentifyOptions, 'waitMs'>

function identifyNow(file: string, options: Allowed): boolean {
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
    return look(file, options, !isAtRest(file))
  } catch (error) {
    // For example if a part of the schema is missing.
    if (sqliteCode(error)?.startsWith('SQLITE_CORRUPT')) assertWholePages(file)
    if (sqliteCode(error) !== 'SQLITE_READONLY_ROLLBACK') throw translate(error, file)
  }
  // An interrupted creation has left its journal: the next process to open the file rolls it back.
  try {
    return look(file, options, false)
  } catch (error) {
    throw translate(error, file)
  }
}

/**
 * True if nothing would be folded in or rolled back by a connection that may write. Of a database in WAL mode, such a connection removes its
 * log and index at its end, and one that only reads leaves them beside it.
 */
function isAtRest(file: string): boolean {
  return !existsSync(walFile(file)) && !existsSync(`${file}-journal`)
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function look(file: string, options: Allowed, readonly: boolean): boolean {
  const db = openDatabase(file, { readonly, fileMustExist: true, timeout: LOOK_MS })
  try {
    // One transaction sees one state: nobody folds the log in meanwhile.
    return db.transaction(() => {
      assertWhole(db, file)
      return isOurs(db, file, options)
    })()
  } finally {
    db.close()
  }
}

function isOurs(db: Database, file: string, { oldest = 0, move }: Allowed): boolean {
  const found = db.pragma('application_id', { simple: true })
  if (found === MOVED_ID && move !== 'source') {
    const to = movedTo(db) as string
    throw new StoreMovedError(`the jobs of ${file} have moved to ${to}: open that, or delete the file`, { path: file, movedTo: to })
  }
  if (found === MOVING_ID && move !== 'target')
    throw new StoreMovingError(
      `a move into ${file} was interrupted: repeat it (millrace migrate --from), which continues from there, or delete the file`,
      { path: file },
    )
  const id = found === MOVED_ID || found === MOVING_ID ? APPLICATION_ID : found
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number
  if (id === APPLICATION_ID && tables > 0) {
    checkSchema(db, file, oldest)
    return true
  }
  // An empty database may be left over from an interrupted creation; taking it loses nothing.
  if (tables === 0 && (id === 0 || id === APPLICATION_ID)) return false
  throw new NotADatabaseError(`${file} is an SQLite database of another program. Give Millrace a file of its own`, { path: file })
}

/** Returns the address of the store that the content has moved to. */
export function movedTo(db: Database): string | undefined {
  if (db.pragma('application_id', { simple: true }) !== MOVED_ID) return undefined
  return db.prepare('SELECT address FROM moved').pluck().get() as string
}

function checkSchema(db: Database, file: string, oldest: number): void {
  const meta = db.prepare('SELECT schema_version, min_reader FROM meta').raw().get() as [number, number] | undefined
  if (meta === undefined) throw new NotADatabaseError(`${file} is damaged: its table meta is empty. Restore a backup`, { path: file })
  const [version, minReader] = meta
  if (minReader > SCHEMA_VERSION) {
    throw new SchemaTooNewError(
      `${file} was written by a newer version of Millrace (schema ${version}; this version knows ${SCHEMA_VERSION}). Update Millrace, or restore a backup made before the update`,
      { path: file, schemaVersion: version, knownVersion: SCHEMA_VERSION },
    )
  }
  if (version < OLDEST_SCHEMA) {
    throw new SchemaTooOldError(
      `${file} has schema ${version}, of a version before 0.1.0, which no release can open: give another file. This one was not changed`,
      { path: file, schemaVersion: version, knownVersion: SCHEMA_VERSION },
    )
  }
  if (version < oldest) {
    throw new SchemaTooOldError(
      `${file} has schema ${version}, and this version needs ${oldest}: close it in all processes and run millrace migrate, or open it with autoMigrate: true`,
      { path: file, schemaVersion: version, knownVersion: SCHEMA_VERSION },
    )
  }
}

/** Translates an SQLite error during opening into the error that the caller gets. */
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

/** True for an error of a system call, for example if a file beside the database cannot be created. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return isError(error) && typeof (error as NodeJS.ErrnoException).syscall === 'string'
}
