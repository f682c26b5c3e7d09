/** Queues that may start nothing for now: out of every service's sight, until something opens them again. */
import type { Lane, Queue } from './lane.ts'
import type { Service } from './service.ts'

export class Doors {
  readonly #services: ReadonlyMap<string, Service>
  /** Queues that are closed until their buckets have a token again. */
  readonly waiting = new Set<Queue>()
  /** The earliest of those moments, maybe too early; monotonic. */
  tokenMono = Number.POSITIVE_INFINITY

  constructor(services: ReadonlyMap<string, Service>) {
    this.#services = services
  }

  close(queue: Queue): void {
    queue.closed = true
    for (const service of this.#services.values()) service.ready.delete(queue)
  }

  /** Until its bucket has a token. */
  closeUntil(queue: Queue, mono: number): void {
    this.close(queue)
    this.waiting.add(queue)
    this.tokenMono = Math.min(this.tokenMono, mono)
  }

  open(queue: Queue): void {
    if (!queue.closed) return
    queue.closed = false
    this.waiting.delete(queue)
    for (const service of this.#services.values()) service.open(queue)
  }

  /** The queue is no more. */
  forget(queue: Queue): void {
    this.close(queue)
    this.waiting.delete(queue)
    for (const service of this.#services.values()) service.forget(queue)
  }

  /** A lane that was paused goes on. */
  resume(lane: Lane): void {
    lane.paused = false
    for (const service of lane.services) service.markReady(lane)
  }
}
