/** A clock that stands still until a test moves it. */
import type { Clock } from '../clock.ts'

interface Timer {
  readonly at: number
  readonly call: () => void
}

export class ManualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(now = 0) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, call: () => void): () => void {
    const timer = { at: this.#now + delayMs, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Fires what is due on the way, in its order; what answers in between is waited for. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next)
      this.#now = next.at
      next.call()
      await settled()
    }
    this.#now = end
    await settled()
  }

  /** The number of timers that are set. */
  get pending(): number {
    return this.#timers.size
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end)
    return due.toSorted((a, b) => a.at - b.at)[0]
  }
}

/** Lets promises that are resolved already run what waits for them. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}
