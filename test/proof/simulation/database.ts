/**
 * A real database in memory that outlives its engines, and is used again for the next seed with its statements prepared: opening
 * one and preparing them all is most of what a seed would cost. Every write asks first whether it may run.
 */
import { LIMITS } from '@millrace/core'
import type { Ballast } from '../../../packages/sqlite/src/ballast.ts'
import { type Database, type Statement, sqliteError } from '../../../packages/sqlite/src/driver.ts'
import { claim } from '../../../packages/sqlite/src/open/claim.ts'
import { connectWriter } from '../../../packages/sqlite/src/open/connect.ts'
import { migrate } from '../../../packages/sqlite/src/open/migrate.ts'
import { MEMORY_FILE } from '../../../packages/sqlite/src/options.ts'
import { makeStore, type SqliteStore } from '../../../packages/sqlite/src/store.ts'
import { auditDatabase, type FileAudit } from '../../../packages/sqlite/src/testing/inspect.ts'
import type { FiledMessages } from './messageBook.ts'
import type { FiledStep } from './stepBook.ts'

/** Asked before each statement of a transaction; throws what SQLite would. */
export interface Gate {
  begin(): void
  statement(): void
  /** Whether the COMMIT runs; and what is thrown after it. */
  commit(): { readonly runs: boolean; readonly fails: boolean }
  /** COMMIT has returned. */
  committed(): void
}

const OPEN: Gate = { begin: () => {}, statement: () => {}, commit: () => ({ runs: true, fails: false }), committed: () => {} }

type Run = (...values: unknown[]) => unknown

/** By their text: the same text prepared twice by one connection is two statements, each with its own settings. */
type Statements = Map<string, Statement[]>

interface Rows {
  readonly table: string
  readonly rows: readonly (readonly unknown[])[]
}

export interface Edge {
  readonly parent: number
  readonly child: number
  readonly told: number
}

export class MemoryDatabase {
  readonly #db: Database
  readonly #statements: Statements = new Map()
  readonly #audits: Statements = new Map()
  readonly #tables: readonly string[]
  readonly #first: readonly Rows[]
  #gate: Gate = OPEN
  #edges: Statement | undefined

