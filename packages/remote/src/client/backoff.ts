/** The delay before the next attempt to connect: a random part of a limit that grows after each failure. */
import type { Random } from '@millrace/core'

/** The delays between attempts to reconnect. */
export class Backoff {
  readonly #minMs: number
  readonly #maxMs: number
  readonly #random: Random
  #failures = 0

  constructor(minMs: number, maxMs: number, random: Random) {
    this.#minMs = minMs
    this.#maxMs = maxMs
    this.#random = random
  }

  /** @param atLeastMs the delay that the server asked for: the random part keeps clients that got the same delay apart */
  next(atLeastMs = 0): number {
    const most = Math.min(this.#maxMs, this.#minMs * 2 ** Math.min(this.#failures, 52))
    this.#failures++
    return Math.max(0, atLeastMs) + Math.ceil(this.#random() * most)
  }

  /** Resets the delay after a connection has held. */
  reset(): void {
    this.#failures = 0
  }
}
