/** Gives runs back that come too late to begin. If the store is still this thread's, they come again. */
import type { Delivery, Port, PortListener, Request } from '@millrace/core'

/** The id of requests whose answers nobody waits for. */
const GIVES_BACK = -1

/** Returns the delivery without its runs, which it gives back. */
export function withoutGrants(delivery: Delivery, port: Pick<Port, 'send'>): Delivery {
  port.send(delivery.grants.map(({ seq, run }): Request => ({ id: GIVES_BACK, command: { op: 'giveBack', seq, run } })))
  return { ...delivery, grants: [] }
}

/** A Port to the writer for others, such as the clients of a server. Runs that come while `isLate` are given back. */
export class TimelyPort implements Port {
  readonly capabilities: Port['capabilities']
  readonly maxDataBytes: number | undefined
  readonly #port: Port
  readonly #isLate: () => boolean
  /** The runs that were given back and are unanswered: the user of this Port does not know of these requests. */
  #unanswered = 0

  constructor(port: Port, isLate: () => boolean) {
    this.#port = port
    this.#isLate = isLate
    this.capabilities = port.capabilities
    this.maxDataBytes = port.maxDataBytes
  }

  listen(listener: PortListener): void {
    this.#port.listen({
      deliver: (delivery) => listener.deliver(this.#inTime(this.#answered(delivery))),
      broken: (refusal) => listener.broken(refusal),
      reopened: () => listener.reopened(),
      lapsed: (ms) => listener.lapsed(ms),
      ended: (refusal) => listener.ended(refusal),
    })
  }

  #answered(delivery: Delivery): Delivery {
    if (this.#unanswered === 0) return delivery
    const replies = delivery.replies.filter(({ id }) => id !== GIVES_BACK)
    this.#unanswered -= delivery.replies.length - replies.length
    return { ...delivery, replies }
  }

  #inTime(delivery: Delivery): Delivery {
    if (delivery.grants.length === 0 || !this.#isLate()) return delivery
    this.#unanswered += delivery.grants.length
    return withoutGrants(delivery, this.#port)
  }

  send(requests: readonly Request[]): void {
    this.#port.send(requests)
  }

  hold(alive: boolean): void {
    this.#port.hold(alive)
  }

  close(): Promise<void> {
    return this.#port.close()
  }
}
