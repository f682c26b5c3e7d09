/**
 * Places for connections of HTTP. A connection whose request is not whole, or that has none, waits: if all places are taken, the one that
 * has waited longest of the address that has most of these is closed for a newcomer. So half-sent requests shut nobody out, and cost
 * nothing but each other. A few more places are kept for questions of health, for the case that all others are being answered.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Logger, neighbourhoodOf, WaitingRoom } from '@millrace/core'

/** Beyond `http.maxConnections`. */
const KEPT = 16

interface Place {
  readonly kept: boolean
  /** Requests that are being answered. */
  answering: number
  /** Ends the wait. */
  leave: () => void
}

export class Places {
  readonly #max: number
  readonly #logger: Logger
  readonly #waiting = new WaitingRoom(Number.POSITIVE_INFINITY)
  readonly #waitingKept = new WaitingRoom(Number.POSITIVE_INFINITY)
  /** By both ends of the connection: with TLS, a request has another socket than its connection. */
  readonly #byEnds = new Map<string, Place>()
  #kept = 0
  #crowded = false

  constructor(max: number, logger: Logger) {
    this.#max = max
    this.#logger = logger
  }

  /** A connection has come: it gets a place, or is closed. */
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

  /** A request has a whole head: its connection waits no more until all of its requests are answered. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const ends = endsOf(socket)
    const place = this.#byEnds.get(ends)
    if (place === undefined) return
    if (place.kept) response.setHeader('connection', 'close')
    place.answering++
    place.leave()
    const address = neighbourhoodOf(socket.remoteAddress ?? '')
    response.once('close', () => {
      // The rest of its body may yet have to come.
      if (--place.answering === 0 && this.#byEnds.get(ends) === place) this.#wait(ends, place, address, socket)
    })
  }

  /** True if the connection has one of the places that are kept for questions of health. */
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
