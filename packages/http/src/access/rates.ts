/** Limits how often each caller may call, with a token bucket per name that is full at first. */
import type { Clock } from '@millrace/core'
import { BOUNDS } from '../limits.ts'

export interface Rate {
  readonly limit: number
  readonly periodMs: number
}

interface Bucket {
  tokens: number
  atMono: number
}

export class Rates {
  readonly #rate: Rate
  readonly #clock: Clock
  /** The buckets by name, the longest unused first. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate
    this.#clock = clock
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(name: string): number {
    const { limit, periodMs } = this.#rate
    const { mono } = this.#clock.read()
    const bucket = this.#buckets.get(name) ?? { tokens: limit, atMono: mono }
    bucket.tokens = Math.min(limit, bucket.tokens + ((mono - bucket.atMono) / periodMs) * limit)
    bucket.atMono = mono
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= BOUNDS.callers) break
      this.#buckets.delete(oldest)
    }
    if (bucket.tokens < 1) return ((1 - bucket.tokens) / limit) * periodMs
    bucket.tokens--
    return 0
  }
}
