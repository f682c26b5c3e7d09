/** Addresses that try tokens: after five wrong ones in a minute an address is refused for half a minute. */
import type { Clock } from '../clock.ts'

const TIMES = 5
const WITHIN_MS = 60_000
const BLOCK_MS = 30_000
const ADDRESSES_MAX = 10_000

interface Tried {
  count: number
  /** Of the first that counts. */
  readonly sinceMono: number
  blockedUntilMono: number
}

export class WrongTokens {
  readonly #clock: Clock
  /** The longest ago first. */
  readonly #byAddress = new Map<string, Tried>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Addresses that are remembered: 10,000 at most. */
  get size(): number {
    return this.#byAddress.size
  }

  /** Milliseconds for which the address is still refused; 0 where it is not. */
  blockedMs(address: string): number {
    if (this.#byAddress.size === 0) return 0
    return Math.max(0, (this.#byAddress.get(address)?.blockedUntilMono ?? 0) - this.#clock.read().mono)
  }

  add(address: string): void {
    const { mono } = this.#clock.read()
    const before = this.#byAddress.get(address)
    const tried = before !== undefined && mono - before.sinceMono < WITHIN_MS ? before : { count: 0, sinceMono: mono, blockedUntilMono: 0 }
    tried.count++
    if (tried.count >= TIMES) tried.blockedUntilMono = mono + BLOCK_MS
    this.#byAddress.delete(address)
    this.#byAddress.set(address, tried)
    for (const oldest of this.#byAddress.keys()) {
      if (this.#byAddress.size <= ADDRESSES_MAX) break
      this.#byAddress.delete(oldest)
    }
  }
}
