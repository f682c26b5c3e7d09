/** Defines the error that ends an actor. */
import type { Refusal } from '@millrace/core'

/** An error that ends the actor: its owner starts another one, or gives up. */
export class ActorFailure extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.message, options)
    this.name = 'ActorFailure'
    this.refusal = refusal
  }
}
