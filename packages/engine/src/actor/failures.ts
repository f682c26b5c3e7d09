/**
 * Handles a turn that fails. Its tables are thrown away, and nothing of it was written unless the commit itself failed.
 * The cause decides what follows. A storage error refuses the turn as a whole, and a locked file postpones it. If the
 * disk is full, the turn is decided again without new work. If one of its commands has a fault, the turn is decided
 * command by command. If the file has another owner, or cannot be read, the actor ends.
 */
import { type Clock, LIMITS, type Now, type Refusal } from '@millrace/core'
import { BrokenInvariant, type Decided, forgetHolders, type Store, StoreFailure } from '@millrace/core/kernel'
import type { Admission } from './admission.ts'
import { describe } from './answers.ts'
import { ActorFailure, ownerLost } from './failure.ts'
import type { Arrived, Inbox } from './inbox.ts'
import type { Memory } from './memory.ts'
import type { Meter } from './meter.ts'

/** The parts of the actor that a failed turn concerns. */
export interface Turns {
  readonly store: Store
  readonly clock: Clock
  readonly meter: Meter
  readonly admission: Admission
  readonly memory: Memory
  readonly inbox: Inbox
  /** Takes one turn; throws if it fails. */
  decide(mail: readonly Arrived[], now: Now): Decided
  deliver(mail: readonly Arrived[], decided: Decided): void
  refuse(mail: readonly Arrived[], refusal: Refusal): void
  /** Called when the tables are new. */
  reloaded(): void
  /** Asks every session to report again what it holds. */
  askToAttach(): void
  /** Logs that the tables contradicted themselves. */
  invariantBroken(invariant: string): void
}

/** The turn's mail is back in the inbox. */
const PUT_OFF = Symbol('put off')
type Outcome = Decided | typeof PUT_OFF | undefined

const BUSY_PATIENCE_MS = 5_000
const BUSY_RETRY_MS = 25
const FAILED_RETRY_MS = 250

/** Handles turns that fail. */
export class Failures {
  readonly #turns: Turns
  #busySinceMono = -1
  /** The moment at which the lock is tried again. */
  #busyUntilMono = 0
  /** True if the tables were reloaded, and nothing has been written since. */
  #unwritten = false
  /** The moment at which sessions are asked to attach again. */
  #reattachMono = Number.POSITIVE_INFINITY
  /** The moment before which no turn starts without mail, since the last one could not be written. */
  #retryMono = Number.NEGATIVE_INFINITY

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /** Returns the number of milliseconds for which a locked file is left alone; 0 if it is not locked. */
  lockedMs({ mono }: Now): number {
    return this.#busySinceMono < 0 ? 0 : Math.max(0, this.#busyUntilMono - mono)
  }

  /** Returns the number of milliseconds for which no turn starts without mail; 0 or less if one may. */
  restMs({ mono }: Now): number {
    return this.#retryMono - mono
  }

  /** The time after which mail that is left is due, in milliseconds: at once, unless the file is locked. */
  get mailMs(): number {
    return this.#busySinceMono < 0 ? 0 : BUSY_RETRY_MS
  }

  /** Returns the number of milliseconds after which sessions are asked to attach again. */
  reattachMs({ mono }: Now): number {
    return Math.max(0, this.#reattachMono - mono)
  }

  askToAttachInTime({ mono }: Now): void {
    if (mono >= this.#reattachMono) this.#askToAttach()
  }

  /** Takes a turn. Returns undefined if it failed: its mail is answered, or back in the inbox. Throws ActorFailure. */
  take(mail: readonly Arrived[], now: Now): Decided | undefined {
    this.#retryMono = Number.NEGATIVE_INFINITY
    const outcome = this.#decide(mail, now)
    if (outcome !== PUT_OFF) return outcome
    this.#turns.inbox.putBack(mail)
    return undefined
  }

  /**
   * Handles a failure of work beside the turns. Nothing depends on that work: if it failed before its commit, it is tried
   * again later.
   */
  failedBeside(error: unknown, now: Now): void {
    if (!(error instanceof StoreFailure)) throw error
    if (error.reason === 'owner' || error.phase === 'commit') this.#storeFailed([], now, error)
    else if (error.phase === 'broken') throw new ActorFailure({ code: 'INTERNAL', message: describe(error) }, { cause: error })
  }

  #decide(mail: readonly Arrived[], now: Now): Outcome {
    try {
      return this.#succeeded(this.#turns.decide(mail, now))
    } catch (error) {
      this.#turns.meter.failedTurns++
      if (error instanceof StoreFailure && error.phase !== 'broken') return this.#storeFailed(mail, now, error)
      return this.#oneByOne(mail, error)
    }
  }

  #succeeded(decided: Decided): Decided {
    this.#busySinceMono = -1
    const { tables } = this.#turns.memory
    if (tables.formerHolders.size > 0 || tables.unattached.size > 0) forgetHolders(tables)
    if (this.#unwritten && !decided.effects.empty) {
      this.#unwritten = false
      if (this.#reattachMono < Number.POSITIVE_INFINITY) this.#askToAttach()
    }
    return decided
  }

  #storeFailed(mail: readonly Arrived[], now: Now, error: StoreFailure): Outcome {
    const { store, clock, admission, memory } = this.#turns
    this.#retryMono = clock.read().mono + FAILED_RETRY_MS
    if (error.reason === 'owner') throw new ActorFailure(ownerLost(error), { cause: error })
    if (error.phase === 'commit') {
      this.#reload(mail, () => store.reopen())
      const message = `the commit's outcome is unknown (${error.message}): the call may have happened; repeat it with the same idempotencyKey`
      // A caller that only asks would ask again at once, and cause a turn that fails as this one did.
      this.#turns.refuse(mail, { code: 'COMMIT_UNKNOWN', message })
      return undefined
    }
    this.#reload(mail)
    if (error.reason === 'busy') return this.#storeBusy(mail, now, error)
    if (error.reason === 'full' && admission.diskIsFull(now)) return this.#decide(mail, memory.loadedAt)
    const message = `nothing was written: ${error.message}`
    this.#turns.refuse(mail, error.reason === 'full' ? admission.diskFull(message) : { code: 'STORAGE', message })
    return undefined
  }

