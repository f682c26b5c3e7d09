/** The requests that have arrived and are yet to be decided, in order. */
import { jobsOf, LIMITS, type Request } from '@millrace/core'
import type { ConnectionId, Envelope } from '@millrace/core/kernel'

export interface Arrived extends Envelope {
  /** The time of arrival, on the engine's clock. */
  readonly atMono: number
}

export class Inbox {
  #mail: Arrived[] = []

  get size(): number {
    return this.#mail.length
  }

  /** The time at which the oldest request arrived; undefined if there is none. */
  get sinceMono(): number | undefined {
    return this.#mail[0]?.atMono
  }

  add(connection: ConnectionId, requests: readonly Request[], atMono: number): void {
    for (const request of requests) this.#mail.push({ connection, request, atMono })
  }

  /** Takes the requests of one turn: up to `LIMITS.jobsPerTurn` jobs, and at least one command. */
  take(): readonly Arrived[] {
    let jobs = 0
    let count = 0
    for (const { request } of this.#mail) {
      if (jobs >= LIMITS.jobsPerTurn) break
      count++
      jobs += jobsOf(request.command)
    }
    if (count === this.#mail.length) {
      const mail = this.#mail
      this.#mail = []
      return mail
    }
    return this.#mail.splice(0, count)
  }

  /** Puts mail back in front of all that has arrived since it was taken. */
  putBack(mail: readonly Arrived[]): void {
    this.#mail = [...mail, ...this.#mail]
  }

  /** Marks the requests of a closed connection: they count, and nobody receives the answers. */
  close(connection: ConnectionId): void {
    this.#mail = this.#mail.map((envelope) => (envelope.connection === connection ? { ...envelope, gone: true } : envelope))
  }
}
