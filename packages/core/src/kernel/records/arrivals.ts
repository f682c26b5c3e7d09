/**
 * The scheduled and waiting jobs of a queue by arrival, as far as a turn knows them. They are the oldest jobs that the file has,
 * or all of them, and those that the turn itself adds. Jobs that have left meanwhile are skipped.
 */

import { SCHEDULED, WAITING } from '../../lifecycle.ts'
import { DIRTY_DELETE, hasBegun, type Job } from './job.ts'

export class Arrivals {
  readonly #jobs: Job[]
  #next = 0
  /** The row up to which no job is missing. */
  readonly #knownTo: number

  constructor(jobs: Job[], complete: boolean) {
    this.#jobs = jobs
    this.#knownTo = complete ? Number.POSITIVE_INFINITY : (jobs.at(-1)?.seq ?? 0)
  }

  /** Adds a job that is new or has come back. */
  add(job: Job): void {
    if (job.seq > this.#knownTo) return
    let place = this.#jobs.length
    while (place > this.#next && (this.#jobs[place - 1] as Job).seq > job.seq) place--
    this.#jobs.splice(place, 0, job)
  }

  /** Returns the oldest job before a row, or undefined if none is known. */
  first(before: number): Job | undefined {
    for (; this.#next < this.#jobs.length; this.#next++) {
      const job = this.#jobs[this.#next] as Job
      if (job.seq >= before) return undefined
      if (stands(job)) return job
    }
    return undefined
  }

  has(count: number): boolean {
    let found = 0
    for (let place = this.#next; found < count && place < this.#jobs.length; place++) if (stands(this.#jobs[place] as Job)) found++
    return found >= count
  }
}

/** A job whose handler has begun stays. */
function stands(job: Job): boolean {
  const { state, dirty } = job
  return (state === SCHEDULED || state === WAITING) && !hasBegun(job) && (dirty & DIRTY_DELETE) === 0
}
