/**
 * Limits that several queues share, by name. The running jobs are counted from the counters of these queues, which are a function of the
 * store, so there is nothing else to keep in step.
 */
import { ACTIVE } from '../../lifecycle.ts'
import { countOf, type Queue } from './lane.ts'

interface Sharing {
  readonly queues: Set<Queue>
  /** Queues that were suspended because of it: the first one has waited longest. */
  waiting: Set<Queue>
}

export class SharedLimits {
  readonly #byName = new Map<string, Sharing>()

  /** Adds a queue to the limit that its settings name. */
  join(queue: Queue): void {
    const name = queue.settings.sharedLimit?.name
    if (name === undefined) return
    const sharing = this.#byName.get(name)
    if (sharing === undefined) this.#byName.set(name, { queues: new Set([queue]), waiting: new Set() })
    else sharing.queues.add(queue)
  }

  /** Removes a queue from the limit of that name. */
  leave(queue: Queue, name: string): void {
    const sharing = this.#byName.get(name)
    sharing?.queues.delete(queue)
    sharing?.waiting.delete(queue)
    if (sharing?.queues.size === 0) this.#byName.delete(name)
  }

  /** Returns the number of jobs that run in all queues of the limit. */
  activeOf(name: string): number {
    let active = 0
    for (const queue of this.#byName.get(name)?.queues ?? []) active += countOf(queue, ACTIVE)
    return active
  }

  /** Notes that a queue waits for a place. */
  await(queue: Queue, name: string): void {
    this.#byName.get(name)?.waiting.add(queue)
  }

  /** Returns the queues that wait for a place, and forgets that they do. */
  takeWaiting(name: string): Iterable<Queue> {
    const sharing = this.#byName.get(name)
    if (sharing === undefined || sharing.waiting.size === 0) return NONE
    const { waiting } = sharing
    sharing.waiting = new Set()
    return waiting
  }
}

const NONE: readonly Queue[] = []
