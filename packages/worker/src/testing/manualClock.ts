/** A clock that moves only when a test says so. */
import type { Clock, Now } from '@millrace/core'

interface Timer {
  readonly atMono: number
  readonly wake: () => void
}

export class ManualClock implements Clock {
  #mono = 0
  #timers: Timer[] = []

  read(): Now {
    return { wall: Date.UTC(2030, 0, 1) + this.#mono, mono: this.#mono }
  }

  setTimer(ms: number, wake: () => void): () => void {
    const timer = { atMono: this.#mono + Math.max(0, ms), wake }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** The number of timers that are set and have not fired. */
  get timers(): number {
    return this.#timers.length
  }

  /** Moves the time by `ms`. Every timer that is due on the way fires, each followed by all that it set off. */
  async advance(ms: number): Promise<void> {
    const endMono = this.#mono + ms
    await quiet()
    for (let timer = this.#next(endMono); timer !== undefined; timer = this.#next(endMono)) {
      this.#mono = timer.atMono
      this.#timers = this.#timers.filter((other) => other !== timer)
      timer.wake()
      await quiet()
    }
    this.#mono = endMono
  }

  #next(endMono: number): Timer | undefined {
    const due = this.#timers.filter((timer) => timer.atMono <= endMono)
    return due.reduce<Timer | undefined>((first, timer) => (first === undefined || timer.atMono < first.atMono ? timer : first), undefined)
  }
}

/** Resolves once everything that was set off in ticks and microtasks has run. */
export async function quiet(): Promise<void> {
  for (let round = 0; round < 2; round++) await new Promise<void>((resolve) => setImmediate(resolve))
}
