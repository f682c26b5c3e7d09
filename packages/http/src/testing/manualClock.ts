/** A clock that moves only when a test advances it. */
import type { Clock } from '@millrace/core'

export class ManualClock implements Clock {
  #mono = 1_000
  readonly #timers = new Set<{ readonly at: number; readonly wake: () => void }>()

  read() {
    return { wall: 1_800_000_000_000 + this.#mono, mono: this.#mono }
  }

  setTimer(ms: number, wake: () => void): () => void {
    const timer = { at: this.#mono + ms, wake }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get timers(): number {
    return this.#timers.size
  }

  advance(ms: number): void {
    this.#mono += ms
    for (const timer of [...this.#timers].toSorted((a, b) => a.at - b.at)) {
      if (timer.at > this.#mono || !this.#timers.delete(timer)) continue
      timer.wake()
    }
  }
}
