/**
 * Counts the events that a channel's far side was sent and has not read. A message port queues without bound, and events
 * come without being asked for one by one. So a listener that cannot follow misses some, and is notified of them.
 */
import { type Delivery, LIMITS } from '@millrace/core'

export class Unread {
  #count = 0
  #gap: { first: number; last: number } | undefined

  /** Returns the delivery as it may be sent; undefined if nothing of it is left. */
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

  /** Notes that the far side has read that number of events. */
  read(events: number): void {
    this.#count -= events
  }
}
