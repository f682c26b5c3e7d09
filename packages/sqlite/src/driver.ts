/**
 * The only import of better-sqlite3, and the two types of it that the rest of the package uses. `#better-sqlite3` is the dependency here,
 * and its copy in `dist` where the package is installed: docs/decisions/0074.
 */

import type Types from 'better-sqlite3'
import BetterSqlite3 from '#better-sqlite3'

export type Database = Types.Database
export type Statement = Types.Statement<unknown[], unknown>

/** A value that SQLite returns or accepts. Integers are numbers: ids stay below 2^48. */
export type SqlValue = string | number | Uint8Array | null

export interface DriverOptions {
  readonly readonly?: boolean
  readonly fileMustExist?: boolean
  /** The milliseconds that a statement may block its thread while it waits for a lock. */
  readonly timeout?: number
}

/**
 * Opens a database whose statements are compiled only once. If SQLite's planner has looked at a parameter (`a = ? AND ...`,
 * `LIMIT ?`), SQLite compiles the statement again after the parameter is released. better-sqlite3 releases parameters after each
 * run: 60 µs instead of 5 for a job with its session. The planner does not look at a parameter with a sign in front, and the sign
 * changes no value. A `?` is always a parameter here, because strings are bound.
 */
export function openDatabase(file: string, options: DriverOptions = {}): Database {
  const db = new BetterSqlite3(file, options)
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => prepareLate(() => prepare(sql.replaceAll('?', '+?')))) as Database['prepare']
  return db
}

/**
 * Returns a statement that is compiled when it is first run. A store has 310 of them, and most processes run a tenth: to compile
 * all took two thirds of the time that a store needs to open.
 */
function prepareLate(prepare: () => Statement): Statement {
  let compiled: Statement | undefined
  let shape: 'pluck' | 'raw' | undefined
  const statement = (): Statement => {
    compiled ??= shape === undefined ? prepare() : prepare()[shape]()
    return compiled
  }
  const shaped = (next: 'pluck' | 'raw') => () => {
    if (shape !== next) compiled?.[next]()
    shape = next
    return late
  }
  // Its methods stay as they are: the simulator puts its faults around them.
  const late: Pick<Statement, 'run' | 'get' | 'all' | 'iterate'> & Record<'pluck' | 'raw', () => unknown> = {
    run: (...values) => statement().run(...values),
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
    iterate: (...values) => statement().iterate(...values),
    pluck: shaped('pluck'),
    raw: shaped('raw'),
  }
  return late as Statement
}

/** Creates an error as SQLite itself throws it, for tests that inject one. */
export function sqliteError(message: string, code: string): Error {
  return new BetterSqlite3.SqliteError(message, code)
}

/** Returns SQLite's error code, such as `SQLITE_BUSY` or `SQLITE_IOERR_FSYNC`; undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof BetterSqlite3.SqliteError ? error.code : undefined
}
