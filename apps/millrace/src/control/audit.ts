/** Who has changed what: the newest 100,000 entries. */
import type { AuditRow, ControlDatabase } from './database.ts'

export interface AuditEntry {
  readonly at: Date
  /** Name of the token. */
  readonly who: string
  readonly operation: string
  readonly target: Readonly<Record<string, unknown>>
  readonly outcome: string
  readonly status: number
}

const KEPT = 100_000

export class Audit {
  readonly #db: ControlDatabase
  #waiting: AuditRow[] = []
  #written: Promise<void> | undefined

  constructor(db: ControlDatabase) {
    this.#db = db
  }

  /** Resolves when it is on the disk; what comes at the same time is written together. */
  add({ at, who, operation, target, outcome, status }: AuditEntry): Promise<void> {
    this.#waiting.push({ at: at.getTime(), who, operation, target: JSON.stringify(target), outcome, status })
    this.#written ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          this.flush()
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
    return this.#written
  }

  /** Writes what waits. */
  flush(): void {
    const rows = this.#waiting
    this.#waiting = []
    this.#written = undefined
    if (rows.length === 0) return
    this.#db.write(() => {
      for (const row of rows) this.#db.audit.insert.run(row)
      this.#db.audit.forget.run(KEPT)
    })
  }

  /** The newest first. */
  newest(limit: number): readonly AuditEntry[] {
    return this.#db.audit.newest
      .all(limit)
      .map(({ at, target, ...rest }) => ({ ...rest, at: new Date(at), target: JSON.parse(target) as AuditEntry['target'] }))
  }
}
