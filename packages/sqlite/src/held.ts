/** A store's connection to its file. It is given up as soon as the file is no longer where it was. */
import { EngineFailedError } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'
import type { Making } from './access.ts'
import type { Ballast } from './ballast.ts'
import { type Database, openDatabase } from './driver.ts'
import { Identity } from './identity.ts'
import type { Claim } from './open/claim.ts'
import { MEMORY_FILE, type Warn } from './options.ts'
import { prepareReads, type Reads } from './read/reads.ts'
import { saveLog } from './saveLog.ts'
import { prepareShrink, type Shrink } from './shrink.ts'
import { prepareWrite, type Write } from './write/write.ts'

/** The parts of a store. */
export interface StoreParts {
  readonly file: string
  readonly claim: Claim
  readonly ballast: Ballast
  /** Opens the writer's connection again; undefined if the database lives and dies with its first connection. */
  readonly connect: (() => Database) | undefined
  /** Returns the mode and the owner for a backup. */
  readonly making: () => Making
  /** Runs after the last connection is closed. */
  readonly release: () => void
  readonly warn: Warn
}

export interface Connection {
  readonly db: Database
  readonly reads: Reads
  readonly write: Write
  readonly shrink: Shrink
}

export class Held {
  readonly #parts: StoreParts
  /** Undefined for a database in memory, which has no name to lose. */
  readonly #identity: Identity | undefined
  #connection: Connection | undefined
  /** A connection that cannot write: SQLite leaves the file and its log alone if this one is closed last. */
  #guard: Database | undefined
  /** The first event that no acknowledged turn has. */
  #nextEvent = 0
  #lost: StoreFailure | undefined

  constructor(db: Database, parts: StoreParts) {
    this.#parts = parts
    this.#connect(db)
    if (parts.file !== MEMORY_FILE) this.#identity = new Identity(parts.file)
  }

  /** @throws StoreFailure if it was given up, or is closed */
  get current(): Connection {
    if (this.#lost !== undefined) throw this.#lost
    if (this.#connection === undefined) throw new StoreFailure('before', 'io', `${this.#parts.file} is closed`)
    return this.#connection
  }

  /**
   * Returns the connection if the file and its log are where they were. With a time, it looks only now and then.
   *
   * @throws StoreFailure, of the reason `owner` if they are not
   */
  look(at?: number): Connection {
    const connection = this.current
    this.#assert((identity) => (at === undefined ? identity.assertAll() : identity.assertInTime(at)))
    return connection
  }

  /** Call it after a turn is committed, before it is acknowledged. @throws StoreFailure if its log is not where it was */
  committed(nextEvent: number): void {
    this.#assert((identity) => identity.assertLog())
    this.#nextEvent = nextEvent
  }

  reopen(): void {
    const { connect } = this.#parts
    if (connect === undefined) throw new EngineFailedError('a database in memory is lost with its connection: open the engine again')
    if (this.#connection !== undefined || this.#lost !== undefined) this.look()
    this.#disconnect()
    // SQLite would create a new file, or take a copy for it.
    this.#identity?.assertDatabase()
    this.#connect(connect())
    this.#identity?.reopened()
  }

  /** Folds the log into the file, if they are where they were. */
  close(): void {
    try {
      if (this.#connection !== undefined) this.look()
    } catch (error) {
      this.#parts.warn((error as StoreFailure).message, { file: this.#parts.file })
    }
    try {
      this.#disconnect()
    } finally {
      this.#identity?.close()
    }
  }

  #connect(db: Database): void {
    const { claim, file } = this.#parts
    this.#connection = { db, reads: prepareReads(db), write: prepareWrite(db, claim), shrink: prepareShrink(db, claim) }
    if (file === MEMORY_FILE) return
    this.#guard = openDatabase(file, { readonly: true })
    // Only a connection that has read holds a lock.
    this.#guard.prepare('SELECT 1 FROM sqlite_schema').get()
  }

  #disconnect(): void {
    const last = this.#connection
    this.#connection = undefined
    this.#guard?.close()
    last?.db.close()
  }

  #assert(look: (identity: Identity) => void): void {
    if (this.#identity === undefined) return
    try {
      look(this.#identity)
    } catch (error) {
      throw this.#giveUp(this.#identity, error as StoreFailure)
    }
  }

  /** Saves what the log has, and closes the file as it is. */
  #giveUp(identity: Identity, { phase, message }: StoreFailure): StoreFailure {
    const { file, claim, making } = this.#parts
    const { db, reads } = this.current
    const seesAll = () => reads.load().nextEvent >= this.#nextEvent
    const saved = saveLog({ db, file, identity, seesAll, epoch: claim.epoch, making: making() })
    this.#lost = new StoreFailure(phase, 'owner', `${message}: ${saved}`, { path: file })
    this.#connection = undefined
    db.close()
    this.#guard?.close()
    return this.#lost
  }
}
