/**
 * Places for HTTP connections. A connection waits if the next step is its client's: to send the rest of a request, or to read an answer. If
 * all places are taken, a newcomer replaces the connection that has waited longest without progress, of the address that has most of them.
 * So half-sent requests and unread answers shut out only each other. A few more places are reserved for health checks, in case all other
 * connections are being answered.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getHeapStatistics } from 'node:v8'
import { type Logger, neighbourhoodOf, type Reader, Unread, WaitingRoom } from '@millrace/core'

/** The number of places that are reserved for health checks, beyond `http.maxConnections`. */
const KEPT = 16
/** The unread bytes of all answers together. Answers are in the heap, and must leave room there. */
const UNREAD_BYTES = Math.min(256 * 2 ** 20, getHeapStatistics().heap_size_limit / 4)
/** The number of ticks, a second each, after which a connection whose client reads nothing of an answer is closed. */
const STUCK_TICKS = 60

interface Place extends Reader {
  /** Both ends of the connection. */
  readonly ends: string
  readonly kept: boolean
  readonly address: string
  readonly connection: Socket
  /** The socket of requests: with TLS, it is another than that of the connection. */
  socket: Socket
  /** The requests that are not answered yet, the oldest first. True if nobody knows who asks before the request is complete. */
  readonly requests: Map<IncomingMessage, boolean>
  /** Ends the wait. Undefined if the connection does not wait. */
  leave: (() => void) | undefined
  /** The bytes that had yet to leave this process at the last look, and the ticks since that number changed. */
  left: number
  ticks: number
  free: boolean
}

export class Places {
  readonly #max: number
  readonly #logger: Logger
  readonly #waiting = new WaitingRoom(Number.POSITIVE_INFINITY)
  readonly #waitingKept = new WaitingRoom(Number.POSITIVE_INFINITY)
  readonly #unread = new Unread(UNREAD_BYTES)
  /** Places by both ends of the connection. */
  readonly #byEnds = new Map<string, Place>()
  /** The places of connections with requests. */
  readonly #answering = new Set<Place>()
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
    const place = this.#placeOf(socket, { ends, kept, address: neighbourhoodOf(remoteAddress) })
    if (kept) this.#kept++
    this.#byEnds.set(ends, place)
    this.#settle(place)
    socket.once('close', () => this.#free(place))
  }

  /** Notes a request whose head is complete, until it is answered. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const place = this.#byEnds.get(endsOf(socket))
    if (place === undefined) return
    if (place.kept) response.setHeader('connection', 'close')
    place.socket = socket
    place.requests.set(request, false)
    this.#answering.add(place)
    this.#settle(place)
    response.once('close', () => {
      place.requests.delete(request)
      place.left = 0
      place.ticks = 0
      this.#unread.look(place)
      if (place.requests.size === 0) this.#answering.delete(place)
      // The rest of its body may still have to arrive.
      this.#settle(place)
    })
  }

  /** Notes that the body of a request is read before anybody knows who asks: until it is complete, its connection waits. */
  anonymous(request: IncomingMessage): void {
    const place = this.#byEnds.get(endsOf(request.socket))
    if (place?.requests.has(request) !== true) return
    place.requests.set(request, true)
    this.#settle(place)
  }

  /** Notes what the client of an answer that was written has yet to read. */
  written(socket: Socket): void {
    const place = this.#byEnds.get(endsOf(socket))
    if (place !== undefined) this.#note(place)
  }

  /** Called every second: closes connections whose clients have read nothing for long. */
  tick(): void {
    this.#look()
    for (const place of this.#answering) if (place.left > 0 && ++place.ticks > STUCK_TICKS) place.socket.destroy()
  }

  /** True if the connection has one of the places that are reserved for health checks. */
  isKept(socket: Socket): boolean {
    return this.#kept > 0 && this.#byEnds.get(endsOf(socket))?.kept === true
  }

  get #taken(): number {
    return this.#byEnds.size - this.#kept
  }

  #placeOf(connection: Socket, fixed: Pick<Place, 'ends' | 'kept' | 'address'>): Place {
    const place: Place = {
      ...fixed,
      connection,
      socket: connection,
      requests: new Map(),
      leave: undefined,
      left: 0,
      ticks: 0,
      free: false,
      get unreadBytes() {
        return place.free ? 0 : place.socket.writableLength
      },
      get stuck() {
        return place.ticks > 1
      },
      crowdOut: () => {
        this.#logger.warn('an HTTP connection was closed: all clients together have too much unread, and it has the most', {
          unreadBytes: place.unreadBytes,
        })
        this.#close(place)
      },
    }
    return place
  }

  /** Notices which clients have read something, and which have not. */
  #look(): void {
    for (const place of this.#answering) this.#note(place)
  }

  #note(place: Place): void {
    // It enters again behind all others.
    if (hasRead(place)) this.#leave(place)
    this.#settle(place)
    this.#unread.look(place)
  }

  #settle(place: Place): void {
    if (place.free) return
    if (!waits(place)) this.#leave(place)
    if (!waits(place) || place.leave !== undefined) return
    const room = place.kept ? this.#waitingKept : this.#waiting
    place.leave = room.enter(place.address, () => {
      place.leave = undefined
      // It may have read something since the last look. Another one goes then.
      if (hasRead(place)) this.#settle(place)
      else this.#close(place)
    })
  }

  #leave(place: Place): void {
    place.leave?.()
    place.leave = undefined
  }

  #close(place: Place): void {
    this.#free(place)
    place.socket.destroy()
  }

  #free(place: Place): void {
    if (place.free) return
    place.free = true
    this.#byEnds.delete(place.ends)
    this.#answering.delete(place)
    this.#leave(place)
    this.#unread.look(place)
    if (place.kept) this.#kept--
    if (this.#taken < this.#max / 2) this.#crowded = false
  }

  #crowdOut(room: WaitingRoom): boolean {
    if (!this.#crowded) {
      this.#crowded = true
      this.#logger.warn('all HTTP connections are taken: the ones that have waited longest for their clients are closed', {
        maxConnections: this.#max,
      })
    }
    if (this.#closeOne(room)) return true
    // Since the last look, more of them may wait.
    this.#look()
    return this.#closeOne(room)
  }

  #closeOne(room: WaitingRoom): boolean {
    const { size } = this.#byEnds
    while (this.#byEnds.size === size && room.crowdOut()) {}
    return this.#byEnds.size < size
  }
}

/** True if the next step is the client's. Other requests of the connection wait for the first one. */
function waits({ requests, socket }: Place): boolean {
  for (const [request, anonymous] of requests) return socket.writableLength > 0 || (anonymous && !request.complete)
  return true
}

/** Returns true if bytes of the answer have left this process since the last call, also if all have. */
function hasRead(place: Place): boolean {
  const left = place.unreadBytes === 0 ? 0 : leftOf(place)
  if (left === place.left) return false
  place.left = left
  place.ticks = 0
  return true
}

/** Returns a number that changes with each byte that leaves this process. Node's own timeouts look at the same. */
function leftOf({ socket, connection }: Place): number {
  const { _handle: handle } = connection as { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
