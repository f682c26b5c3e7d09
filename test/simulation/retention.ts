/**
 * Why finished jobs go by themselves: because their time is over, or because their queue has more of that state than are kept; then the
 * oldest go. And that they do go.
 */
import { finalStates, type Retention, STATES, type StateCode } from '@millrace/core'
import type { History } from './history.ts'
import type { Tracked } from './model.ts'

export interface KeptOptions {
  readonly history: History
  readonly retention: Retention
  readonly highestWall: () => number
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
    for (const job of jobs.values()) this.#before.set(placeOf(job), (this.#before.get(placeOf(job)) ?? 0) + 1)
  }

  pruned(job: Tracked): void {
    this.#pruned.push(job)
  }

  end(jobs: Jobs): void {
    const { history, highestWall } = this.#options
    const surplus = new Map<string, Tracked[]>()
    for (const job of this.#pruned) {
      const { ageMs } = this.#keepOf(job.state)
      if (job.finishedAt + ageMs <= highestWall()) history.meet('prunedByAge')
      else surplus.set(placeOf(job), [...(surplus.get(placeOf(job)) ?? []), job])
    }
    for (const [place, gone] of surplus) {
      const [{ state }] = gone as [Tracked]
      const most = (this.#before.get(place) ?? 0) - this.#keepOf(state).count
      history.meet('prunedByCount')
      history.hold(gone.length <= most, 30, () => `${gone.length} jobs of ${place} are pruned, and ${Math.max(most, 0)} are too many`)
      const youngest = gone.reduce((one, other) => (one.changedTurn > other.changedTurn ? one : other))
      // One that has ended twice within a millisecond may go as of the first time.
      const older = ({ changedTurn, finishedAt }: Tracked) => changedTurn < youngest.changedTurn && finishedAt !== youngest.finishedAt
      for (const job of jobs.values())
        if (placeOf(job) === place)
          history.hold(!older(job), 30, () => `job ${youngest.seq} is pruned before job ${job.seq}, which is older`)
    }
  }

  /** What is still there, and is past what is kept. */
  over(jobs: Jobs, wall: number): string | undefined {
    const counts = new Map<string, number>()
    for (const job of jobs.values()) {
      if (!this.#isFinal(job)) continue
      const { ageMs, count } = this.#keepOf(job.state)
      const there = (counts.get(placeOf(job)) ?? 0) + 1
      counts.set(placeOf(job), there)
      if (there > count) return `there are more than ${count} jobs of ${placeOf(job)}`
      if (job.finishedAt + ageMs < wall) return `job ${job.seq} is kept, and its ${ageMs} ms are over`
    }
    return undefined
  }

  #isFinal({ state }: Tracked): boolean {
    return finalStates(this.#options.retention).some(([final]) => final === state)
  }

  #keepOf(state: StateCode): Retention['completed'] {
    const found = finalStates(this.#options.retention).find(([final]) => final === state)
    if (found === undefined) throw new Error(`${STATES[state]} is no final state`)
    return found[1]
  }
}

function placeOf({ queue, state }: Tracked): string {
  return `${queue} ${STATES[state]}`
}
