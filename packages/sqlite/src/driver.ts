/** The only import of better-sqlite3, and the two shapes of it that the rest of the package uses. */
import BetterSqlite3 from 'better-sqlite3'

export type Database = BetterSqlite3.Database
export type Statement = BetterSqlite3.Statement<unknown[], unknown>

/** What SQLite may hand back or be handed. Integers come as numbers: ids stay below 2^48. */
export type SqlValue = string | number | Uint8Array | null

export interface DriverOptions {
  readonly readonly?: boolean
  readonly fileMustExist?: boolean
  /** Milliseconds that a statement may block its thread for a lock. */
  readonly timeout?: number
}

export function openDatabase(file: string, options: DriverOptions = {}): Database {
  return new BetterSqlite3(file, options)
}

/** An error as SQLite itself throws it: for tests that inject one. */
export function sqliteError(message: string, code: string): Error {
  return new BetterSqlite3.SqliteError(message, code)
}

/** The error code that SQLite gave, as `SQLITE_BUSY` or `SQLITE_IOERR_FSYNC`; undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof BetterSqlite3.SqliteError ? error.code : undefined
}
