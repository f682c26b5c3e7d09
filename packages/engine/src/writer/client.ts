/** One client of the actor, over any kind of channel. */
import type { Vitals } from '@millrace/core'
import type { Actor } from '../actor/actor.ts'
import { type PackedDelivery, packDelivery } from '../ports/pack/deliveries.ts'
import { type PackedRequests, unpackRequests } from '../ports/pack/requests.ts'
import { Unread } from './unread.ts'

/** A message of a client: requests, the number of events that have been read, or the figures of its process. */
export type Said = PackedRequests | Vitals | number

export interface Client {
  /** Returns true if there is something to do. */
  hear(message: Said): boolean
  leave(): void
}

export function newClient(
  actor: Pick<Actor, 'connect' | 'receive' | 'note' | 'disconnect'>,
  post: (packed: PackedDelivery) => void,
): Client {
  const unread = new Unread()
  const connection = actor.connect((delivery) => {
    const admitted = unread.admit(delivery)
    if (admitted !== undefined) post(packDelivery(admitted))
  })
  return {
    hear(message) {
      if (typeof message === 'number') unread.read(message)
      else if ('numbers' in message) {
        actor.receive(connection, unpackRequests(message))
        return true
      } else actor.note(connection, message)
      return false
    },
    leave: () => actor.disconnect(connection),
  }
}
