/** The actor's side of its connections: which there are, which receive events, and what each of them is sent. */
import type { Delivery } from '@millrace/core'
import type { ConnectionId } from '@millrace/core/kernel'
import type { Deliveries } from './deliveries.ts'

export type Deliver = (delivery: Delivery) => void

export class Connections {
  readonly #deliver = new Map<ConnectionId, Deliver>()
  readonly #subscribed = new Set<ConnectionId>()
  /** The connections that receive events as they happen. */
  readonly subscribed: ReadonlySet<ConnectionId> = this.#subscribed
  #next = 1

  get all(): Iterable<ConnectionId> {
    return this.#deliver.keys()
  }

  add(deliver: Deliver): ConnectionId {
    const connection = this.#next++
    this.#deliver.set(connection, deliver)
    return connection
  }

  remove(connection: ConnectionId): void {
    this.#deliver.delete(connection)
    this.#subscribed.delete(connection)
  }

  subscribe(connection: ConnectionId, on: boolean): void {
    if (on) this.#subscribed.add(connection)
    else this.#subscribed.delete(connection)
  }

  send({ byConnection }: Deliveries): void {
    for (const [connection, delivery] of byConnection) this.#deliver.get(connection)?.(delivery)
  }

  /** Sends something outside of a turn's deliveries. */
  post(connection: ConnectionId, { replies = [], notices = [], grants = [], events = [], renewal = 0 }: Partial<Delivery>): void {
    this.#deliver.get(connection)?.({ replies, notices, grants, events, renewal })
  }
}
