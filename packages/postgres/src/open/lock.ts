/**
 * The election: a lock that a session of the server holds, and that is free when the session ends. It makes one candidate likely. Only the
 * journal's key decides who may write. An owner that reconnects may therefore commit before it has the lock back.
 */
import { StoreFailure } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'

/** The lock's key, of the schema as parameter 1. */
const KEY = "hashtextextended('millrace ' || $1, 0)"

/** Rows of `pg_locks`: the session that has the lock, if there is one. */
const HOLDERS = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND ((classid::bigint << 32) | objid::bigint) = ${KEY}`

/** The session that has the lock, its user, and false if the user has no right on the schema: anybody who may connect can take the lock. */
export const HOLDER = `SELECT holder.pid, usename::text, coalesce(has_schema_privilege(usesysid, to_regnamespace(quote_ident($1))::oid, 'USAGE'), true)
FROM (${HOLDERS}) AS holder LEFT JOIN pg_stat_activity USING (pid)`

export type Holder = readonly [pid: number, user: string | null, hasRights: boolean]

/** Returns the words for the session that has the lock; undefined if nobody has. */
export function holderText(holder: Holder | undefined): string | undefined {
  if (holder === undefined) return undefined
  const [pid, user, hasRights] = holder
  const session = `session ${pid} of user ${user ?? 'unknown'}`
  return hasRights
    ? `${session} has the owner's lock`
    : `${session}, which has no right on the schema, has the owner's lock: end it by pg_terminate_backend(${pid})`
}

/** True if nobody has the lock. */
export const IS_FREE = `SELECT NOT EXISTS (${HOLDERS})`

const TRY_MS = 50
/** The time that the former session has to end. */
const END_MS = 1_000

export class Lock {
  readonly #connection: Connection
  readonly #schema: string
  /** The opening of the connection that has the lock, and its process in the server. */
  #opening = 0
  #backend = 0

  constructor(connection: Connection, schema: string) {
    this.#connection = connection
    this.#schema = schema
    connection.onReopened = () => this.keep()
  }

  /** True if the connection has the lock. */
  get held(): boolean {
    return this.#opening === this.#connection.opening
  }

  /** Returns false if another session had the lock for all that time. */
  take(waitMs: number): boolean {
    for (let leftMs = waitMs; ; leftMs -= TRY_MS) {
      // A session may take it more than once.
      if (this.held || this.#try()) return true
      if (leftMs <= 0) return false
      sleep(Math.min(TRY_MS, leftMs))
    }
  }

  /** Returns the words for the session that has the lock; undefined if nobody has by now. */
  holder(): string | undefined {
    return holderText(this.#connection.get<Holder>(HOLDER, this.#schema))
  }

  /** Takes the lock again if it was taken before, and the connection has been opened again since. If that fails, the next beat tries. */
  keep(): void {
    if (this.#opening === 0 || this.held) return
    try {
      this.#takeBack()
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
    }
  }

  /** The server may not have noticed the end of the former session, which has the lock: it is ended. */
  #takeBack(): void {
    this.#connection.all(
      `SELECT pg_terminate_backend(pid, ${END_MS}) FROM (${HOLDERS}) AS holder WHERE pid = $2`,
      this.#schema,
      this.#backend,
    )
    this.#try()
  }

  #try(): boolean {
    const [taken] = this.#connection.pluck<boolean>(`SELECT pg_try_advisory_lock(${KEY})`, this.#schema)
    if (taken === true) {
      this.#opening = this.#connection.opening
      this.#backend = this.#connection.backend
    }
    return taken === true
  }
}

/** Blocks the thread, as every call of the store does. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
