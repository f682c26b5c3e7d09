/** A connection as reads and writes use it: blocking, with rows as arrays. */
import { failureOf } from './failure.ts'
import type { Line, Rows, Sent } from './line/line.ts'
import type { Statement } from './line/message.ts'

export type Scalar = string | number | Uint8Array | null

/** A parameter: one value, or an array. */
export type Value = Scalar | readonly Value[]

export class Connection {
  readonly #line: Line

  constructor(line: Line) {
    this.#line = line
  }

  /** Returns all rows. @throws StoreFailure */
  all<Row>(text: string, ...values: readonly Value[]): Row[] {
    return this.many([{ text, values }])[0] as unknown as Row[]
  }

  get<Row>(text: string, ...values: readonly Value[]): Row | undefined {
    return this.all<Row>(text, ...values)[0]
  }

  /** Returns the first value of each row. */
  pluck<Column>(text: string, ...values: readonly Value[]): Column[] {
    return this.all<[Column]>(text, ...values).map(([value]) => value)
  }

  /** Reads by several statements in one round trip, and returns the rows of each. */
  many(statements: readonly Statement[]): readonly Rows[] {
    const { rows, error } = this.#line.run(statements)
    if (error === undefined) return rows
    // Statements that only read can be repeated on a new connection.
    if (error.code !== undefined || this.#line.connect() !== undefined) throw failureOf(error)
    const again = this.#line.run(statements)
    if (again.error !== undefined) throw failureOf(again.error)
    return again.rows
  }

  /** Runs a statement that may fail. */
  attempt(statement: Statement): Sent {
    return this.#line.run([statement])
  }

  /** Runs all statements in one transaction. @throws StoreFailure */
  transact(statements: readonly Statement[]): readonly Rows[] {
    const { rows, error } = this.#line.transact(statements)
    if (error !== undefined) throw failureOf(error)
    return rows
  }

  /** Connects again, after a broken connection. */
  reopen(): void {
    const error = this.#line.connect()
    if (error !== undefined) throw failureOf(error)
  }

  close(): void {
    this.#line.close()
  }
}
