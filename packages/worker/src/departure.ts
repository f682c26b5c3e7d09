/** How a session ends: what runs has its time, all answers share one deadline, and the engine is told that nothing is held any more. */
import { type Clock, LIMITS, MillraceError } from '@millrace/core'
import { within } from './within.ts'
import type { Calls } from './worker.ts'

export interface DepartureOptions {
  readonly calls: Calls
  readonly clock: Clock
  readonly session: string
  /** No run is left, and every outcome is answered. */
  readonly isEmpty: () => boolean
  /** Every handler has said how its run ended. */
  readonly isSettled: () => boolean
  /** Tells what runs to stop. */
  readonly abort: () => void
}

/** How long a refused `leave` waits before it is said again. */
const SAY_AGAIN_MS = 250
/** How long a stop waits for answers that it can do without. */
const LEAVE_MS = 5_000
/** How long a stop waits for answers after its time is over, all of them together. */
const ANSWER_MS = 1_000

export class Departure {
  readonly #options: DepartureOptions
  readonly #hurried = Promise.withResolvers<void>()
  /** The engine is being told that the session is over. */
  isLeaving = false
  /** It knows, or nobody waits for it to know any longer. */
  hasLeft = false
  #drained = false
  #deadlineMono = Number.POSITIVE_INFINITY
  /** What is waited for may be so by now. */
  #look: (() => void) | undefined

  constructor(options: DepartureOptions) {
    this.#options = options
  }

  /** The moment after which no answer is waited for. */
  get deadlineMono(): number {
    return this.#deadlineMono
  }

  /** What is left until the deadline. */
  get leftMs(): number {
    return Math.max(0, this.#deadlineMono - this.#options.clock.read().mono)
  }

  /** A run has settled, or was let go. */
  changed(): void {
    this.#look?.()
  }

  /** The time of what runs is over. */
  hurry(): void {
    this.#hurried.resolve()
  }

  /** As `hurry`, after so many milliseconds, unless `stopped` comes first. */
  hurryAfter(ms: number, stopped: Promise<void>): void {
    void within(this.#options.clock, ms, stopped).then(() => this.hurry())
  }

  /** Resolves when nothing runs, or nobody waits for it any longer: no later than `timeoutMs`, the grace of what is aborted then, and a second. */
  async drain(timeoutMs: number, graceMs: number): Promise<void> {
    const { calls, clock, session, isEmpty } = this.#options
    const overMono = clock.read().mono + timeoutMs
    this.#deadlineMono = overMono + ANSWER_MS
    const answered = calls.call<'drain'>({ op: 'drain', session }).catch(() => {})
    void answered.then(() => {
      this.#drained = true
      this.changed()
    })
    const hurried = this.#hurried.promise
    // What was handed out before is here with the answer. An engine out of reach hands out nothing, and may never be back.
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
   * Said again if the answer leaves it open, also after the deadline: what the session still holds would wait for it. After the lease of a
   * silent session the engine knows by itself.
   */
  async #sayLeave(): Promise<void> {
    const { calls, clock, session } = this.#options
    const untilMono = clock.read().mono + LIMITS.leaseMs
    for (;;) {
      const left = calls.call<'leave'>({ op: 'leave', session })
      const isOpen = await left.then(
        () => false,
        (error: unknown) => error instanceof MillraceError && error.retryable,
      )
      if (!isOpen || clock.read().mono >= untilMono) return
      await new Promise<void>((resolve) => clock.setTimer(SAY_AGAIN_MS, resolve))
    }
  }

  /** Handlers have their grace to settle; after that, only what the engine has yet to answer is waited for. */
  async #cutShort(graceMs: number): Promise<void> {
    const { clock, isEmpty, isSettled, abort } = this.#options
    abort()
    await this.#until(isSettled, graceMs)
    this.#deadlineMono = clock.read().mono + ANSWER_MS
    await this.#until(isEmpty, ANSWER_MS)
  }

  /** Resolves when the condition holds, which is looked at whenever something has changed; or after `ms`, or `sooner`. */
  async #until(condition: () => boolean, ms: number, sooner?: Promise<void>): Promise<void> {
    if (condition()) return
    const met = new Promise<void>((resolve) => {
      this.#look = () => {
        if (condition()) resolve()
      }
    })
    await within(this.#options.clock, Math.max(0, ms), sooner === undefined ? met : Promise.race([met, sooner]))
    this.#look = undefined
  }
}
