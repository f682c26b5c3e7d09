/** Defines the error that ends an actor. */
import type { Refusal } from '@millrace/core'
import type { StoreFailure } from '@millrace/core/kernel'

/** An error that ends the actor: its owner starts another one, or gives up. */
export class ActorFailure extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.message, options)
    this.name = 'ActorFailure'
    this.refusal = refusal
  }
}

/** Returns what callers of a store hear that this engine no longer owns. A file that was taken away has no other owner, and is named. */
export function ownerLost({ message, path }: StoreFailure): Refusal {
  return { code: 'OWNER_LOST', message, ...(path !== undefined && { details: { path } }) }
}
