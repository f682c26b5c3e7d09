/** The outcome of a command before it becomes a reply. */

import type { Operation, ReplyOf } from './operations.ts'
import type { Refusal } from './refusal.ts'

/** Decided, but to be answered later. */
export const DEFERRED: unique symbol = Symbol('held')

/** A refusal found before anything was written. */
export class Refused {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

export type Decision<Op extends Operation> = ReplyOf[Op] | Refused | typeof DEFERRED
