/** Who waits for a queue to be drained. Kept apart from the tables, so that a reload loses none. */
import { type ConnectionId, HELD, liveCountOf, Refused, type Reply, type Sender, type Tables } from '@millrace/core'
import { Waiting } from './waiting.ts'

interface Drain extends Sender {
  readonly queue: string
}

type Post = (connection: ConnectionId, reply: Reply) => void

export class Drains {
  readonly #waiting = new Waiting<Drain>()
  readonly #byQueue = new Map<string, Set<Drain>>()

  /** How many drains are waited for. */
  get size(): number {
    return this.#waiting.size
  }

  /** True where nothing of the queue is left that has not ended; otherwise remembers who asked. */
  ask(tables: Tables, queue: string, { connection, request }: Sender): true | Refused | typeof HELD {
    const found = outcomeOf(tables, queue)
    if (found !== HELD) return found
    const drain = { connection, request, queue }
    const others = this.#byQueue.get(queue)
    if (others === undefined) this.#byQueue.set(queue, new Set([drain]))
    else others.add(drain)
    this.#waiting.add(drain)
    return HELD
  }

  /** After a turn, or a reload. */
  settle(tables: Tables, post: Post): void {
    for (const [queue, drains] of this.#byQueue) {
      const found = outcomeOf(tables, queue)
      if (found === HELD) continue
      this.#byQueue.delete(queue)
      for (const drain of drains) {
        const { connection, request: id } = drain
        this.#waiting.delete(drain)
        post(connection, found instanceof Refused ? { id, refusal: found.refusal } : { id, value: found })
      }
    }
  }

  forget(connection: ConnectionId, request?: number): void {
    for (const drain of this.#waiting.take(connection, request)) {
      const others = this.#byQueue.get(drain.queue)
      others?.delete(drain)
      if (others?.size === 0) this.#byQueue.delete(drain.queue)
    }
  }
}

function outcomeOf({ queues }: Tables, name: string): true | Refused | typeof HELD {
  const queue = queues.get(name)
  // Deleted, and so empty.
  if (queue === undefined) return true
  if (queue.settings.draining === undefined) {
    const message = `queue '${name}' was resumed before it was drained: it takes new jobs again`
    return new Refused({ code: 'DRAIN_INCOMPLETE', message, details: { queue: name } })
  }
  return liveCountOf(queue) === 0 ? true : HELD
}
