/** The system's clock, with a count of its open timers. */
import type { Clock } from '@millrace/core'
import { systemClock } from '@millrace/worker'

export class CountedClock implements Clock {
  readonly #open = new Set<symbol>()

  /** The number of timers that have neither fired nor been cancelled. */
  get open(): number {
    return this.#open.size
  }

  read = systemClock.read

  setTimer(ms: number, wake: () => void): () => void {
    const timer = Symbol('timer')
    this.#open.add(timer)
    const forget = systemClock.setTimer(ms, () => {
      this.#open.delete(timer)
      wake()
    })
    return () => {
      this.#open.delete(timer)
      forget()
    }
  }
}
