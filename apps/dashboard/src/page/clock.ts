/** The only file of the page that knows time and timers. Tests have a clock of their own. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once after a delay. Returns a function that calls it off. */
  after(delayMs: number, call: () => void): () => void
}

export const SYSTEM: Clock = {
  now: () => Date.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs)
    return () => clearTimeout(timer)
  },
}
