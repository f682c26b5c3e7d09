/** How long to wait before the next attempt to connect: more after each that failed, and a random part of that. */
import type { Random } from '@millrace/core'

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

  /** @param atLeastMs as the server has asked for: what chance adds keeps clients that were told the same apart */
  next(atLeastMs = 0): number {
    const most = Math.min(this.#maxMs, this.#minMs * 2 ** Math.min(this.#failures, 52))
    this.#failures++
    return Math.max(0, atLeastMs) + Math.ceil(this.#random() * most)
  }

  /** A connection has held. */
  reset(): void {
    this.#failures = 0
  }
}
