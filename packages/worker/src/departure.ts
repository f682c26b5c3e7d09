/** Ends a session: running jobs have their time, all answers share one deadline, and the engine learns that nothing is held any more. */
import { type Clock, isErrorOf, LIMITS } from '@millrace/core'
import type { Calls } from './calls.ts'
import { within } from './within.ts'

export interface DepartureOptions {
  readonly calls: Calls
  readonly clock: Clock
  readonly session: string
  /** True if no run is left, and every outcome is answered. */
  readonly isEmpty: () => boolean
  /** True if every handler has reported how its run ended. */
  readonly isSettled: () => boolean
  /** Aborts all running jobs. */
  readonly abort: () => void
}

/** The time before a refused `leave` is repeated. */
const SAY_AGAIN_MS = 250
/** The time that a stop waits for answers that it can do without. */
const LEAVE_MS = 5_000
/** The time that a stop waits for all of its answers after its own time is over. */
const ANSWER_MS = 1_000

export class Departure {
  readonly #options: DepartureOptions
  readonly #hurried = Promise.withResolvers<void>()
  /** True once the engine is being notified that the session is over. */
  isLeaving = false
  /** True once the engine knows, or is no longer waited for. */
  hasLeft = false
  #drained = false
  #deadlineMono = Number.POSITIVE_INFINITY
  /** Called when a run was settled or dropped, while something is waited for: checks whether that holds now. */
  changed: (() => void) | undefined

  constructor(options: DepartureOptions) {
    this.#options = options
  }

  /** The moment after which no answer is waited for. */
  get deadlineMono(): number {
    return this.#deadlineMono
  }

  /** The time that is left until the deadline, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#deadlineMono - this.#options.clock.read().mono)
  }

  /** Ends the time of running jobs. */
  hurry(): void {
    this.#hurried.resolve()
  }

  /** Calls `hurry` after `ms` milliseconds, unless `stopped` comes first. */
  hurryAfter(ms: number, stopped: Promise<void>): void {
    void within(this.#options.clock, ms, stopped).then(() => this.hurry())
  }

  /**
   * Resolves when nothing runs, or when running jobs are no longer waited for: at most `timeoutMs`, then the grace of
   * aborted runs, then a second.
   */
  async drain(timeoutMs: number, graceMs: number): Promise<void> {
    const { calls, clock, session, isEmpty } = this.#options
    const overMono = clock.read().mono + timeoutMs
    this.#deadlineMono = overMono + ANSWER_MS
    const answered = calls.call<'drain'>({ op: 'drain', session }).catch(() => {})
    void answered.then(() => {
      this.#drained = true
      this.changed?.()
    })
    const hurried = this.#hurried.promise
    // Jobs that were handed out before are here with the answer. An engine out of reach hands out nothing, and may never be back.
    await this.#until(() => this.#drained && isEmpty(), Math.min(timeoutMs, LEAVE_MS), hurried)
    await this.#until(isEmpty, overMono - clock.read().mono, hurried)
    if (!isEmpty()) await this.#cutShort(graceMs)
  }

  /** Resolves when the engine knows, or at the deadline. */
  async leave(): Promise<void> {
    this.isLeaving = true
    const patienceMs = this.#drained ? LEAVE_MS : ANSWER_MS
    await within(this.#options.clock, Math.min(patienceMs, this.leftMs), this.#sayLeave())
    this.hasLeft = true
  }

  /**
   * Repeats `leave` if the answer leaves it open, even after the deadline: jobs that the session still holds would wait
   * for it. After the lease of a silent session, the engine ends it automatically.
   */
  async #sayLeave(): Promise<void> {
    const { calls, clock, session } = this.#options
    const untilMono = clock.read().mono + LIMITS.leaseMs
    for (;;) {
      const left = calls.call<'leave'>({ op: 'leave', session })
      const isOpen = await left.then(
        () => false,
        (error: unknown) => isErrorOf(error, 'MillraceError') && error.retryable,
      )
      if (!isOpen || clock.read().mono >= untilMono) return
      await new Promise<void>((resolve) => clock.setTimer(SAY_AGAIN_MS, resolve))
    }
  }

  /** Gives handlers their grace to settle. After that, only answers of the engine are waited for. */
  async #cutShort(graceMs: number): Promise<void> {
    const { clock, isEmpty, isSettled, abort } = this.#options
    abort()
    await this.#until(isSettled, graceMs)
    this.#deadlineMono = clock.read().mono + ANSWER_MS
    await this.#until(isEmpty, ANSWER_MS)
  }

  /** Resolves when the condition holds, which is checked whenever something has changed; or after `ms`, or with `sooner`. */
  async #until(condition: () => boolean, ms: number, sooner?: Promise<void>): Promise<void> {
    if (condition()) return
    const met = new Promise<void>((resolve) => {
      this.changed = () => {
        if (condition()) resolve()
      }
    })
    await within(this.#options.clock, Math.max(0, ms), sooner === undefined ? met : Promise.race([met, sooner]))
    this.changed = undefined
  }
}
