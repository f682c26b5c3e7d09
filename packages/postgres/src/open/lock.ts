/**
 * The election: a lock that a session of the server holds, and that is free when the session ends. It makes one candidate likely. Only the
 * journal's key decides who may write. An owner that reconnects may therefore commit before it has the lock back.
 *
 * Everybody who may connect can take an advisory lock, so only sessions count whose user may write the schema. If another one has the lock, a
 * candidate takes one of its neighbours: keys that differ in their last bits alone.
 */
import { StoreFailure } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'

/** The first of the lock's keys, of the schema as parameter 1. */
const KEY = "hashtextextended('millrace ' || $1, 0)"
/** The bits in which its keys differ. A server has not enough memory for so many locks. */
const BITS = 16
/** Another one of its keys, by the process of the server and by the number of the try as parameter 2. */
const NEIGHBOUR = `(${KEY} >> ${BITS} << ${BITS}) | ((pg_backend_pid() + $2::bigint) & ${2 ** BITS - 1})`

/** The sessions that have one of the lock's keys, whoever they are. */
const SESSIONS = `SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND ((classid::bigint << 32) | objid::bigint) >> ${BITS} = ${KEY} >> ${BITS}`

/** The journal of the schema, if there is one by now. A role that its user may take on is enough: a session can begin with one. */
const MAY_WRITE = `SELECT has_table_privilege(usesysid, journal.oid, 'INSERT') OR pg_has_role(usesysid, relowner, 'MEMBER')
FROM pg_class AS journal WHERE journal.oid = to_regclass(quote_ident($1) || '.journal')`

/** The sessions that count as holders of the lock, with their users. */
const HOLDERS = `SELECT holder.pid, usename::text FROM (${SESSIONS}) AS holder LEFT JOIN pg_stat_activity USING (pid)
WHERE coalesce((${MAY_WRITE}), true)`

/** The session that has the lock, and its user. */
export const HOLDER = `${HOLDERS} LIMIT 1`

export type Holder = readonly [pid: number, user: string | null]

/** Returns the words for the session that has the lock; undefined if nobody has. */
export function holderText(holder: Holder | undefined): string | undefined {
  return holder && `session ${holder[0]} of user ${holder[1] ?? 'unknown'} has the owner's lock`
}

/** True if nobody has the lock. */
export const IS_FREE = `SELECT NOT EXISTS (${HOLDERS})`
const IS_FREE_OF_OTHERS = `SELECT NOT EXISTS (${HOLDERS} AND holder.pid <> pg_backend_pid())`

const TRY_MS = 50
/** The time that the former session has to end. */
const END_MS = 1_000

export class Lock {
  readonly #connection: Connection
  readonly #schema: string
  /** The opening of the connection that has the lock, and its process in the server. */
  #opening = 0
  #backend = 0
  /** Keys that were tried because somebody who is no candidate has the first one. */
  #tries = 0

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
      `SELECT pg_terminate_backend(pid, ${END_MS}) FROM (${SESSIONS}) AS holder WHERE pid = $2`,
      this.#schema,
      this.#backend,
    )
    this.#try()
  }

  /** Takes the lock if no other session has it by then. Two that take different keys at once both give up, and try again. */
  #try(): boolean {
    if (!this.#isFree()) return false
    if (!this.#taken(KEY)) {
      // A candidate was first, or somebody who is none has the key.
      if (!this.#isFree() || !this.#taken(NEIGHBOUR, ++this.#tries)) return false
    }
    if (!this.#isFree()) {
      this.#connection.all('SELECT pg_advisory_unlock_all()')
      return false
    }
    this.#opening = this.#connection.opening
    this.#backend = this.#connection.backend
    return true
  }

  #isFree(): boolean {
    return this.#connection.pluck<boolean>(IS_FREE_OF_OTHERS, this.#schema)[0] === true
  }

  #taken(key: string, ...tries: readonly number[]): boolean {
    return this.#connection.pluck<boolean>(`SELECT pg_try_advisory_lock(${key})`, this.#schema, ...tries)[0] === true
  }
}

/** Blocks the thread, as every call of the store does. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
