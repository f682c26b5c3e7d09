/**
 * Addresses that try tokens. After five wrong tokens in a minute, further wrong ones of that address are refused for half a minute. A
 * good token passes at every address, because many people may share one: callers look at the token first, and come here with wrong ones.
 */
import type { Clock } from '../clock.ts'
import { isLoopbackNeighbourhood } from './neighbourhood.ts'

const TIMES = 5
const WITHIN_MS = 60_000
const BLOCK_MS = 30_000
const ADDRESSES_MAX = 10_000

interface Tried {
  count: number
  /** Of the first that counts. */
  readonly sinceMono: number
  beyondUntilMono: number
}

/** What a wrong token is to its address. */
export interface WrongToken {
  /** `limit`: it was the last one that counts, and deserves a line in the log; `beyond`: it came within half a minute after that. */
  readonly kind: 'counted' | 'limit' | 'beyond'
  /** Milliseconds for which the address's wrong tokens are still refused; 0 if they are not, as for loopback. */
  readonly blockedMs: number
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

  /** Counts a wrong token of that neighbourhood. Loopback is never refused: users, containers and a proxy share it. */
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

/** What the log says of an address that has reached the limit: once per lockout, not per token. */
export function tooManyWrongTokens(
  address: string,
  { blockedMs }: WrongToken,
): readonly [message: string, fields: Readonly<Record<string, unknown>>] {
  return blockedMs > 0
    ? ['an address has sent too many wrong tokens: further wrong ones are refused for a while', { address, forMs: blockedMs }]
    : ['an address of this machine has sent too many wrong tokens: a client may use an old one', { address }]
}
