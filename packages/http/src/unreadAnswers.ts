/**
 * Bounds what clients leave unread of answers, whatever server the API is mounted in: the bytes of all of them together, and the time for
 * which a client reads nothing of one.
 */
import { getHeapStatistics } from 'node:v8'
import { type Clock, type Reader, Unread } from '@millrace/core'
import { soon } from './clock.ts'
import { BOUNDS } from './limits.ts'

interface Connection {
  readonly writableLength: number
  readonly encrypted?: boolean
  readonly _handle?: { readonly writeQueueSize?: number } | null
  readonly destroyed: boolean
  destroy(): unknown
}

/** The objects of `node:http` that @hono/node-server gives beside a request. */
interface NodeEnv {
  readonly incoming?: { readonly httpVersionMajor: number; readonly socket: Connection }
  readonly outgoing?: { readonly closed?: boolean; once(event: 'close', listener: () => void): unknown }
  /** True if the server bounds unread answers itself, as the daemon's does: it also knows who is stuck behind TLS. */
  readonly countsUnread?: boolean
}

interface Answer extends Reader {
  readonly socket: Connection
  /** The bytes that have yet to leave this process, at the last look, and when that number last changed; monotonic. */
  left: number
  leftMono: number
}

export class UnreadAnswers {
  readonly #clock: Clock
  /** Answers are in the heap, and must leave room there. */
  readonly #unread: Unread
  /** The answers that were begun and whose responses are open. An app may ask several things before it answers one request. */
  readonly #open = new Map<Connection, Answer>()
  /** Ends the timer of the next look. */
  #forget: (() => void) | undefined

  constructor(clock: Clock, budgetBytes = Math.min(BOUNDS.unreadBytes, getHeapStatistics().heap_size_limit / 4)) {
    this.#clock = clock
    this.#unread = new Unread(budgetBytes)
  }

  /** Notes an answer that is about to be written. HTTP/2 has a flow control of its own, and other servers give no connection. */
  begin(env: unknown): void {
    const { incoming, outgoing, countsUnread } = (env ?? {}) as NodeEnv
    if (countsUnread === true || incoming?.httpVersionMajor !== 1 || outgoing === undefined || outgoing.closed === true) return
    const { socket } = incoming
    if (this.#open.has(socket)) return
    const isOpen = () => this.#open.get(socket) === answer && !socket.destroyed
    const answer: Answer = {
      socket,
      left: 0,
      leftMono: this.#clock.read().mono,
      get unreadBytes() {
        return isOpen() ? socket.writableLength : 0
      },
      crowdOut: () => void socket.destroy(),
    }
    this.#open.set(socket, answer)
    outgoing.once('close', () => {
      this.#open.delete(socket)
      this.#unread.look(answer)
      if (this.#open.size > 0) return
      this.#forget?.()
      this.#forget = undefined
    })
    soon(() => this.#unread.look(answer))
    this.#lookSoon()
  }

  #lookSoon(): void {
    this.#forget ??= this.#clock.setTimer(BOUNDS.unreadLookMs, () => {
      this.#forget = undefined
      for (const answer of this.#open.values()) this.#look(answer)
      if (this.#open.size > 0) this.#lookSoon()
    })
  }

  /** Closes the connection if its client has read nothing for long. Of an encrypted one, that cannot be seen here. */
  #look(answer: Answer): void {
    const { socket } = answer
    const { mono } = this.#clock.read()
    const left = socket.writableLength === 0 ? 0 : socket.writableLength + (socket._handle?.writeQueueSize ?? 0)
    if (left === 0 || left !== answer.left || socket.encrypted === true) answer.leftMono = mono
    answer.left = left
    this.#unread.look(answer)
    if (mono - answer.leftMono >= BOUNDS.unreadMs) socket.destroy()
  }
}
