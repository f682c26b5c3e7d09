/** A connection as reads and writes use it: blocking, with rows as arrays. */
import type { Prepare } from '@millrace/sql'
import type { Answer, Rows, StoreBridge } from './bridge/bridge.ts'
import type { Statement, Value } from './bridge/statement.ts'
import { failureOf } from './failure.ts'

/** A read of several that are run side by side. */
interface Open<Value> {
  readonly read: () => Value
  /** The rows that its calls have got so far, in order. */
  readonly answers: (readonly Rows[])[]
  /** The value that it has returned. */
  value: [Value] | undefined
  asks: readonly Statement[] | undefined
}

/** Thrown by a call whose answer is not there yet. */
class Unanswered {
  readonly statements: readonly Statement[]
  constructor(statements: readonly Statement[]) {
    this.statements = statements
  }
}

export class Connection {
  readonly #bridge: StoreBridge
  /** Called when a read has opened the connection again. */
  onReopened: () => void = () => {}
  /** The answers that the read that runs now has got before. */
  #replay: { readonly answers: readonly (readonly Rows[])[]; next: number } | undefined

  constructor(bridge: StoreBridge) {
    this.#bridge = bridge
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

  /** Prepares the reads that all stores have in common: each `?` of a text becomes a parameter. */
  readonly prepare: Prepare = <Row extends readonly unknown[]>(text: string) => {
    let parameters = 0
    const numbered = text.replaceAll('?', () => `$${++parameters}`)
    return {
      all: (...values) => this.all<Row>(numbered, ...values),
      get: (...values) => this.get<Row>(numbered, ...values),
    }
  }

  /** Reads by several statements in one round trip, and returns the rows of each. */
  many(statements: readonly Statement[]): readonly Rows[] {
    const replay = this.#replay
    if (replay === undefined) return this.#read(statements)
    const answer = replay.answers[replay.next++]
    if (answer === undefined) throw new Unanswered(statements)
    return answer
  }

  /**
   * Runs reads side by side: each round trip has the next statements of all of them. A read stops at the first answer that it lacks, and is run
   * again from its beginning when that has come. So it may do nothing but read.
   */
  together<Value>(reads: readonly (() => Value)[]): readonly Value[] {
    if (reads.length === 1) return reads.map((read) => read())
    const open = reads.map((read): Open<Value> => ({ read, answers: [], value: undefined, asks: undefined }))
    for (;;) {
      for (const each of open) if (each.value === undefined) this.#runOn(each)
      const asking = open.flatMap((each) => (each.asks === undefined ? [] : [{ each, asks: each.asks }]))
      if (asking.length === 0) return open.map(({ value }) => value?.[0] as Value)
      const rows = this.#read(asking.flatMap(({ asks }) => asks))
      let taken = 0
      for (const { each, asks } of asking) {
        each.answers.push(rows.slice(taken, taken + asks.length))
        taken += asks.length
      }
    }
  }

  #runOn<Value>(open: Open<Value>): void {
    open.asks = undefined
    this.#replay = { answers: open.answers, next: 0 }
    try {
      open.value = [open.read()]
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      open.asks = error.statements
    } finally {
      this.#replay = undefined
    }
  }

  #read(statements: readonly Statement[]): readonly Rows[] {
    const { rows, error } = this.#bridge.run(statements)
    if (error === undefined) return rows
    // Statements that only read can be repeated on a new connection.
    if (error.code !== undefined || this.#bridge.connect() !== undefined) throw failureOf(error)
    this.onReopened()
    const again = this.#bridge.run(statements)
    if (again.error !== undefined) throw failureOf(again.error)
    return again.rows
  }

  /** Runs a statement that may fail. */
  attempt(statement: Statement): Answer {
    return this.#bridge.run([statement])
  }

  /** Runs all statements in one transaction, which may fail. */
  attemptAll(statements: readonly Statement[]): Answer {
    return this.#bridge.transact(statements)
  }

  /** Runs all statements in one transaction. @throws StoreFailure */
  transact(statements: readonly Statement[]): readonly Rows[] {
    const { rows, error } = this.#bridge.transact(statements)
    if (error !== undefined) throw failureOf(error)
    return rows
  }

  /** The number of times that the connection was opened. */
  get opening(): number {
    return this.#bridge.opening
  }

  /** The process of the server that the connection is to. It changes when the connection is opened again. */
  get backend(): number {
    return this.#bridge.backend
  }

  /** Connects again, after a broken connection. */
  reopen(): void {
    const error = this.#bridge.connect()
    if (error !== undefined) throw failureOf(error)
  }

  close(): void {
    this.#bridge.close()
  }
}
