/** How much a session takes: a pause and its concurrency. The engine is notified of each change, and each attach repeats it. */
import { type Clock, type CommandOf, isErrorOf, type WorkSettings } from '@millrace/core'
import type { Calls } from './calls.ts'

export type IntakeState = Pick<WorkSettings, 'minConcurrency' | 'maxConcurrency'> & { readonly paused: boolean }

/** The time before a change is said again, after an answer that leaves it open. */
const SAY_AGAIN_MS = 250

export class Intake {
  readonly #calls: Calls
  readonly #clock: Clock
  readonly #session: string
  /** True once the session has ended: nobody has to know of a change. */
  readonly #isOver: () => boolean
  #state: IntakeState

  constructor(calls: Calls, clock: Clock, session: string, settings: WorkSettings, isOver: () => boolean) {
    const { minConcurrency, maxConcurrency } = settings
    this.#calls = calls
    this.#clock = clock
    this.#session = session
    this.#isOver = isOver
    this.#state = { minConcurrency, maxConcurrency, paused: false }
  }

  get paused(): boolean {
    return this.#state.paused
  }

  /** The fields of an attach and of a change. */
  get announced(): Omit<CommandOf<'adjust'>, 'op' | 'session'> {
    const { paused, ...room } = this.#state
    return { ...room, ...(paused && { paused }) }
  }

  /**
   * Applies a change here at once. Resolves when the engine acts by it: whatever it has handed out before is here by then.
   * After a refusal the former state applies again, unless a later change has replaced it.
   */
  async change(changes: Partial<IntakeState>): Promise<void> {
    const before = this.#state
    const wanted = { ...before, ...changes }
    this.#state = wanted
    while (!this.#isOver()) {
      try {
        // Always the present state: a repeated change must not undo a later one.
        await this.#calls.call<'adjust'>({ op: 'adjust', session: this.#session, ...this.announced })
        return
      } catch (error) {
        if (!(isErrorOf(error, 'MillraceError') && error.retryable)) {
          if (this.#state === wanted) this.#state = before
          throw error
        }
        await new Promise<void>((resolve) => this.#clock.setTimer(SAY_AGAIN_MS, resolve))
      }
    }
  }
}
