/**
 * Questions that a turn had no time for. The next turns answer them: those of one connection in the order in which they
 * arrived, the connections by turns, and pages of the journal mostly after all others.
 */
import { type Clock, LIMITS, type Operation, traitsOf } from '@millrace/core'
import type { ConnectionId, Envelope } from '@millrace/core/kernel'

/** The interval, in questions taken, at which a page comes first, however many short questions there are. */
const PAGE_EVERY = 8

export class Backlog {
  readonly #short = new Line()
  readonly #pages = new Line()
  readonly #clock: Clock
  #taken = 0
  /** The moment after which the turn begins no further answer; 0 before its first. */
  #untilMono = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  beginTurn(): void {
    this.#untilMono = 0
  }

  /** True if the turn has time for another answer. The time starts with the first answer, so that a long commit takes nothing of it. */
  hasTime(): boolean {
    const { mono } = this.#clock.read()
    if (this.#untilMono === 0) this.#untilMono = mono + LIMITS.turnMs
    return mono < this.#untilMono
  }

  get size(): number {
    return this.#short.size + this.#pages.size
  }

  /** True if the connection has a question of this kind in the backlog, which is answered first. */
  holds({ connection, request }: Envelope): boolean {
    return this.#lineOf(request.command.op).has(connection)
  }

  add(envelope: Envelope): void {
    this.#lineOf(envelope.request.command.op).add(envelope)
  }

  /** Removes and returns the question that is answered next. */
  take(): Envelope | undefined {
    const [first, second] = ++this.#taken % PAGE_EVERY === 0 ? [this.#pages, this.#short] : [this.#short, this.#pages]
    return first.take() ?? second.take()
  }

  forget(connection: ConnectionId, request?: number): void {
    this.#short.forget(connection, request)
    this.#pages.forget(connection, request)
  }

  #lineOf(op: Operation): Line {
    return traitsOf(op).reads === 'journal' ? this.#pages : this.#short
  }
}

/** The questions of one connection, in order. The iterator continues after those that were taken. */
interface Own {
  readonly envelopes: Map<number, Envelope>
  readonly order: Iterator<Envelope>
}

class Line {
  /** The connection whose turn it is comes first. */
  readonly #byConnection = new Map<ConnectionId, Own>()
  size = 0

  has(connection: ConnectionId): boolean {
    return this.#byConnection.has(connection)
  }

  add(envelope: Envelope): void {
    const { connection, request } = envelope
    let own = this.#byConnection.get(connection)
    if (own === undefined) {
      const envelopes = new Map<number, Envelope>()
      own = { envelopes, order: envelopes.values() }
      this.#byConnection.set(connection, own)
    }
    if (!own.envelopes.has(request.id)) this.size++
    own.envelopes.set(request.id, envelope)
  }

  take(): Envelope | undefined {
    for (const [connection, own] of this.#byConnection) {
      this.#byConnection.delete(connection)
      const next = own.order.next()
      if (next.done) continue
      own.envelopes.delete(next.value.request.id)
      this.size--
      if (own.envelopes.size > 0) this.#byConnection.set(connection, own)
      return next.value
    }
    return undefined
  }

  forget(connection: ConnectionId, request?: number): void {
    const own = this.#byConnection.get(connection)
    if (own === undefined) return
    const before = own.envelopes.size
    if (request === undefined) own.envelopes.clear()
    else own.envelopes.delete(request)
    this.size -= before - own.envelopes.size
    if (own.envelopes.size === 0) this.#byConnection.delete(connection)
  }
}