  /** Handles a lock that another program holds (a shell, a replicator): the mail waits for some turns before it is refused. */
  #storeBusy(mail: readonly Arrived[], now: Now, error: StoreFailure): Outcome {
    if (this.#busySinceMono < 0) this.#busySinceMono = now.mono
    if (now.mono - this.#busySinceMono < BUSY_PATIENCE_MS) {
      this.#busyUntilMono = now.mono + BUSY_RETRY_MS
      return PUT_OFF
    }
    this.#busySinceMono = -1
    const what =
      this.#turns.store.care === undefined ? 'the server has refused each turn as busy' : "another program has held the file's write lock"
    const message = `${what} for ${BUSY_PATIENCE_MS} ms: ${error.message}`
    this.#turns.refuse(mail, { code: 'STORAGE_BUSY', message })
    return undefined
  }

  /**
   * Finds the command at fault: each is decided again in a transaction of its own, and only the culprit is refused. Their
   * time is that of the last reload: leases and deadlines count from there, and the rest of the mail is heard before any
   * of them ends.
   */
  #oneByOne(mail: readonly Arrived[], cause: unknown): Outcome {
    if (cause instanceof BrokenInvariant) this.#turns.invariantBroken(cause.message)
    this.#reload(mail)
    if (mail.length === 0) return this.#timersAgain(cause)
    for (const [index, envelope] of mail.entries()) {
      const outcome = this.#decideAlone(envelope)
      if (outcome === PUT_OFF) {
        this.#turns.inbox.putBack(mail.slice(index))
        return undefined
      }
      if (outcome !== undefined) this.#turns.deliver([envelope], outcome)
    }
    return undefined
  }

  /** Takes a turn without mail again. A broken invariant may have been of the tables that are gone; any other cause is still there. */
  #timersAgain(cause: unknown): Outcome {
    try {
      if (cause instanceof BrokenInvariant) return this.#succeeded(this.#turns.decide([], this.#turns.memory.loadedAt))
    } catch (error) {
      if (error instanceof StoreFailure && error.phase !== 'broken') return this.#storeFailed([], this.#turns.memory.loadedAt, error)
    }
    throw new ActorFailure({ code: 'INTERNAL', message: describe(cause) }, { cause })
  }

  #decideAlone(envelope: Arrived): Outcome {
    const now = this.#turns.memory.loadedAt
    try {
      return this.#succeeded(this.#turns.decide([envelope], now))
    } catch (error) {
      this.#turns.meter.failedTurns++
      if (error instanceof StoreFailure && error.phase !== 'broken') return this.#storeFailed([envelope], now, error)
      this.#reload([envelope])
      this.#turns.refuse([envelope], faultOf(error))
      return undefined
    }
  }

  #reload(mail: readonly Arrived[], reopen?: () => void): void {
    const { memory, meter, clock } = this.#turns
    memory.reload(mail, reopen)
    meter.reloads++
    // If the store fails again and again, the answers of sessions must not cause the next failure at once.
    if (this.#unwritten) this.#reattachMono = clock.read().mono + Math.min(FAILED_RETRY_MS, LIMITS.reattachGraceMs / 10)
    else this.#askToAttach()
    this.#unwritten = true
    this.#turns.reloaded()
  }

  #askToAttach(): void {
    this.#reattachMono = Number.POSITIVE_INFINITY
    this.#turns.askToAttach()
  }
}

/** Returns what the caller of a command at fault hears: its own values are wrong, or the engine is. */
function faultOf(error: unknown): Refusal {
  if (!(error instanceof StoreFailure)) return { code: 'INTERNAL', message: describe(error) }
  const { reason, message } = error
  if (reason === 'large')
    return { code: 'TOO_LARGE', message: `a value of the call exceeds a limit of the store (${message}): make it smaller` }
  if (reason !== 'unfit') return { code: 'INTERNAL', message: describe(error) }
  const words = `the store cannot keep a value of the call (${message}): change it, or encode it as bytes`
  return { code: 'VALIDATION', message: words, details: { issues: [{ message }] } }
}
