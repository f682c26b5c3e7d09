/**
 * Callers that wait for a later commit: for a job's result, for the next events, for a drained queue, for the next
 * finished job. They are kept apart from the tables, so that a reload loses none of them.
 */
import type { Command, JournalEvent } from '@millrace/core'
import type { ConnectionId, Effects, Questions, Sender, Tables } from '@millrace/core/kernel'
import { DrainWaiters } from './drains.ts'
import { EventWaiters } from './events.ts'
import { ExportWaiters } from './exports.ts'
import { ResultWaiters } from './results.ts'
import type { Post } from './waitingRoom.ts'

/** A question that is asked again, since the event that it waited for may have happened. */
export type Repeated = Sender & { readonly command: Command }

const NONE: readonly Repeated[] = []

export class Waiters {
  readonly results = new ResultWaiters()
  readonly events = new EventWaiters()
  readonly drains = new DrainWaiters()
  readonly exports = new ExportWaiters()

  /** Drops one question of a connection, or all of them, because nobody waits for the answers any more. */
  forget(connection: ConnectionId, request?: number): void {
    for (const waiters of [this.results, this.events, this.drains, this.exports]) waiters.forget(connection, request)
  }

  /**
   * Runs after a commit and before the questions of its turn: later questions find the turn's events in the journal.
   * Returns the questions to ask again. `events` is called only if a reader waits.
   */
  committed(effects: Effects, lastEvent: number, events: () => readonly JournalEvent[], post: Post): readonly Repeated[] {
    this.events.before = lastEvent - effects.events.length
    if (this.events.waiting.size > 0) this.events.committed(events(), post)
    const passed = this.exports.waiting.size > 0 ? this.exports.committed(effects.events, lastEvent) : NONE
    return effects.exportsGone.length > 0 ? [...passed, ...this.exports.end(effects.exportsGone)] : passed
  }

  /** Runs after the turn's own replies, which come first. */
  settle(effects: Effects, tables: Tables, post: Post): void {
    if (this.results.waiting.size > 0) this.results.settle(effects, post)
    if (this.drains.waiting.size > 0) this.drains.settle(tables, post)
  }

  /** Runs after a reload: what was committed before it may never have been delivered. Returns the questions to ask again. */
  reloaded(store: Questions, tables: Tables, post: Post): readonly Repeated[] {
    this.results.recheck(store, tables.jobs, post)
    this.drains.settle(tables, post)
    return [...this.events.takeAll(), ...this.exports.takeAll()]
  }
}
