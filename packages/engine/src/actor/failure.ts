/** What ends an actor. */
import type { Refusal } from '@millrace/core'

/** A storage error that ends the actor: whoever runs it starts another one, or gives up. */
export class ActorFailure extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.message, options)
    this.name = 'ActorFailure'
    this.refusal = refusal
  }
}
