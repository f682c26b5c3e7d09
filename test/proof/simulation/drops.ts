/**
 * Queues that drop their oldest, from committed turns alone: who is dropped is the oldest that may go, and stands in the way of a new one;
 * and a new one that finds no room takes a place.
 */
import { BLOCKED, SCHEDULED, WAITING } from '@millrace/core'
import type { Job } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Limits } from './limits.ts'
import type { Tracked } from './model.ts'

export class Drops {
  readonly #history: History
  readonly #limits: Limits
  // Of the turn that goes on.
  /** New jobs less those that were dropped, by queue. */
  readonly #taken = new Map<string, number>()
  /** Queues that are longer for another reason: a job has come back, a schedule has fired, or a failed job has left a letter. */
  readonly #grown = new Set<string>()

  constructor(history: History, limits: Limits) {
    this.#history = history
    this.#limits = limits
  }

  begin(): void {
    this.#taken.clear()
    this.#grown.clear()
  }

  created(job: Tracked): void {
    job.droppable = this.#drops(job.queue)
    if (job.schedule !== undefined || job.isLetter) this.#grown.add(job.queue)
    this.#taken.set(job.queue, (this.#taken.get(job.queue) ?? 0) + 1)
  }

  /** It is to be started again. */
  back(job: Tracked): void {
    job.droppable ||= !job.hasBegun && this.#drops(job.queue)
    this.#grown.add(job.queue)
  }

  /** What is written whole is among those that may go from then on, or is so no more. A job whose handler has begun stays. */
  written(job: Tracked, { dropped, extras }: Job): void {
    this.#history.hold(dropped === job.dropped, 24, () => `job ${job.seq} is said to be ${dropped ? '' : 'not '}dropped`)
    job.hasBegun = extras?.steps !== undefined
    job.droppable = !job.hasBegun && this.#drops(job.queue)
  }

  dropped(job: Tracked, jobs: Iterable<Tracked>): void {
    const { queue, seq, state } = job
    const history = this.#history
    job.dropped = true
    this.#taken.set(queue, (this.#taken.get(queue) ?? 0) - 1)
    history.meet('dropped')
    if (job.run > 0) history.meet('droppedBetweenAttempts')
    history.hold(state === SCHEDULED || state === WAITING, 24, () => `job ${seq} is dropped in state ${state}`)
    if (this.#limits.toldNow(queue)) return
    const { onFull, maxLength = 0 } = this.#limits.settings(queue)
    history.hold(onFull === 'drop-oldest', 24, () => `job ${seq} is dropped, and queue ${queue} drops none`)
    let length = 0
    for (const other of jobs) {
      if (other.queue !== queue || !isYetToStart(other)) continue
      length++
      const older = other.seq < seq && other.droppable && other.state !== BLOCKED
      history.hold(!older, 24, () => `job ${seq} of queue ${queue} is dropped before job ${other.seq}, which is older`)
    }
    history.hold(length > maxLength, 24, () => `job ${seq} is dropped, and queue ${queue} has ${length} of ${maxLength}`)
  }

  end(jobs: ReadonlyMap<number, Tracked>): void {
    for (const [queue, taken] of this.#taken) {
      const { onFull, maxLength = 0 } = this.#limits.settings(queue)
      if (onFull === undefined || taken <= 0 || this.#grown.has(queue) || this.#limits.toldNow(queue)) continue
      const length = [...jobs.values()].filter((job) => job.queue === queue && isYetToStart(job)).length
      const fits = length <= maxLength
      this.#history.hold(
        fits,
        24,
        () => `queue ${queue} has taken ${taken} jobs that have taken no place, and has ${length} of ${maxLength}`,
      )
    }
  }

  #drops(queue: string): boolean {
    return this.#limits.settings(queue).onFull !== undefined
  }
}

function isYetToStart({ state }: Tracked): boolean {
  return state === SCHEDULED || state === WAITING || state === BLOCKED
}
