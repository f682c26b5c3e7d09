/**
 * Answers one request of a connection at a time. Node parses all requests of a packet at once, so a client that reads nothing could
 * otherwise make this process hold thousands of answers.
 */
import { HttpError } from './errors.ts'
import { BOUNDS } from './limits.ts'

interface Connection {
  readonly destroyed: boolean
  destroy(): unknown
}

interface Outgoing {
  once(event: 'close', listener: () => void): unknown
}

/** The objects of `node:http` that @hono/node-server gives beside a request. */
interface NodeEnv {
  readonly incoming?: { readonly httpVersionMajor: number; readonly socket: Connection }
  readonly outgoing?: Outgoing
}

export class Turns {
  /** The requests that wait, by connections with a request that is being answered. */
  readonly #waiting = new WeakMap<Connection, (() => void)[]>()
  /** The turns of requests by their responses: an app may ask several things before it answers one request. */
  readonly #turns = new WeakMap<Outgoing, Promise<void> | undefined>()

  /**
   * Resolves when all earlier requests of the connection are answered. Returns undefined if it is the request's turn now, and for requests
   * that come from no connection, or from one of HTTP/2, which has a flow control of its own.
   *
   * @throws HttpError 503 if the connection was closed, also because too many of its requests wait
   */
  take(env: unknown): Promise<void> | undefined {
    const { incoming, outgoing } = (env ?? {}) as NodeEnv
    if (incoming?.httpVersionMajor !== 1 || outgoing === undefined) return undefined
    if (this.#turns.has(outgoing)) return this.#turns.get(outgoing)
    const turn = this.#turnOf(incoming.socket, outgoing)
    this.#turns.set(outgoing, turn)
    return turn
  }

  #turnOf(socket: Connection, outgoing: Outgoing): Promise<void> | undefined {
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) {
      this.#begin(socket, outgoing, [])
      return undefined
    }
    // Nothing can be answered yet: that would be an answer to another request.
    if (waiting.length >= BOUNDS.requestsWaiting) socket.destroy()
    if (socket.destroyed) return Promise.reject(tooMany())
    return new Promise((resolve, reject) => {
      waiting.push(() => {
        if (socket.destroyed) reject(tooMany())
        else resolve()
        this.#begin(socket, outgoing, waiting)
      })
    })
  }

  #begin(socket: Connection, outgoing: Outgoing, waiting: (() => void)[]): void {
    this.#waiting.set(socket, waiting)
    const next = () => {
      const begin = waiting.shift()
      if (begin === undefined) this.#waiting.delete(socket)
      else begin()
    }
    // The response of a request that waits belongs to no connection yet: it does not notice that its connection is closed.
    if (socket.destroyed) next()
    else outgoing.once('close', next)
  }
}

function tooMany(): HttpError {
  return new HttpError('BUSY', `the connection was closed: it may have ${BOUNDS.requestsWaiting} requests that wait for an earlier one`)
}
