/** Limits of running jobs that several queues share, by name. */
import { ACTIVE } from '../../lifecycle.ts'
import { broken } from './broken.ts'
import { countOf, type Queue, type Sharing } from './lane.ts'

export class SharedLimits {
  readonly #byName = new Map<string, Sharing>()

  /** Adds a queue, with what it runs, to the limit that its settings name. */
  join(queue: Queue): void {
    const name = queue.settings.sharedLimit?.name
    if (name === undefined) return
    let sharing = this.#byName.get(name)
    if (sharing === undefined) {
      sharing = { queues: new Set(), active: 0, waiting: new Set() }
      this.#byName.set(name, sharing)
    }
    sharing.queues.add(queue)
    sharing.active += countOf(queue, ACTIVE)
    queue.sharing = sharing
  }

  /** Removes a queue from the limit of that name. */
  leave(queue: Queue, name: string): void {
    const { sharing } = queue
    if (sharing === undefined) return
    queue.sharing = undefined
    sharing.queues.delete(queue)
    sharing.waiting.delete(queue)
    sharing.active -= countOf(queue, ACTIVE)
    if (sharing.active < 0) broken(`fewer than no jobs run under limit ${name}`)
    if (sharing.queues.size === 0) this.#byName.delete(name)
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

/** True if no job of the queue may start, because too many run of those that share its limit. */
export function isShareFull({ sharing, settings: { sharedLimit } }: Queue): boolean {
  return sharing !== undefined && sharedLimit !== undefined && sharing.active >= sharedLimit.limit
}

const NONE: readonly Queue[] = []
