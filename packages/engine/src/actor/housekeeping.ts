/** When old jobs, keys and journal rows are looked for: now and then, and again at once while a slice comes back full. */
import {
  countOf,
  type Effects,
  type Facts,
  finalStates,
  LIMITS,
  type Now,
  type Queue,
  type Retention,
  retentionOf,
  type Store,
  type Tables,
} from '@millrace/core'

const PRUNE_EVERY_MS = 5_000
const JOURNAL_EVERY_MS = 60_000
const KEYS_EVERY_MS = 60_000
/** While there is more to forget than one slice. */
const NEXT_SLICE_MS = 50

export class Housekeeping {
  readonly #retention: Retention
  #pruneMono: number
  #journalMono: number
  #keysMono: number
  /** Idempotency keys that had run out were there when last looked for. */
  #keysLeft = false
  readonly #final: ReturnType<typeof finalStates>
  /** The last slice had something, which may have been cut short for its bytes; or a queue has more than is to be kept. */
  #more = false

  constructor(retention: Retention, now: Now) {
    this.#retention = retention
    this.#final = finalStates(retention)
    this.#pruneMono = now.mono + PRUNE_EVERY_MS
    this.#journalMono = now.mono + JOURNAL_EVERY_MS
    this.#keysMono = now.mono + KEYS_EVERY_MS
  }

  /** What this turn is to prune by; undefined where it is not time. */
  pruning(now: Now): Retention | undefined {
    return this.#more || this.#pruneMono <= now.mono ? this.#retention : undefined
  }

  note(facts: Facts, effects: Effects, store: Store, { nextEvent, exports }: Tables, now: Now): void {
    if (this.pruning(now) !== undefined) {
      this.#more = facts.prunable.length > 0
      this.#pruneMono = now.mono + PRUNE_EVERY_MS
    }
    // What is too much and kept for an export does not go by looking again.
    if (exports.size === 0)
      this.#more ||= effects.countedLanes.some(({ queue }) =>
        this.#finalOf(queue).some(([state, { count }]) => countOf(queue, state) > count),
      )
    this.#forgetKeys(effects, store, now)
    if (this.#journalMono > now.mono) return
    const { ageMs, bytes } = this.#retention.journal
    const { firstEvent, lastEvent, bytes: taken } = store.journal(now.wall - ageMs)
    // Events take about the same room each, so the surplus in bytes is the same share of the events.
    const surplus = taken > bytes ? Math.ceil((nextEvent - firstEvent) * (1 - bytes / taken)) : 0
    effects.forgetEventsBefore = Math.max(lastEvent, surplus === 0 ? 0 : firstEvent + surplus)
    this.#journalMono = now.mono + (effects.forgetEventsBefore > firstEvent ? NEXT_SLICE_MS : JOURNAL_EVERY_MS)
  }

  /** While there are some, a slice now and then, and in each turn twice as many as it adds: they go faster than any load can add to them. */
  #forgetKeys(effects: Effects, store: Store, now: Now): void {
    const isTime = this.#keysMono <= now.mono
    const added = effects.idempotency.length
    if (!isTime && !(this.#keysLeft && added > 0)) return
    const first = store.keyExpiry()
    this.#keysLeft = first !== 0 && first <= now.wall
    if (isTime) this.#keysMono = now.mono + (this.#keysLeft ? NEXT_SLICE_MS : KEYS_EVERY_MS)
    if (!this.#keysLeft) return
    effects.forgetKeysBefore = now.wall
    effects.forgetKeysLimit = Math.max(isTime ? LIMITS.sliceRows : 0, 2 * added)
  }

  #finalOf({ settings }: Queue): ReturnType<typeof finalStates> {
    return settings.retention === undefined ? this.#final : finalStates(retentionOf(this.#retention, settings))
  }

  /** Only a slice that was not empty asks for a turn of its own: all else waits for the next that comes anyway. */
  nextMs(): number {
    return this.#more ? 0 : Number.POSITIVE_INFINITY
  }
}
