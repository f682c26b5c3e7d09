/** Admits a limited number of connections: in all, per address and before their greeting. It counts wrong tokens by address. */
import { type Clock, WaitingRoom, type WrongToken, WrongTokens } from '@millrace/core'
import { BOUNDS } from '../limits.ts'
import type { End } from '../link.ts'

export interface GateLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly maxUnauthenticated: number
}

/** The place of one connection. */
export interface Pass {
  /** Called when the connection has greeted. */
  greeted(): void
  /** The address, as limits count it; undefined for Unix sockets and pipes. */
  readonly address: string | undefined
  /** Counts a wrong token, and returns what that means for the address, if there is one. */
  failed(): WrongToken | undefined
  /** Called when the connection is over. */
  leave(): void
}

export class Gate {
  readonly #limits: GateLimits
  readonly #byAddress = new Map<string, number>()
  readonly #wrong: WrongTokens
  readonly #greeting: WaitingRoom
  #connections = 0

  constructor(limits: GateLimits, clock: Clock) {
    this.#limits = limits
    this.#wrong = new WrongTokens(clock)
    this.#greeting = new WaitingRoom(limits.maxUnauthenticated)
  }

  get connections(): number {
    return this.#connections
  }

  /**
   * @param address undefined for Unix sockets and pipes, whose clients cannot be distinguished
   * @param crowdedOut called if the connection loses its place before its greeting, to one of an address that has fewer
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
      address,
      greeted,
      failed: () => (address === undefined ? undefined : this.#wrong.add(address)),
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
    return undefined
  }

  #tooMany(): End {
    const { maxUnauthenticated } = this.#limits
    return busy(`${maxUnauthenticated} connections have yet to greet, and no more are taken until they have (maxUnauthenticated)`)
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
