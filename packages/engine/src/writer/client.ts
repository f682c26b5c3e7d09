/** One client of the actor, over any kind of channel. */
import type { Actor } from '../actor/actor.ts'
import { type PackedDelivery, packDelivery } from '../ports/pack/deliveries.ts'
import { type PackedRequests, unpackRequests } from '../ports/pack/requests.ts'
import { Unread } from './unread.ts'

export interface Client {
  /** Takes requests, or the number of events that have been read. Returns true if there is something to do. */
  hear(said: PackedRequests | number): boolean
  leave(): void
}

export function newClient(actor: Pick<Actor, 'connect' | 'receive' | 'disconnect'>, post: (packed: PackedDelivery) => void): Client {
  const unread = new Unread()
  const connection = actor.connect((delivery) => {
    const admitted = unread.admit(delivery)
    if (admitted !== undefined) post(packDelivery(admitted))
  })
  return {
    hear(said) {
      if (typeof said === 'number') unread.read(said)
      else actor.receive(connection, unpackRequests(said))
      return typeof said !== 'number'
    },
    leave: () => actor.disconnect(connection),
  }
}
