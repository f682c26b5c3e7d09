/** Lets an actor take turns: when mail comes, and when the next deadline is due. One timer, no polling. */
import type { Clock } from '@millrace/core'
import type { Actor } from './actor.ts'

export interface LoopOptions {
  readonly actor: Actor
  readonly clock: Clock
  /** Takes in what has arrived and not been announced yet; before each turn. */
  readonly collect?: () => void
  /** Lets others have the thread before more turns are taken. */
  readonly breathe: (resume: () => void) => void
  /** The actor cannot go on. */
  readonly failed: (error: unknown) => void
}

/** Turns taken in one go before others get the thread. */
const TURNS_MAX = 16

export class Loop {
  readonly #options: LoopOptions
  #cancelTimer: (() => void) | undefined
  #busy = false
  #stopped = false

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** There is mail, or it is time. Safe to call at any moment: turns never nest. */
  readonly wake = (): void => {
    if (this.#busy || this.#stopped) return
    this.#busy = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    try {
      this.#run()
    } catch (error) {
      this.stop()
      this.#options.failed(error)
    }
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer?.()
  }

  #run(): void {
    const { actor, clock, collect, breathe } = this.#options
    for (let turns = 0; turns < TURNS_MAX; turns++) {
      collect?.()
      const ms = actor.turn()
      if (ms > 0) {
        this.#busy = false
        if (!this.#stopped) this.#cancelTimer = clock.setTimer(ms, this.wake)
        return
      }
    }
    breathe(() => {
      this.#busy = false
      this.wake()
    })
  }
}
