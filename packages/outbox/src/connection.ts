/** The app's own connection, reduced to what better-sqlite3 and node:sqlite share. */
import { OptionTypeError } from '@millrace/core'

interface Statement {
  run(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  iterate(...values: unknown[]): Iterable<unknown>
}

/** A `Database` of better-sqlite3, or a `DatabaseSync` of node:sqlite: drizzle and kysely are given one of these, too. */
export interface Connection {
  prepare(sql: string): Statement
  exec(sql: string): unknown
  /** True in a transaction; better-sqlite3 has it. */
  readonly inTransaction?: boolean
  /** True in a transaction; node:sqlite has it since Node 22.16. */
  readonly isTransaction?: boolean
  /** True while the connection is open; better-sqlite3 has it. */
  readonly open?: unknown
  /** True while the connection is open; node:sqlite has it. */
  readonly isOpen?: boolean
}

export function connectionOption(value: unknown): Connection {
  const given = value as Partial<Connection> | null | undefined
  if (typeof given?.prepare !== 'function' || typeof given.exec !== 'function') {
    throw new OptionTypeError(
      'connection',
      'connection is a Database of better-sqlite3 or a DatabaseSync of node:sqlite: give the one that drizzle or kysely was made with',
    )
  }
  if (!isOpen(given as Connection)) throw new OptionTypeError('connection', 'connection is closed: open it first')
  if (typeof (given.inTransaction ?? given.isTransaction) !== 'boolean') {
    const message = 'connection does not show whether it is in a transaction: use better-sqlite3, or node:sqlite of Node 22.16 or newer'
    throw new OptionTypeError('connection', message)
  }
  return given as Connection
}

export function inTransaction({ inTransaction: better, isTransaction: node }: Connection): boolean {
  return better ?? node ?? false
}

export function isOpen({ open, isOpen: node }: Connection): boolean {
  return typeof open === 'boolean' ? open : (node ?? true)
}
