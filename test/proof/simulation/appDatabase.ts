/** An app's own database: rows of the app's, and the outbox's. It outlives the processes that use it; each asks before every statement. */
import { type Connection, outboxSchema } from '@millrace/outbox'
import Database from 'better-sqlite3'
import { numberOf } from './model.ts'

/** A process, as far as its database hears of it. Both throw where it dies. */
export interface AppProcess {
  dead(): boolean
  before(sql: string): void
  after(sql: string): void
}

interface OutboxRow {
  readonly data: string
  readonly code: string | null
}

export class AppDatabase {
  readonly #db = new Database(':memory:')
  readonly #statements = new Map<string, Database.Statement>()

  constructor() {
    this.#db.exec(`${outboxSchema()} CREATE TABLE app_row (number INTEGER PRIMARY KEY) STRICT`)
  }

  /** What the process before has not committed is gone. */
  connect(process: AppProcess): Connection {
    const db = this.#db
    this.recover()
    const asked = <Result>(sql: string, work: () => Result): Result => {
      process.before(sql)
      const result = work()
      process.after(sql)
      return result
    }
    return {
      prepare: (sql) => {
        const statement = this.#prepare(sql)
        const all = (...values: unknown[]) => asked(sql, () => statement.all(...values))
        return { run: (...values) => asked(sql, () => statement.run(...values)), all, iterate: all }
      },
      exec: (sql) => asked(sql, () => db.exec(sql)),
      // What a dead process has yet to do waits for ever.
      get inTransaction() {
        return process.dead() || db.inTransaction
      },
      open: true,
    }
  }

  /** As SQLite does when the file is opened after a crash. */
  recover(): void {
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction
  }

  /** Numbers of the app's own rows. */
  rows(): number[] {
    return this.#prepare('SELECT number FROM app_row ORDER BY number').pluck().all() as number[]
  }

  /** What the outbox has yet to send. */
  waiting(): number {
    return this.#prepare('SELECT count(*) FROM millrace_outbox WHERE code IS NULL').pluck().get() as number
  }

  /** Of the outbox's refusals: the code by the number of the call. */
  refusals(): Map<number, string> {
    const rows = this.#prepare('SELECT data, code FROM millrace_outbox WHERE code IS NOT NULL').all() as OutboxRow[]
    return new Map(rows.map(({ data, code }) => [numberOf(data), code as string]))
  }

  /** Whether it is noted that what stood in that place was refused. */
  noted(source: string, place: number): boolean {
    const row = this.#prepare('SELECT seq FROM millrace_outbox WHERE source = ? AND place = ? AND code IS NOT NULL')
    return row.get(source, place) !== undefined
  }

  close(): void {
    this.#db.close()
  }

  /** Once for all processes. */
  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
