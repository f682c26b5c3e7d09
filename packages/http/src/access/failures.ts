/** Addresses that try tokens: after five wrong ones in a minute an address is refused for half a minute. */
import type { Clock } from '@millrace/core'
import { BOUNDS } from '../limits.ts'

interface Failed {
  count: number
  /** Of the first that counts. */
  readonly sinceMono: number
  blockedUntilMono: number
}

export class Failures {
  readonly #clock: Clock
  /** The longest ago first. */
  readonly #byAddress = new Map<string, Failed>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds for which the address is still refused; 0 where it is not. */
  blockedMs(address: string): number {
    if (this.#byAddress.size === 0) return 0
    return Math.max(0, (this.#byAddress.get(address)?.blockedUntilMono ?? 0) - this.#clock.read().mono)
  }

  add(address: string): void {
    const { mono } = this.#clock.read()
    const before = this.#byAddress.get(address)
    const failed =
      before !== undefined && mono - before.sinceMono < BOUNDS.failuresWithinMs
        ? before
        : { count: 0, sinceMono: mono, blockedUntilMono: 0 }
    failed.count++
    if (failed.count >= BOUNDS.failures) failed.blockedUntilMono = mono + BOUNDS.blockMs
    this.#byAddress.delete(address)
    this.#byAddress.set(address, failed)
    for (const oldest of this.#byAddress.keys()) {
      if (this.#byAddress.size <= BOUNDS.addresses) break
      this.#byAddress.delete(oldest)
    }
  }
}
