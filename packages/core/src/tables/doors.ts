/** Queues that may start nothing for now. No service sees them until something opens them again. */
import type { Lane, Queue } from './lane.ts'
import type { Service } from './service.ts'

export class Doors {
  readonly #services: ReadonlyMap<string, Service>
  /** Queues that are closed until their buckets have a token again. */
  readonly waiting = new Set<Queue>()
  /** The earliest of those times, maybe too early; monotonic. */
  tokenMono = Number.POSITIVE_INFINITY

  constructor(services: ReadonlyMap<string, Service>) {
    this.#services = services
  }

  close(queue: Queue): void {
    queue.closed = true
    for (const service of this.#services.values()) service.ready.delete(queue)
  }

  /** Closes a queue until its bucket has a token. */
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

  /** Forgets a queue that was deleted. */
  forget(queue: Queue): void {
    this.close(queue)
    this.waiting.delete(queue)
    for (const service of this.#services.values()) service.forget(queue)
  }

  /** Resumes a lane that was paused. */
  resume(lane: Lane): void {
    lane.paused = false
    for (const service of lane.services) service.markReady(lane)
  }
}
