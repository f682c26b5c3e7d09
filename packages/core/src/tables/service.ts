/**
 * What a worker serves: job names, in every queue or in some. Sessions that serve the same share one service, so that a
 * thousand equal workers cost one look at the lanes. It knows which of its lanes have jobs, and which sessions have room.
 */
import type { Lane, Queue } from './lane.ts'
import type { Session } from './session.ts'

export class Service {
  readonly key: string
  readonly names: ReadonlySet<string>
  /** Undefined: every queue. */
  readonly queues: ReadonlySet<string> | undefined
  readonly sessions = new Set<Session>()
  readonly lanes = new Set<Lane>()
  /** Sessions to fill, in fair order: the first is next. */
  readonly hungry = new Set<Session>()
  /** Lanes with jobs in their windows, by queue; the first queue is next. Emptied ones are taken out when met. */
  readonly ready = new Map<Queue, Set<Lane>>()
  /** The queue that was served last, and how often in a row: each service has its own turns, or another one would end them. */
  #served: Queue | undefined
  #inARow = 0

  constructor(key: string, names: ReadonlySet<string>, queues: ReadonlySet<string> | undefined) {
    this.key = key
    this.names = names
    this.queues = queues
  }

  static keyOf(names: readonly string[], queues: readonly string[] | undefined): string {
    return JSON.stringify([[...names].sort(), queues === undefined ? null : [...queues].sort()])
  }

  serves(queue: string, name: string): boolean {
    return this.names.has(name) && (this.queues === undefined || this.queues.has(queue))
  }

  markReady(lane: Lane): void {
    if (lane.paused || lane.queue.closed) return
    const lanes = this.ready.get(lane.queue)
    if (lanes === undefined) this.ready.set(lane.queue, new Set([lane]))
    else lanes.add(lane)
  }

  /** The queue that was just served goes to the end of the line, once it has had its share. */
  rotate(queue: Queue, lanes: Set<Lane>): void {
    if (this.ready.size < 2) return
    if (this.#served !== queue) this.#inARow = 0
    this.#served = queue
    if (++this.#inARow < (queue.settings.share ?? 1)) return
    this.#inARow = 0
    this.ready.delete(queue)
    this.ready.set(queue, lanes)
  }
}
