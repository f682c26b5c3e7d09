/** Queues that may dispatch nothing for now: no consumer group sees them until something resumes them. */

import type { ConsumerGroup } from './consumerGroup.ts'
import type { Lane, Queue } from './lane.ts'
import { PauseEnds } from './pauseEnds.ts'
import { SharedLimits } from './sharedLimits.ts'

export class Dispatchable {
  readonly #groups: ReadonlyMap<string, ConsumerGroup>
  readonly pauseEnds = new PauseEnds()
  readonly shared = new SharedLimits()
  /** Queues that are suspended until their buckets have a token again. */
  readonly waiting = new Set<Queue>()
  /** Waiting queues that have a token, but fewer than their next job takes. Each turn looks again: that job may be another one by then. */
  readonly short = new Set<Queue>()
  /** The earliest of those times, maybe too early; monotonic. */
  tokenMono = Number.POSITIVE_INFINITY

  constructor(groups: ReadonlyMap<string, ConsumerGroup>) {
    this.#groups = groups
  }

  suspend(queue: Queue): void {
    queue.suspended = true
    for (const group of this.#groups.values()) group.suspend(queue)
  }

  /** Suspends a queue until its bucket has a token. */
  suspendUntil(queue: Queue, mono: number): void {
    this.suspend(queue)
    this.waiting.add(queue)
    this.tokenMono = Math.min(this.tokenMono, mono)
  }

  /** Suspends a queue until a job ends of a queue that shares its limit. */
  suspendSharing(queue: Queue): void {
    this.suspend(queue)
    queue.sharing?.waiting.add(queue)
  }

  /** Resumes the queues that wait for a place under a shared limit, those that have waited longest first. */
  resumeSharing(name: string): void {
    for (const queue of this.shared.takeWaiting(name)) this.resume(queue)
  }

  /** Resumes the queues that may start a job because one of this queue has ended. */
  freed(queue: Queue): void {
    const { sharedLimit } = queue.settings
    // Others that wait for the place have their turn first.
    if (sharedLimit !== undefined) this.resumeSharing(sharedLimit.name)
    this.resume(queue)
  }

  resume(queue: Queue): void {
    if (!queue.suspended) return
    queue.suspended = false
    this.waiting.delete(queue)
    for (const group of this.#groups.values()) group.resume(queue)
  }

  /** Forgets a queue that was deleted. */
  forget(queue: Queue): void {
    this.suspend(queue)
    if (queue.settings.sharedLimit !== undefined) this.shared.leave(queue, queue.settings.sharedLimit.name)
    this.waiting.delete(queue)
    this.short.delete(queue)
    this.pauseEnds.forget(queue)
    for (const group of this.#groups.values()) group.forget(queue)
  }

  /** Resumes a lane that was paused. */
  resumeLane(lane: Lane): void {
    lane.paused = false
    for (const group of lane.groups) group.markReady(lane)
  }
}
