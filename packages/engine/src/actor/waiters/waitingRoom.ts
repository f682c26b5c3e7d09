/** Questions that wait for an answer, by connection: dropping one takes the same time however many wait. */
import type { Reply } from '@millrace/core'
import type { ConnectionId, Sender } from '@millrace/core/kernel'

export type Post = (connection: ConnectionId, reply: Reply) => void

export class WaitingRoom<T extends Sender> {
  readonly #byConnection = new Map<ConnectionId, Map<number, T>>()
  /** The number of questions that wait. */
  size = 0

  add(question: T): void {
    const { connection, request } = question
    let own = this.#byConnection.get(connection)
    if (own === undefined) {
      own = new Map()
      this.#byConnection.set(connection, own)
    }
    if (!own.has(request)) this.size++
    own.set(request, question)
  }

  /** Removes and returns one question of a connection, or all of them. */
  take(connection: ConnectionId, request?: number): readonly T[] {
    const own = this.#byConnection.get(connection)
    if (own === undefined) return []
    const taken = request === undefined ? [...own.values()] : [own.get(request)].filter((question) => question !== undefined)
    if (request === undefined) own.clear()
    else own.delete(request)
    if (own.size === 0) this.#byConnection.delete(connection)
    this.size -= taken.length
    return taken
  }

  delete({ connection, request }: Sender): void {
    this.take(connection, request)
  }

  takeAll(): readonly T[] {
    const all = [...this]
    this.#byConnection.clear()
    this.size = 0
    return all
  }

  /** Iterates over all questions, those of one connection in the order in which they were asked. A question may be deleted meanwhile. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (const own of this.#byConnection.values()) yield* own.values()
  }
}
