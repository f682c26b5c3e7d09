/**
 * What a worker serves: job names, in every queue or in some. Sessions that serve the same share one service, so that a
 * thousand equal workers cost one look at the lanes. It knows which of its lanes have jobs, and which sessions have room.
 */
import type { Lane, Queue } from './lane.ts'
import { ReadyLanes } from './readyLanes.ts'
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
  /** Of queues that may start jobs, lanes with jobs in their windows; the first queue is next. Emptied ones are taken out when met. */
  readonly ready = new Map<Queue, ReadyLanes>()
  /** The same of all queues: one that is closed and opened again is not built anew. */
  readonly #lanes = new Map<Queue, ReadyLanes>()
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
    const { queue, paused } = lane
    if (paused) return
    let lanes = this.#lanes.get(queue)
    if (lanes === undefined) {
      lanes = new ReadyLanes()
      this.#lanes.set(queue, lanes)
    }
    lanes.add(lane)
    if (!queue.closed && !this.ready.has(queue)) this.ready.set(queue, lanes)
  }

  /** The queue may start jobs again. */
  open(queue: Queue): void {
    const lanes = this.#lanes.get(queue)
    if (lanes?.first() !== undefined) this.ready.set(queue, lanes)
  }

  /** Its names take turns from now on, or take none any more. */
  reorder(queue: Queue): void {
    this.#lanes.get(queue)?.reorder()
  }

  /** None of its lanes has jobs, or it is no more. */
  forget(queue: Queue): void {
    this.ready.delete(queue)
    this.#lanes.delete(queue)
  }

  /** The queue that was just served goes to the end of the line, once it has had its share. */
  rotate(queue: Queue, lanes: ReadyLanes): void {
    if (this.ready.size < 2) return
    if (this.#served !== queue) this.#inARow = 0
    this.#served = queue
    if (++this.#inARow < (queue.settings.share ?? 1)) return
    this.#inARow = 0
    this.ready.delete(queue)
    this.ready.set(queue, lanes)
  }
}