  constructor() {
    this.#db = connectWriter(MEMORY_FILE, { durability: 'normal', cacheKib: 4_096, platform: 'simulation' })
    migrate(this.#db, { file: MEMORY_FILE, now: 0 })
    const names = this.#db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    this.#tables = (names.pluck().all() as string[]).filter((table) => table !== 'migration')
    this.#first = this.#tables.map((table) => ({ table, rows: this.#db.prepare(`SELECT * FROM ${table}`).raw().all() as unknown[][] }))
  }

  /** As it was when it was new. */
  reset(): void {
    this.#gate = OPEN
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
    // Tables are emptied and filled in any order.
    this.#db.pragma('foreign_keys = OFF')
    for (const table of this.#tables) this.#db.exec(`DELETE FROM ${table}`)
    for (const { table, rows } of this.#first) {
      for (const row of rows) this.#db.prepare(`INSERT INTO ${table} VALUES (${row.map(() => '?').join()})`).run(...row)
    }
    this.#db.pragma('foreign_keys = ON')
  }

  /** A store for the next engine: what the one before has not committed is gone. */
  open(gate: Gate, ballast: Ballast, random: () => number): SqliteStore {
    const db = this.#db
    if (db.inTransaction) db.exec('ROLLBACK')
    this.#gate = OPEN
    const parts = {
      file: MEMORY_FILE,
      claim: claim(db, random),
      ballast,
      connect: () => this.#connection(this.#statements),
      making: () => ({ mode: 0o600, like: undefined }),
      release: () => {},
      warn: () => {},
    }
    const store = makeStore(this.#connection(this.#statements), parts)
    this.#gate = gate
    return store
  }

  /** As another engine that has taken the file over. */
  steal(): void {
    this.#db.exec('UPDATE meta SET epoch = epoch + 1')
  }

  audit(): FileAudit {
    return auditDatabase(this.#connection(this.#audits))
  }

  /** Held unique keys as `name key seq`. */
  uniqueKeys(): string[] {
    return this.#db.prepare("SELECT name || ' ' || key || ' ' || seq FROM unique_key ORDER BY 1").pluck().all() as string[]
  }

  /** Jobs that have a tag which no list finds them by, or the other way round. */
  untrueTags(): number[] {
    const own = "SELECT job.seq, value FROM job, json_each(job.extras, '$.tags')"
    const found = 'SELECT seq, tag FROM tag'
    const differing = `SELECT seq FROM (${own} EXCEPT ${found}) UNION SELECT seq FROM (${found} EXCEPT ${own})`
    return this.#db.prepare(differing).pluck().all() as number[]
  }

  /** The numbers of the log lines of each run, in order. */
  logLines(): readonly { readonly seq: number; readonly run: number; readonly numbers: string }[] {
    const ordered = 'SELECT seq, run, number FROM log ORDER BY seq, run, number'
    const all = `SELECT seq, run, group_concat(number) AS numbers FROM (${ordered}) GROUP BY seq, run`
    return this.#db.prepare(all).all() as { seq: number; run: number; numbers: string }[]
  }

  /** The results of the durable calls of each job, in order. */
  steps(): readonly FiledStep[] {
    const ordered = "SELECT seq, number || ' ' || asked || ' ' || name || ' ' || run AS row FROM step ORDER BY seq, number"
    return this.#db.prepare(`SELECT seq, group_concat(row) AS rows FROM (${ordered}) GROUP BY seq`).all() as FiledStep[]
  }

  /** The messages that each job keeps, in order. */
  messages(): readonly FiledMessages[] {
    const ordered = "SELECT seq, number || ' ' || name AS row FROM message ORDER BY seq, number"
    return this.#db.prepare(`SELECT seq, group_concat(row) AS rows FROM (${ordered}) GROUP BY seq`).all() as FiledMessages[]
  }

  /** Who waits for whom in flows, and what it was told of that one. */
  edges(): readonly Edge[] {
    this.#edges ??= this.#db.prepare('SELECT parent, child, told FROM flow_edge')
    return this.#edges.all() as Edge[]
  }

  /** As a new one, but with the statements of those before. */
  #connection(known: Statements): Database {
    const used = new Map<string, number>()
    const prepare = (sql: string): Statement => {
      const index = used.get(sql) ?? 0
      used.set(sql, index + 1)
      const statements = known.get(sql) ?? []
      known.set(sql, statements)
      statements[index] ??= this.#guarded(sql)
      return statements[index] as Statement
    }
    return new Proxy(this.#db, {
      get: (target, property) => {
        if (property === 'prepare') return prepare
        // The database is its one connection: closed, it would be lost.
        if (property === 'close') return () => {}
        const value = Reflect.get(target, property)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  #guarded(sql: string): Statement {
    const statement = this.#db.prepare(sql)
    const original = statement.run as Run
    const run: Run = (...values) => original.apply(statement, values)
    if (sql.startsWith('BEGIN')) {
      statement.run = (() => {
        this.#gate.begin()
        return run()
      }) as typeof statement.run
    } else if (sql === 'COMMIT') {
      statement.run = (() => this.#commit(run)) as typeof statement.run
    } else if (!statement.reader && sql !== 'ROLLBACK') {
      statement.run = ((...values: unknown[]) => {
        this.#gate.statement()
        return run(...values)
      }) as typeof statement.run
    }
    return statement
  }

  #commit(run: Run): unknown {
    const { runs, fails } = this.#gate.commit()
    if (!runs) this.#db.exec('ROLLBACK')
    const result = runs ? run() : undefined
    if (fails) throw sqliteError('simulated failure of a sync', 'SQLITE_IOERR_FSYNC')
    this.#gate.committed()
    return result
  }
}

/** Bounds that a seed has drawn: read by the engine wherever it needs them. Answers how they are put back. */
export function withLimits(changes: Partial<Record<keyof typeof LIMITS, number>>): () => void {
  const before = { ...LIMITS }
  Object.assign(LIMITS, changes)
  return () => void Object.assign(LIMITS, before)
}
