/** Who is let in: bounded numbers of connections, in all, of one address and before their greeting; and none after wrong tokens. */
import type { Clock } from '@millrace/core'
import { BOUNDS } from '../limits.ts'
import type { End } from '../link.ts'
import { WaitingRoom } from './waitingRoom.ts'

export interface GateLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly maxUnauthenticated: number
}

interface Failures {
  count: number
  /** Of the first that counts. */
  sinceMono: number
  blockedUntilMono: number
}

/** A place that a connection has. */
export interface Pass {
  /** It has greeted. */
  greeted(): void
  /** Its token was wrong. */
  failed(): void
  /** It is over. */
  leave(): void
}

export class Gate {
  readonly #limits: GateLimits
  readonly #clock: Clock
  readonly #byAddress = new Map<string, number>()
  /** The longest ago first. */
  readonly #failures = new Map<string, Failures>()
  readonly #greeting: WaitingRoom
  #connections = 0

  constructor(limits: GateLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#greeting = new WaitingRoom(limits.maxUnauthenticated)
  }

  get connections(): number {
    return this.#connections
  }

  /**
   * @param address undefined for Unix sockets and pipes, whose clients cannot be told apart
   * @param crowdedOut called where it loses its place before its greeting, for one of an address that has fewer
   */
  enter(address: string | undefined, crowdedOut: (end: End) => void): Pass | End {
    const refused = this.#refusal(address)
    if (refused !== undefined) return refused
    const greeted = this.#greeting.enter(address, () => crowdedOut(this.#tooMany()))
    if (greeted === undefined) return this.#tooMany()
    this.#connections++
    if (address !== undefined) this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1)
    let inside = true
    return {
      greeted,
      failed: () => {
        if (address !== undefined) this.#fail(address)
      },
      leave: () => {
        if (!inside) return
        inside = false
        greeted()
        this.#connections--
        if (address !== undefined) this.#forgetOne(address)
      },
    }
  }

  #refusal(address: string | undefined): End | undefined {
    const { maxConnections, maxConnectionsPerAddress } = this.#limits
    if (this.#connections >= maxConnections) return busy(`the server has ${maxConnections} connections, and takes no more (maxConnections)`)
    if (address === undefined) return undefined
    if ((this.#byAddress.get(address) ?? 0) >= maxConnectionsPerAddress) {
      return busy(`the server has ${maxConnectionsPerAddress} connections of this address, and takes no more (maxConnectionsPerAddress)`)
    }
    const blockedMs = (this.#failures.get(address)?.blockedUntilMono ?? 0) - this.#clock.read().mono
    if (blockedMs <= 0) return undefined
    return { code: 'BUSY', message: 'too many wrong tokens from this address', retryAfterMs: Math.ceil(blockedMs) }
  }

  #tooMany(): End {
    const { maxUnauthenticated } = this.#limits
    return busy(`${maxUnauthenticated} connections have yet to greet, and no more are taken until they have (maxUnauthenticated)`)
  }

  #fail(address: string): void {
    const { mono } = this.#clock.read()
    const before = this.#failures.get(address)
    const failures =
      before !== undefined && mono - before.sinceMono < BOUNDS.failuresWithinMs
        ? before
        : { count: 0, sinceMono: mono, blockedUntilMono: 0 }
    failures.count++
    if (failures.count >= BOUNDS.failures) failures.blockedUntilMono = mono + BOUNDS.blockMs
    this.#failures.delete(address)
    this.#failures.set(address, failures)
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= BOUNDS.addresses) break
      this.#failures.delete(oldest)
    }
  }

  #forgetOne(address: string): void {
    const left = (this.#byAddress.get(address) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}

function busy(message: string): End {
  return { code: 'BUSY', message, retryAfterMs: BOUNDS.busyRetryMs }
}
