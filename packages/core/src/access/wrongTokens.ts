/**
 * Limits addresses that try tokens. After five wrong tokens in a minute, further wrong ones of that address are refused for half
 * a minute. A correct token passes from every address, because many people may share one. Callers check the token first, and come
 * here only with wrong ones.
 */
import type { Clock } from '../clock.ts'
import { isLoopbackNeighbourhood } from './neighbourhood.ts'

const TIMES = 5
const WITHIN_MS = 60_000
const BLOCK_MS = 30_000
const ADDRESSES_MAX = 10_000

interface Tried {
  count: number
  /** The time of the first attempt that counts. */
  readonly sinceMono: number
  beyondUntilMono: number
}

/** The consequence of a wrong token for its address. */
export interface WrongToken {
  /** `limit`: the last wrong token that counts, which deserves a line in the log. `beyond`: it came within half a minute after that. */
  readonly kind: 'counted' | 'limit' | 'beyond'
  /** Milliseconds for which the address's wrong tokens are still refused; 0 if they are not, as for loopback. */
  readonly blockedMs: number
}

export class WrongTokens {
  readonly #clock: Clock
  /** Attempts by address, the oldest first. */
  readonly #byAddress = new Map<string, Tried>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of addresses that are remembered: at most 10,000. */
  get size(): number {
    return this.#byAddress.size
  }

  /** Counts a wrong token from that neighbourhood. Loopback is never refused: users, containers and a proxy share it. */
  add(address: string): WrongToken {
    const { mono } = this.#clock.read()
    const before = this.#byAddress.get(address)
    const beyondMs = (before?.beyondUntilMono ?? 0) - mono
    if (beyondMs > 0) return { kind: 'beyond', blockedMs: isLoopbackNeighbourhood(address) ? 0 : beyondMs }
    const tried = before !== undefined && mono - before.sinceMono < WITHIN_MS ? before : { count: 0, sinceMono: mono, beyondUntilMono: 0 }
    tried.count++
    const limit = tried.count >= TIMES
    if (limit) tried.beyondUntilMono = mono + BLOCK_MS
    this.#remember(address, tried)
    return { kind: limit ? 'limit' : 'counted', blockedMs: limit && !isLoopbackNeighbourhood(address) ? BLOCK_MS : 0 }
  }

  #remember(address: string, tried: Tried): void {
    this.#byAddress.delete(address)
    this.#byAddress.set(address, tried)
    for (const oldest of this.#byAddress.keys()) {
      if (this.#byAddress.size <= ADDRESSES_MAX) break
      this.#byAddress.delete(oldest)
    }
  }
}

/** Returns the log entry for an address that has reached the limit: one per lockout, not per token. */
export function tooManyWrongTokens(
  address: string,
  { blockedMs }: WrongToken,
): readonly [message: string, fields: Readonly<Record<string, unknown>>] {
  return blockedMs > 0
    ? ['an address has sent too many wrong tokens: further wrong ones are refused for a while', { address, forMs: blockedMs }]
    : ['an address of this machine has sent too many wrong tokens: a client may use an old one', { address }]
}
