/**
 * Places for HTTP connections. A connection without a complete request waits. If all places are taken, a newcomer replaces the waiting
 * connection that has waited longest, of the address that has most of them. So half-sent requests shut out only each other. A few more
 * places are reserved for health checks, in case all other connections are being answered.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Logger, neighbourhoodOf, WaitingRoom } from '@millrace/core'

/** The number of places that are reserved for health checks, beyond `http.maxConnections`. */
const KEPT = 16

interface Place {
  readonly kept: boolean
  /** The number of requests that are being answered. */
  answering: number
  /** Ends the wait. */
  leave: () => void
}

export class Places {
  readonly #max: number
  readonly #logger: Logger
  readonly #waiting = new WaitingRoom(Number.POSITIVE_INFINITY)
  readonly #waitingKept = new WaitingRoom(Number.POSITIVE_INFINITY)
  /** Places by both ends of the connection, because with TLS a request has another socket than its connection. */
  readonly #byEnds = new Map<string, Place>()
  #kept = 0
  #crowded = false

  constructor(max: number, logger: Logger) {
    this.#max = max
    this.#logger = logger
  }

  /** Gives a new connection a place, or closes it. */
  take(socket: Socket): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined) return
    const kept = this.#taken >= this.#max && !this.#crowdOut(this.#waiting)
    if (kept && this.#kept >= KEPT && !this.#crowdOut(this.#waitingKept)) {
      socket.destroy()
      return
    }
    const ends = endsOf(socket)
    const place: Place = { kept, answering: 0, leave: () => {} }
    if (kept) this.#kept++
    this.#byEnds.set(ends, place)
    this.#wait(ends, place, neighbourhoodOf(remoteAddress), socket)
    socket.once('close', () => this.#free(ends, place))
  }

  /** Marks a request whose head is complete: its connection stops waiting until all of its requests are answered. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const ends = endsOf(socket)
    const place = this.#byEnds.get(ends)
    if (place === undefined) return
    if (place.kept) response.setHeader('connection', 'close')
    place.answering++
    place.leave()
    const address = neighbourhoodOf(socket.remoteAddress ?? '')
    response.once('close', () => {
      // The rest of its body may still have to arrive.
      if (--place.answering === 0 && this.#byEnds.get(ends) === place) this.#wait(ends, place, address, socket)
    })
  }

  /** True if the connection has one of the places that are reserved for health checks. */
  isKept(socket: Socket): boolean {
    return this.#kept > 0 && this.#byEnds.get(endsOf(socket))?.kept === true
  }

  get #taken(): number {
    return this.#byEnds.size - this.#kept
  }

  #wait(ends: string, place: Place, address: string, socket: Socket): void {
    const room = place.kept ? this.#waitingKept : this.#waiting
    const leave = room.enter(address, () => {
      this.#free(ends, place)
      socket.destroy()
    })
    place.leave = () => leave?.()
  }

  #free(ends: string, place: Place): void {
    if (this.#byEnds.get(ends) !== place) return
    this.#byEnds.delete(ends)
    place.leave()
    if (place.kept) this.#kept--
    if (this.#taken < this.#max / 2) this.#crowded = false
  }

  #crowdOut(room: WaitingRoom): boolean {
    const made = room.crowdOut()
    if (!this.#crowded) {
      this.#crowded = true
      this.#logger.warn('all HTTP connections are taken: the ones that have waited longest for a request are closed', {
        maxConnections: this.#max,
      })
    }
    return made
  }
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
