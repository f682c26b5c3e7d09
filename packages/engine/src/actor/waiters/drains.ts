/** Callers that wait for a queue to be drained. */
import { DEFERRED, Refused } from '@millrace/core'
import { type ConnectionId, liveCountOf, type Sender, type Tables } from '@millrace/core/kernel'
import { type Post, WaitingRoom } from './waitingRoom.ts'

interface Drain extends Sender {
  readonly queue: string
}

export class DrainWaiters {
  readonly waiting = new WaitingRoom<Drain>()
  readonly #byQueue = new Map<string, Set<Drain>>()

  /** Returns true if all jobs of the queue have ended; otherwise the caller waits. */
  ask(tables: Tables, queue: string, { connection, request }: Sender): true | Refused | typeof DEFERRED {
    const found = outcomeOf(tables, queue)
    if (found !== DEFERRED) return found
    const drain = { connection, request, queue }
    const others = this.#byQueue.get(queue)
    if (others === undefined) this.#byQueue.set(queue, new Set([drain]))
    else others.add(drain)
    this.waiting.add(drain)
    return DEFERRED
  }

  /** Answers drains that are over; runs after a turn or a reload. */
  settle(tables: Tables, post: Post): void {
    for (const [queue, drains] of this.#byQueue) {
      const found = outcomeOf(tables, queue)
      if (found === DEFERRED) continue
      this.#byQueue.delete(queue)
      for (const drain of drains) {
        const { connection, request: id } = drain
        this.waiting.delete(drain)
        post(connection, found instanceof Refused ? { id, refusal: found.refusal } : { id, value: found })
      }
    }
  }

  forget(connection: ConnectionId, request?: number): void {
    for (const drain of this.waiting.take(connection, request)) {
      const others = this.#byQueue.get(drain.queue)
      others?.delete(drain)
      if (others?.size === 0) this.#byQueue.delete(drain.queue)
    }
  }
}

function outcomeOf({ queues }: Tables, name: string): true | Refused | typeof DEFERRED {
  const queue = queues.get(name)
  // The queue was deleted, and so is empty.
  if (queue === undefined) return true
  if (queue.settings.draining === undefined) {
    const message = `queue '${name}' was resumed before it was drained: it takes new jobs again`
    return new Refused({ code: 'DRAIN_INCOMPLETE', message, details: { queue: name } })
  }
  return liveCountOf(queue) === 0 ? true : DEFERRED
}
