/**
 * The only import of better-sqlite3, and the part of its types that others use: an application does not install `@types/better-sqlite3`.
 * `#better-sqlite3` is the dependency here, and its copy in `dist` in a published package: docs/decisions/0074.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UnsupportedRuntimeError } from '@millrace/core'
import type { Prepare, Query } from '@millrace/sql'

export interface Database {
  readonly name: string
  readonly inTransaction: boolean
  /** @template Values the values of its parameters, or one object of named values */
  prepare<Values extends unknown[] | object = unknown[], Row = unknown>(
    sql: string,
  ): Statement<Values extends unknown[] ? Values : [Values], Row>
  exec(sql: string): unknown
  pragma(sql: string, options?: { readonly simple?: boolean }): unknown
  transaction<Run extends (...values: never[]) => unknown>(run: Run): Transaction<Run>
  function(name: string, options: { readonly deterministic?: boolean }, run: (...values: never[]) => unknown): unknown
  backup(file: string, options: { readonly progress: () => number }): Promise<unknown>
  serialize(): Buffer
  loadExtension(file: string): unknown
  close(): unknown
}

export interface Statement<Values extends unknown[] = unknown[], Row = unknown> {
  /** True if it returns rows. */
  readonly reader: boolean
  run(...values: Values): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  get(...values: Values): Row | undefined
  all(...values: Values): Row[]
  iterate(...values: Values): IterableIterator<Row>
  pluck(isOn?: boolean): this
  raw(isOn?: boolean): this
}

export type Transaction<Run extends (...values: never[]) => unknown> = Run & { readonly immediate: Run }

interface Driver {
  new (file: string, options: DriverOptions): Database
  readonly SqliteError: new (message: string, code: string) => Error & { readonly code: string }
}

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
  const db = new (driver())(file, options)
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

/** Prepares the reads that all stores have in common. */
export function queriesOf(db: Database): Prepare {
  return <Row extends readonly unknown[]>(text: string) => db.prepare(text).raw() as unknown as Query<Row>
}

/** Creates an error as SQLite itself throws it, for tests that inject one. */
export function sqliteError(message: string, code: string): Error {
  return new (driver().SqliteError)(message, code)
}

/** Returns SQLite's error code, such as `SQLITE_BUSY` or `SQLITE_IOERR_FSYNC`; undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof driver().SqliteError ? error.code : undefined
}

/** The folder of the copy, beside this code: in a published package, and in an application that bundles the engine. */
const COPY = 'better-sqlite3'

let loaded: Driver | undefined

/**
 * Loads the driver in a way that bundlers leave alone, because it needs its binary beside it.
 *
 * @throws UnsupportedRuntimeError in a bundle without the copy
 */
function driver(): Driver {
  loaded ??= driverFrom(import.meta.url)
  return loaded
}

/** @param here `import.meta.url`, which is undefined in a bundle in CommonJS */
export function driverFrom(here: string | undefined): Driver {
  try {
    const load = createRequire(here as string)
    const copy = fileURLToPath(new URL(`./${COPY}/lib/index.js`, here))
    return load(existsSync(copy) ? copy : '#better-sqlite3')
  } catch (cause) {
    const place = here === undefined ? `${COPY} beside the bundle` : fileURLToPath(new URL(`./${COPY}`, here))
    const message = `the SQLite driver could not be loaded: ${(cause as Error).message}. In a bundle, copy the folder \`driver\` of @millrace/engine/bundle to ${place} after each build, or mark @millrace/engine as external`
    throw new UnsupportedRuntimeError(message, {}, { cause })
  }
}

/** Returns the folder of the driver, with its code in `lib` and its binaries in `prebuilds`. */
export function driverFolder(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve('#better-sqlite3')))
}
