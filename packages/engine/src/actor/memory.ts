/** Holds the tables, and rebuilds them from the store after a turn that was not written. */
import type { Clock, Now } from '@millrace/core'
import { awaited, type Envelope, keepHolders, loadTables, StoreFailure, type Tables, type TurnStore } from '@millrace/core/kernel'
import { describe } from './answers.ts'
import { ActorFailure, ownerLost } from './failure.ts'

export class Memory {
  readonly #store: TurnStore
  readonly #clock: Clock
  /** The time at which the tables were loaded. */
  loadedAt: Now
  tables: Tables

  /** `alive` are the sessions that may come back for the jobs recorded for them: those of this process. */
  constructor(store: TurnStore, clock: Clock, alive: ReadonlySet<string>) {
    this.#store = store
    this.#clock = clock
    this.loadedAt = clock.read()
    this.tables = loadTables(store, alive, this.loadedAt)
  }

  /** Throws away tables that ran ahead of the disk. Throws ActorFailure if the store cannot be read. */
  reload(mail: readonly Envelope[], reopen?: () => void): void {
    const alive = this.#aliveBefore(mail)
    const before = this.tables
    try {
      reopen?.()
      // Read the clock again: a commit that took seconds to fail takes nothing of the grace that sessions have to come back.
      this.loadedAt = this.#clock.read()
      this.tables = loadTables(this.#store, alive, this.loadedAt)
    } catch (cause) {
      const isLost = cause instanceof StoreFailure && cause.reason === 'owner'
      throw new ActorFailure(isLost ? ownerLost(cause) : { code: 'STORAGE', message: describe(cause) }, { cause })
    }
    // Their connections are as they were: renewals count until they have attached again.
    for (const [uuid, { connection }] of before.sessions) {
      const session = this.tables.sessions.get(uuid)
      if (session !== undefined) session.connection = connection
    }
    keepHolders(this.tables, before)
    for (const [connection, renewal] of before.renewals) this.tables.renewals.set(connection, renewal)
    for (const [connection, vitals] of before.vitals) this.tables.vitals.set(connection, vitals)
  }

  /** Returns the sessions from before the turn that failed: one that wanted to leave has not left. */
  #aliveBefore(mail: readonly Envelope[]): ReadonlySet<string> {
    const alive = new Set([...this.tables.unattached.keys(), ...awaited(this.tables)])
    for (const [uuid, session] of this.tables.sessions) if (session.intro.local && session.connection !== undefined) alive.add(uuid)
    for (const { request } of mail) if (request.command.op === 'leave') alive.add(request.command.session)
    return alive
  }
}
