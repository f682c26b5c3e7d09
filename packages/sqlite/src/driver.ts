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

/**
 * A statement is compiled once. Where SQLite's planner has looked at a parameter (`a = ? AND ...`, `LIMIT ?`), it compiles the statement
 * anew once that is let go of, which better-sqlite3 does after each run: 60 µs in place of 5 for a job with its session. What a parameter
 * with a sign in front is, it does not ask; the sign itself does nothing, whatever the value. A `?` is always a parameter here: texts are bound.
 */
export function openDatabase(file: string, options: DriverOptions = {}): Database {
  const db = new BetterSqlite3(file, options)
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => prepare(sql.replaceAll('?', '+?'))) as Database['prepare']
  return db
}

/** An error as SQLite itself throws it: for tests that inject one. */
export function sqliteError(message: string, code: string): Error {
  return new BetterSqlite3.SqliteError(message, code)
}

/** The error code that SQLite gave, as `SQLITE_BUSY` or `SQLITE_IOERR_FSYNC`; undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof BetterSqlite3.SqliteError ? error.code : undefined
}
