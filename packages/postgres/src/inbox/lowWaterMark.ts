/**
 * The low-water mark of the inbox: every entry that is there, or that a transaction may still commit, lies above it. Reading begins there, and not in
 * front of the remains of all entries that were ever taken, which stay for as long as any transaction of the server is open.
 *
 * A transaction gets its number before its entries do (`enqueue` sees to that). So if all transactions have ended that had a number when the
 * last entry was this one, nothing can come at or below it any more.
 */
import type { Connection } from '../connection.ts'

/** The number of reads after which the mark is looked at. */
const READS = 200

interface Candidate {
  /** The last entry that had a number. */
  readonly id: number
  /** The number of a transaction that began afterwards: all that had one by then are below it. */
  readonly before: number
}

export class LowWaterMark {
  readonly #connection: Connection
  /** The mark was found by this connection. Another one may be to a server that lacks what this one has seen. */
  #opening = 0
  #id = 0
  #candidate: Candidate | undefined
  #reads = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(): number {
    if (this.#opening !== this.#connection.opening) {
      this.#opening = this.#connection.opening
      this.#id = 0
      this.#candidate = undefined
    }
    if (++this.#reads % READS === 0) this.#rise()
    return this.#id
  }

  #rise(): void {
    if (this.#candidate === undefined) {
      this.#candidate = this.#newCandidate()
      return
    }
    const { id, before } = this.#candidate
    const [oldest = 0] = this.#connection.pluck<number>('SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint')
    if (oldest < before) return
    // In a statement of its own, which sees all that those transactions have committed.
    const sql = 'SELECT coalesce(min(id) - 1, $2) FROM inbox WHERE id > $1 AND id <= $2'
    this.#id = this.#connection.pluck<number>(sql, this.#id, id)[0] ?? this.#id
    this.#candidate = this.#newCandidate()
  }

  /** The entry first, then a transaction of its own: one that began in between is below it, and has to end. */
  #newCandidate(): Candidate {
    const last = this.#connection.pluck<number>('SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM inbox_id_seq')
    const own = this.#connection.pluck<number>('SELECT pg_current_xact_id()::text::bigint')
    return { id: last[0] as number, before: own[0] as number }
  }
}
