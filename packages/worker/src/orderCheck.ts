/**
 * Checks that the engine keeps to a strict order of queues. An engine of an earlier version takes such a session and passes over its order.
 * So jobs that come with the answer to its attach wait here until the answer has been read.
 */
import { type AttachReply, type Grant, type QueueOrder, UnsupportedError } from '@millrace/core'

export class OrderCheck {
  readonly #isStrict: boolean
  /** Grants that came before the answer; undefined once the engine behind this connection has given it. */
  #early: Grant[] | undefined

  constructor(order: QueueOrder) {
    this.#isStrict = order === 'strict'
    this.begin()
  }

  /** Begins again: behind a new connection may be another engine. */
  begin(): void {
    if (this.#isStrict) this.#early ??= []
  }

  /** Takes a grant that has to wait for the answer. Returns false if it has not. */
  holds(grant: Grant): boolean {
    this.#early?.push(grant)
    return this.#early !== undefined
  }

  /** Reads the answer. @throws UnsupportedError */
  read({ order }: AttachReply): void {
    if (!this.#isStrict || order === 'strict') return
    throw new UnsupportedError("the engine is of an earlier version, which does not know order 'strict': bring it up to date")
  }

  /** Returns the grants that have waited. Further ones do not wait. */
  release(): readonly Grant[] {
    const early = this.#early ?? []
    this.#early = undefined
    return early
  }
}
