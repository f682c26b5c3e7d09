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
  hear(said: Said): boolean
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
    hear(said) {
      if (typeof said === 'number') unread.read(said)
      else if ('numbers' in said) {
        actor.receive(connection, unpackRequests(said))
        return true
      } else actor.note(connection, said)
      return false
    },
    leave: () => actor.disconnect(connection),
  }
}
