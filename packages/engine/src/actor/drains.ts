/** Who waits for a queue to be drained. Kept apart from the tables, so that a reload loses none. */
import { type ConnectionId, HELD, liveCountOf, Refused, type Reply, type Sender, type Tables } from '@millrace/core'

interface Waiting extends Sender {
  readonly queue: string
}

export class Drains {
  #waiting: Waiting[] = []

  /** True where nothing of the queue is left that has not ended; otherwise remembers who asked. */
  ask(tables: Tables, queue: string, sender: Sender): true | Refused | typeof HELD {
    const found = outcomeOf(tables, queue)
    if (found === HELD) this.#waiting.push({ ...sender, queue })
    return found
  }

  /** After a turn, or a reload. */
  settle(tables: Tables, post: (connection: ConnectionId, reply: Reply) => void): void {
    if (this.#waiting.length === 0) return
    const left: Waiting[] = []
    for (const waiting of this.#waiting) {
      const { queue, connection, request: id } = waiting
      const found = outcomeOf(tables, queue)
      if (found === HELD) left.push(waiting)
      else post(connection, found instanceof Refused ? { id, refusal: found.refusal } : { id, value: found })
    }
    this.#waiting = left
  }

  forget(connection: ConnectionId, request?: number): void {
    this.#waiting = this.#waiting.filter((one) => one.connection !== connection || (request !== undefined && one.request !== request))
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
