/** The audit of changes: the newest 100,000 entries, and the newest 10,000 of refused calls, which do not push the others out. */
import type { Audited } from '@millrace/core'
import type { AuditRow, ControlDatabase } from './database.ts'
import { withoutTokens } from './tokens.ts'

export interface AuditEntry extends Audited {
  readonly via: 'http' | 'socket'
  /** The status of a call over HTTP. */
  readonly status?: number
  /** The error code of a call by socket that was refused or has failed. */
  readonly code?: string
}

/** The number of entries that are kept: of calls that were not refused, and of those that were. */
const KEPT = [100_000, 10_000] as const

export class Audit {
  readonly #db: ControlDatabase
  #waiting: AuditRow[] = []
  #written: Promise<void> | undefined
  /** The number of entries of each of these kinds in the file. No other process adds any. */
  #counts: readonly number[] | undefined

  constructor(db: ControlDatabase) {
    this.#db = db
  }

  /** Adds an entry, and resolves when it is on disk. Entries that arrive at the same time are written together. */
  add(entry: AuditEntry): Promise<void> {
    this.#waiting.push(rowOf(entry))
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

  /** Adds entries. They are on disk when it returns. */
  addNow(entries: readonly AuditEntry[]): void {
    this.#write(entries.map(rowOf))
  }

  /** Writes the entries that wait. */
  flush(): void {
    const rows = this.#waiting
    this.#waiting = []
    this.#written = undefined
    this.#write(rows)
  }

  #write(rows: readonly AuditRow[]): void {
    if (rows.length === 0) return
    const { count, insert, forget } = this.#db.audit
    const former = this.#counts ?? KEPT.map((_, refused) => count.get(refused)?.count ?? 0)
    const refused = rows.filter(({ outcome }) => outcome === 'refused').length
    const counts = [rows.length - refused, refused].map((added, kind) => added + (former[kind] as number))
    this.#db.write(() => {
      for (const row of rows) insert.run(row)
      KEPT.forEach((kept, kind) => {
        forget.run(kind, Math.max(0, (counts[kind] as number) - kept))
      })
    })
    this.#counts = KEPT.map((kept, kind) => Math.min(kept, counts[kind] as number))
  }

  /** Returns the newest entries, newest first. */
  newest(limit: number): readonly AuditEntry[] {
    return this.#db.audit.newest.all(limit).map(entryOf)
  }
}

function rowOf({ at, who, via, operation, target, outcome, status = 0, code }: AuditEntry): AuditRow {
  return { at: at.getTime(), who, via, operation, target: withoutTokens(JSON.stringify(target)), outcome, status, code: code ?? null }
}

function entryOf({ at, who, via, operation, target, outcome, status, code }: AuditRow): AuditEntry {
  return {
    at: new Date(at),
    who,
    via: via as AuditEntry['via'],
    operation,
    target: JSON.parse(target) as AuditEntry['target'],
    outcome: outcome as AuditEntry['outcome'],
    ...(status !== 0 && { status }),
    ...(code !== null && { code }),
  }
}
