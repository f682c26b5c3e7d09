/**
 * A Port to an engine in another process, across connections: when one is lost it reports that, and tries until there is another.
 * A request that was not answered on one has an unknown outcome; nothing is ever sent twice.
 */
import {
  type Capability,
  type Clock,
  ERROR_CODES,
  type ErrorCode,
  type Logger,
  type Port,
  type PortListener,
  type Refusal,
  type Request,
} from '@millrace/core'
import { ELEMENTS_MAX, type Message } from '@millrace/wire'
import { VitalSigns, within } from '@millrace/worker'
import { keepAlive } from '../clock.ts'
import { sendCut } from '../frames.ts'
import { BOUNDS } from '../limits.ts'
import type { End, Link } from '../link.ts'
import type { Backoff } from './backoff.ts'
import { DialError, type Dialled } from './dial.ts'
import { Lease } from './lease.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set(['work', 'list', 'backup', 'events'])
/** A connection that has held for this long was a good one: it resets the backoff. */
const HELD_MS = 5_000

export interface RemotePortOptions {
  readonly dial: (began: (link: Link) => void) => Promise<Dialled>
  readonly backoff: Backoff
  readonly clock: Clock
  readonly logger: Logger | undefined
}

export class RemotePort implements Port {
  readonly capabilities = CAPABILITIES
  readonly distant = true
  readonly #options: RemotePortOptions
  readonly #lease: Lease
  /** The open connection. */
  #link: Link | undefined
  /** The connection that is being opened. */
  #next: Link | undefined
  #listener: PortListener | undefined
  #maxDataBytes: number | undefined
  #openedMono = 0
  #alive = true
  #letGo: (() => void) | undefined
  #cancelRetry: (() => void) | undefined
  #ended = false

  /** Without a first connection the Port begins as one that has lost its connection. */
  constructor(options: RemotePortOptions, first: Dialled | undefined) {
    this.#options = options
    this.#lease = new Lease({
      clock: options.clock,
      send: (requests) => this.#send(requests),
      lapsed: (ms) => this.#listener?.lapsed(ms),
      vitals: new VitalSigns(),
    })
    if (first !== undefined) this.#open(first)
    else this.#retry({ retryAfterMs: 0 })
  }

  /** The limit of the server that was reached last. */
  get maxDataBytes(): number | undefined {
    return this.#maxDataBytes
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    if (this.#link === undefined) listener.broken({ code: 'CONNECTION_LOST', message: 'no engine has answered yet' })
  }

  send(requests: readonly Request[]): void {
    if (this.#link !== undefined) this.#send(this.#lease.outgoing(requests))
  }

  hold(alive: boolean): void {
    this.#alive = alive
    this.#link?.hold(alive)
    this.#next?.hold(alive)
    this.#stay()
  }

  async close(withinMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    const link = this.#link ?? this.#next
    this.#over()
    if (link === undefined) return
    // Nothing else may be keeping the process alive, and the goodbye must get out.
    link.hold(true)
    link.goodbye('CLOSING', 'the client is done', -1)
    await within(this.#options.clock, withinMs, link.closed)
  }

  #send(requests: readonly Request[]): void {
    const link = this.#link
    if (link === undefined) return
    sendCut(requests, {
      message: (some) => ({ type: 'requests', requests: some }),
      frameBytes: BOUNDS.frameBytes,
      elements: ELEMENTS_MAX.client,
      send: (frame) => link.sendFrame('requests', frame),
      refuse: ({ id }, reason) => this.#refuse(id, reason),
    })
  }

  #refuse(id: number, reason: string): void {
    const message = `the call has ${reason}: split it, or keep large content elsewhere`
    const refusal: Refusal = { code: 'TOO_LARGE', message }
    queueMicrotask(() => this.#listener?.deliver({ replies: [{ id, refusal }], grants: [], notices: [], events: [], renewal: 0 }))
  }

  #open({ link, greetedMono, maxDataBytes }: Dialled): void {
    this.#next = undefined
    this.#link = link
    this.#maxDataBytes = maxDataBytes
    this.#openedMono = this.#options.clock.read().mono
    this.#lease.opened(greetedMono)
    link.listener = { heard: (message) => this.#hear(message), over: (end) => this.#broke(end) }
    link.hold(this.#alive)
    this.#stay()
  }

  #hear(message: Message): void {
    if (message.type !== 'delivery') return
    const delivery = this.#lease.incoming(message.delivery)
    if (delivery !== undefined) this.#listener?.deliver(delivery)
  }

  #broke(end: End): void {
    this.#link = undefined
    if (this.#ended) return
    this.#lease.broken()
    if (isFinal(end)) {
      this.#end(end)
      return
    }
    const { clock, backoff, logger } = this.#options
    if (clock.read().mono - this.#openedMono >= HELD_MS) backoff.reset()
    logger?.warn('the connection to the engine is lost: trying again', { code: end.code, reason: end.message })
    this.#retry(end)
    this.#listener?.broken({
      code: 'CONNECTION_LOST',
      message: `the connection broke before the answer (${end.message}): the call may have happened; repeat it with the same idempotencyKey`,
    })
  }

  #retry({ retryAfterMs }: Pick<End, 'retryAfterMs'>): void {
    const { clock, backoff } = this.#options
    this.#stay()
    this.#cancelRetry = clock.setTimer(backoff.next(retryAfterMs), () => void this.#tryAgain())
  }

  async #tryAgain(): Promise<void> {
    let dialled: Dialled
    try {
      dialled = await this.#options.dial((link) => {
        this.#next = link
        link.hold(this.#alive)
      })
    } catch (error) {
      this.#next = undefined
      if (!(error instanceof DialError)) throw error
      if (this.#ended) return
      if (isFinal(error.end)) this.#end(error.end)
      else this.#retry(error.end)
      return
    }
    if (this.#ended) {
      dialled.link.goodbye('CLOSING', 'the client is done', -1)
      return
    }
    this.#open(dialled)
    this.#options.logger?.info('connected to the engine again')
    this.#listener?.reopened()
  }

  #end(end: End): void {
    this.#over()
    this.#listener?.ended(refusalOf(end))
  }

  #over(): void {
    this.#ended = true
    this.#link = undefined
    this.#cancelRetry?.()
    this.#lease.close()
    this.#stay()
  }

  /** Keeps the process alive while there is no socket to do so. */
  #stay(): void {
    const wanted = this.#alive && !this.#ended && this.#link === undefined
    if (wanted === (this.#letGo !== undefined)) return
    this.#letGo?.()
    this.#letGo = wanted ? keepAlive() : undefined
  }
}

/** True if another attempt would end the same way. */
export function isFinal({ retryAfterMs }: End): boolean {
  return retryAfterMs < 0
}

/** Returns the refusal that callers get. */
export function refusalOf({ code, message }: End): Refusal {
  const known = ERROR_CODES.includes(code as ErrorCode)
  return known ? { code: code as ErrorCode, message } : { code: 'PROTOCOL', message: `${message} (${code})` }
}
