/**
 * A strict order of queues, from committed turns alone: nothing of a later queue is handed to a session while a job of an earlier queue waits
 * unheld, that its group serves and that has room in the session.
 */
import type { Lane, Tables } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'
import { handOutsOf, isLate } from './shares.ts'

export class StrictOrder {
  readonly #history: History
  readonly #model: Model

  constructor(history: History, model: Model) {
    this.#history = history
    this.#model = model
  }

  /** After the model. What waits after a turn waited before its hand-outs, under limits that were no stricter. */
  commit(tables: Tables, wall: number): void {
    const { started } = this.#model
    if (started.length === 0) return
    const handOuts = handOutsOf(this.#model, tables).filter(({ group }) => group.isStrict)
    if (handOuts.length === 0) return
    // A lane of which a job has started had that one in its window, and those behind it were on disk.
    const drawn = new Set(started.map(({ queue, name }) => tables.lane(queue, name)))
    const waiting = [...this.#model.waiting].filter((job) => this.#isSeen(job, tables, wall, drawn))
    for (const { job, group, room } of handOuts) {
      const [, patterns] = JSON.parse(group.key) as readonly [names: string[], patterns: string[]]
      if (patterns.some((pattern) => pattern.endsWith('*'))) this.#history.meet('queuesByPrefix')
      const place = placeOf(patterns, job.queue)
      if (place > 0) this.#history.meet('laterQueue')
      for (const other of waiting) {
        const lane = tables.lane(other.queue, other.name)
        if (lane === undefined || !group.lanes.has(lane) || placeOf(patterns, other.queue) >= place) continue
        const message = () => `job ${job.seq} of ${job.queue} is handed out, and job ${other.seq} of ${other.queue} goes before it`
        this.#history.hold(other.weight > room, 24, message)
      }
    }
  }

  /** In memory, or in a lane of which nothing is. */
  #isSeen(job: Tracked, tables: Tables, wall: number, drawn: ReadonlySet<Lane | undefined>): boolean {
    const { limits, active } = this.#model
    const isHeld = job.parked || job.key !== undefined || (job.expiresAt !== 0 && job.expiresAt <= wall) || limits.holds(job, active)
    const lane = tables.lane(job.queue, job.name)
    if (isHeld || isLate(job, this.#model) || lane === undefined) return false
    return (lane.window.size === 0 && !drawn.has(lane)) || tables.jobs.get(job.seq)?.windowed === true
  }
}

function placeOf(patterns: readonly string[], queue: string): number {
  const standsForIt = (pattern: string) => pattern === queue || (pattern.endsWith('*') && queue.startsWith(pattern.slice(0, -1)))
  return patterns.findIndex(standsForIt)
}
