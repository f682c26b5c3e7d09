/** The writer's end of a mux: a client of the actor for each Port at the other end, from its first message until it is closed. */
import type { MuxDelivery, MuxRequest } from '../ports/mux.ts'
import type { Client } from './client.ts'

export class PortDemux {
  readonly #clients = new Map<number, Client>()
  readonly #connect: (port: number) => Client

  constructor(connect: (post: (message: MuxDelivery[1]) => void) => Client, post: (message: MuxDelivery) => void) {
    this.#connect = (port) => connect((message) => post([port, message]))
  }

  /** Returns true if there is something to do. */
  hear([port, message]: MuxRequest): boolean {
    let client = this.#clients.get(port)
    if (message === null) {
      client?.leave()
      this.#clients.delete(port)
      return client !== undefined
    }
    if (client === undefined) {
      client = this.#connect(port)
      this.#clients.set(port, client)
    }
    return client.hear(message)
  }

  close(): void {
    for (const client of this.#clients.values()) client.leave()
    this.#clients.clear()
  }
}
