/**
 * What a channel's far side has been told and has not read. A message port queues without bound, so events, which nobody asks for
 * one by one, are counted: a listener that cannot follow misses some, and is told which.
 */
import { type Delivery, LIMITS } from '@millrace/core'

export class Unread {
  #count = 0
  #gap: { first: number; last: number } | undefined

  /** The delivery as it may go; undefined where nothing of it is left. */
  admit(delivery: Delivery): Delivery | undefined {
    const { events, notices } = delivery
    const [head] = events
    if (head === undefined) return delivery
    if (this.#count >= LIMITS.eventsUnread || (this.#gap !== undefined && this.#count > LIMITS.eventsUnread / 2)) {
      this.#gap = { first: this.#gap?.first ?? head.seq, last: head.seq + events.length - 1 }
      const { replies, grants } = delivery
      return replies.length + grants.length + notices.length > 0 ? { ...delivery, events: [] } : undefined
    }
    this.#count += events.length
    if (this.#gap === undefined) return delivery
    const notice = { kind: 'gap', ...this.#gap } as const
    this.#gap = undefined
    return { ...delivery, notices: [...notices, notice] }
  }

  /** The far side has read so many events. */
  read(events: number): void {
    this.#count -= events
  }
}
