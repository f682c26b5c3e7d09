/**
 * Decides when to look for old jobs, keys, job names and journal rows, and when to give back free pages: at intervals, and again
 * soon while a slice comes back full.
 */
import { LIMITS, type Now, type Retention, retentionOf } from '@millrace/core'
import {
  type Effects,
  type Facts,
  type FileCare,
  finalStates,
  forgetNames,
  retainedOf,
  type Tables,
  type TurnStore,
  type Upkeep,
} from '@millrace/core/kernel'

/** The interval while there is more to remove than one slice. */
const NEXT_SLICE_MS = 50
const SHRINK_EVERY_MS = 5_000
/** The interval while there is more to give back: at most 5 MiB a second. */
const SHRINK_SLICE_MS = 25

export class Housekeeping implements Upkeep {
  readonly #retention: Retention
  #pruneMono: number
  #journalMono: number
  #shrinkMono: number
  /** True if the file has more free pages than it should keep. */
  #shrinking = false
  #keysMono: number
  #namesMono: number
  /** True if there were expired idempotency keys at the last look. */
  #keysLeft = false
  readonly #final: ReturnType<typeof finalStates>
  /** True if the last slice was not empty (it may have been cut short for its bytes), or if a queue has more than it should keep. */
  #more = false

  constructor(retention: Retention, now: Now) {
    this.#retention = retention
    this.#final = finalStates(retention)
    this.#pruneMono = now.mono + LIMITS.pruneEveryMs
    this.#journalMono = now.mono + LIMITS.journalEveryMs
    this.#shrinkMono = now.mono + SHRINK_EVERY_MS
    this.#keysMono = now.mono + LIMITS.keysEveryMs
    // Soon after the start: an engine that is started again each hour looks, too. Workers have come back by then.
    this.#namesMono = now.mono + LIMITS.journalEveryMs
  }

  /** Returns the retention that this turn prunes by; undefined if it is not time. */
  pruning(now: Now): Retention | undefined {
    return this.#more || this.#pruneMono <= now.mono ? this.#retention : undefined
  }

  note(facts: Facts, effects: Effects, store: TurnStore, tables: Tables, now: Now): void {
    const { nextEvent, exports } = tables
    if (this.pruning(now) !== undefined) {
      this.#more = facts.prunable.length > 0
      this.#pruneMono = now.mono + LIMITS.pruneEveryMs
    }
    // A surplus that is kept for an export does not go away by looking again.
    if (exports.size === 0) this.#more ||= this.#hasSurplus(effects)
    const isTimeForKeys = this.#keysMono <= now.mono
    if (isTimeForKeys || (this.#keysLeft && effects.idempotency.length > 0)) this.#forgetKeys(effects, store, now, isTimeForKeys)
    if (this.#namesMono <= now.mono) {
      const more = forgetNames({ tables, effects, now }, store.journal(0).firstEvent)
      this.#namesMono = now.mono + (more ? NEXT_SLICE_MS : LIMITS.namesEveryMs)
    }
    if (this.#journalMono > now.mono) return
    effects.forgetFailuresBefore = now.wall - LIMITS.failuresMs
    const { ageMs, bytes } = this.#retention.journal
    const { firstEvent, firstTurnEnd, lastEvent, bytes: taken } = store.journal(now.wall - ageMs)
    // Events take about the same room each, so the surplus in bytes is the same share of the events. At least one turn is removed.
    const surplus = taken > bytes ? Math.ceil((nextEvent - firstEvent) * (1 - bytes / taken)) : 0
    effects.forgetEventsBefore = Math.max(lastEvent, surplus === 0 ? 0 : Math.max(firstTurnEnd, firstEvent + surplus))
    this.#journalMono = now.mono + (effects.forgetEventsBefore > firstEvent ? NEXT_SLICE_MS : LIMITS.journalEveryMs)
  }

  /**
   * Removes expired keys while there are some: a slice at intervals, and in each turn twice as many as it adds, so that
   * they go faster than any load can add them.
   */
  #forgetKeys(effects: Effects, store: TurnStore, now: Now, isTime: boolean): void {
    const added = effects.idempotency.length
    const first = store.keyExpiry()
    this.#keysLeft = first !== 0 && first <= now.wall
    if (isTime) this.#keysMono = now.mono + (this.#keysLeft ? NEXT_SLICE_MS : LIMITS.keysEveryMs)
    if (!this.#keysLeft) return
    effects.forgetKeysBefore = now.wall
    effects.forgetKeysLimit = Math.max(isTime ? LIMITS.sliceRows : 0, 2 * added)
  }

  /** True if a queue that the turn has changed has more finished jobs than it keeps. */
  #hasSurplus({ countedLanes }: Effects): boolean {
    for (const { queue } of countedLanes) {
      const { retention } = queue.settings
      const final = retention === undefined ? this.#final : finalStates(retentionOf(this.#retention, queue.settings))
      for (const [state, { count }] of final) if (retainedOf(queue, state) > count) return true
    }
    return false
  }

  /**
   * Gives back a slice of the file's surplus pages, after a turn that had nothing to do. New jobs reuse the pages that it
   * keeps. Throws StoreFailure; it is tried again later.
   */
  shrink(care: FileCare, now: Now): void {
    if (this.#shrinkMono > now.mono) return
    this.#shrinkMono = now.mono + SHRINK_EVERY_MS
    const { free, all } = care.freePages()
    const before = this.#shrinking
    const surplus = free - Math.max(LIMITS.freePagesKept, Math.floor(all * LIMITS.freeShareKept))
    this.#shrinking = surplus > 0
    if (this.#shrinking) {
      care.shrink(Math.min(surplus, LIMITS.slicePages))
      this.#shrinkMono = now.mono + SHRINK_SLICE_MS
    } else if (before) {
      // Folding the log makes the file itself shorter, and there may be no later commit to do it.
      care.foldWal()
    }
  }

  /**
   * Returns the time until this work needs a turn, in milliseconds. Only a slice that was not empty asks for a turn of
   * its own: everything else waits for the next turn.
   */
  nextMs(now: Now): number {
    if (this.#more) return 0
    return this.#shrinking ? Math.max(0, this.#shrinkMono - now.mono) : Number.POSITIVE_INFINITY
  }
}
