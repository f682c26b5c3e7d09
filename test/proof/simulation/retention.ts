/**
 * Why finished jobs go by themselves: because their time is over, or because their queue has more of that state than are kept; then the
 * oldest go. And that they do go. What is kept is the engine's setting, or the queue's own, as committed turns have told it. A job with
 * a time of its own goes by that alone, and is not among those that its queue counts.
 */
import { COMPLETED, type Retention, STATES } from '@millrace/core'
import type { History } from './history.ts'
import type { Limits } from './limits.ts'
import type { Tracked } from './model.ts'

export interface KeptOptions {
  readonly history: History
  readonly retention: Retention
  readonly highestWall: () => number
  readonly limits: Limits
}

type Jobs = ReadonlyMap<number, Tracked>

export class Kept {
  readonly #options: KeptOptions
  /** Of a queue and state before this turn. */
  #before = new Map<string, number>()
  #pruned: Tracked[] = []

  constructor(options: KeptOptions) {
    this.#options = options
  }

  /** A turn that has removed jobs is looked at. */
  begin(jobs: Jobs): void {
    this.#before = new Map()
    this.#pruned = []
    for (const job of jobs.values()) if (job.keep === undefined) this.#before.set(placeOf(job), (this.#before.get(placeOf(job)) ?? 0) + 1)
  }

  pruned(job: Tracked): void {
    this.#pruned.push(job)
  }

  /** Its record says that it goes: it was pruned while its record was at hand, or has ended in this turn, and none of its kind are kept. */
  erased(job: Tracked, justEnded: boolean): void {
    if (!justEnded) {
      this.pruned(job)
      return
    }
    const { history, limits } = this.#options
    if (job.keep !== undefined) {
      history.meet('goneByItsOwnTime')
      history.hold(job.keep === 0, 30, () => `job ${job.seq} goes as it ends, and has a time of ${job.keep} ms of its own`)
      return
    }
    const { ageMs, count } = this.#keepOf(job)
    const none = ageMs === 0 || count === 0
    history.hold(none || limits.toldNow(job.queue), 30, () => `job ${job.seq} goes as it ends, and ${placeOf(job)} is kept`)
  }

  /** Its record says that it is there after a turn. */
  stays(job: Tracked | undefined, turn: number): void {
    if (job?.keep !== 0 || job.state < COMPLETED || job.changedTurn !== turn) return
    this.#options.history.violate(30, `job ${job.seq} has ended, and is there, with a time of 0 of its own`)
  }

  end(jobs: Jobs): void {
    const { history, highestWall, limits } = this.#options
    const surplus = new Map<string, Tracked[]>()
    for (const job of this.#pruned) {
      if (job.keep !== undefined) {
        const isOver = job.finishedAt + job.keep <= highestWall()
        history.meet('prunedByItsOwnTime')
        history.hold(isOver, 30, () => `job ${job.seq} is pruned before the ${job.keep} ms of its own are over`)
        continue
      }
      // It goes by what was told before the turn, or by what the turn has told.
      if (limits.toldNow(job.queue)) continue
      const { ageMs } = this.#keepOf(job)
      if (limits.settings(job.queue).retention !== undefined) history.meet('prunedByItsQueue')
      if (job.finishedAt + ageMs <= highestWall()) history.meet('prunedByAge')
      else surplus.set(placeOf(job), [...(surplus.get(placeOf(job)) ?? []), job])
    }
    for (const [place, gone] of surplus) {
      const [first] = gone as [Tracked]
      const most = (this.#before.get(place) ?? 0) - this.#keepOf(first).count
      history.meet('prunedByCount')
      history.hold(gone.length <= most, 30, () => `${gone.length} jobs of ${place} are pruned, and ${Math.max(most, 0)} are too many`)
      const youngest = gone.reduce((one, other) => (one.changedTurn > other.changedTurn ? one : other))
      // One that has ended twice within a millisecond may go as of the first time.
      const older = ({ changedTurn, finishedAt }: Tracked) => changedTurn < youngest.changedTurn && finishedAt !== youngest.finishedAt
      for (const job of jobs.values())
        if (placeOf(job) === place && job.keep === undefined)
          history.hold(!older(job), 30, () => `job ${youngest.seq} is pruned before job ${job.seq}, which is older`)
    }
  }

  /** What is still there, and is past what is kept. */
  over(jobs: Jobs, wall: number): string | undefined {
    const counts = new Map<string, number>()
    for (const job of jobs.values()) {
      if (job.state < COMPLETED) continue
      if (job.keep !== undefined) {
        if (job.finishedAt + job.keep < wall) return `job ${job.seq} is kept, and the ${job.keep} ms of its own are over`
        continue
      }
      const { ageMs, count } = this.#keepOf(job)
      const there = (counts.get(placeOf(job)) ?? 0) + 1
      counts.set(placeOf(job), there)
      if (there > count) return `there are more than ${count} jobs of ${placeOf(job)}`
      if (job.finishedAt + ageMs < wall) return `job ${job.seq} is kept, and its ${ageMs} ms are over`
    }
    return undefined
  }

  /** The queue's own, where it was told so of that state. */
  #keepOf({ queue, state }: Tracked): Retention['completed'] {
    const { retention, limits } = this.#options
    const name = STATES[state] as 'completed' | 'failed' | 'cancelled'
    return limits.settings(queue).retention?.[name] ?? retention[name]
  }
}

function placeOf({ queue, state }: Tracked): string {
  return `${queue} ${STATES[state]}`
}
