/**
 * A group is the set of job names that a worker serves, in every queue or in some. Sessions that serve the same share one
 * group, so that a thousand equal workers cost one look at the lanes. It knows which of its lanes have jobs, and which sessions
 * have room.
 */
import type { Lane, Queue } from '../queues/lane.ts'
import { ReadyLanes } from '../queues/readyLanes.ts'
import type { Session } from './session.ts'

export class ConsumerGroup {
  readonly key: string
  readonly names: ReadonlySet<string>
  /** The queues that it serves; undefined for every queue. */
  readonly queues: ReadonlySet<string> | undefined
  readonly sessions = new Set<Session>()
  readonly lanes = new Set<Lane>()
  /** Sessions to fill, in fair order: the first is next. */
  readonly underfilled = new Set<Session>()
  /** Lanes with jobs in their windows, by queue that may start jobs. The first queue is next. Empty lanes are removed when they are met. */
  readonly ready = new Map<Queue, ReadyLanes>()
  /** The same for all queues, so that a queue that is suspended and resumed is not rebuilt. */
  readonly #lanes = new Map<Queue, ReadyLanes>()
  /** The queue that was served last, and how often in a row. Each group has its own turns, or another one would end them. */
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
    if (!queue.suspended && !this.ready.has(queue)) this.ready.set(queue, lanes)
  }

  /** Opens a queue that may start jobs again. */
  resume(queue: Queue): void {
    const lanes = this.#lanes.get(queue)
    if (lanes?.first() !== undefined) this.ready.set(queue, lanes)
  }

  /** Reorders a queue's names when they start or stop taking turns. */
  reorder(queue: Queue): void {
    this.#lanes.get(queue)?.reorder()
  }

  /** Forgets a queue that was deleted, or whose lanes have no jobs. */
  forget(queue: Queue): void {
    this.ready.delete(queue)
    this.#lanes.delete(queue)
  }

  /** Moves the queue that was just served to the end of the line, once it has had its share. */
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
