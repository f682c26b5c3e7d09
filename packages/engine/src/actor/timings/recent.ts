/** Counts the runs of a job name that ended in the last 15 minutes, by minutes. */
import { FAILING, type FailingName, isFailing } from '@millrace/core'

const MINUTE_MS = 60_000
/** The minute that has begun, and the whole ones before it. */
const MINUTES = 1 + FAILING.windowMs / MINUTE_MS
const PARTS = { runs: 0, failed: 1, failedJobs: 2 } as const
const WIDTH = 3

/** `retried`: the run failed, and the job is tried again. `failed`: its job has failed permanently. */
export type RunEnd = 'completed' | 'retried' | 'failed'

export class Recent {
  readonly #counts = new Uint32Array(MINUTES * WIDTH)
  /** The last minute with a run. */
  #minute = 0
  #streak = 0
  #lastFailedAt = 0
  #since = 0

  note(end: RunEnd, wall: number): void {
    this.#moveTo(wall)
    const at = (this.#minute % MINUTES) * WIDTH
    this.#add(at + PARTS.runs)
    if (end === 'completed') {
      this.#streak = 0
      return
    }
    const was = this.#isFailing(wall)
    this.#streak++
    this.#lastFailedAt = wall
    this.#add(at + PARTS.failed)
    if (end === 'failed') this.#add(at + PARTS.failedJobs)
    if (!was && this.#isFailing(wall)) this.#since = wall
  }

  /** Returns the counts while the name fails; otherwise undefined. */
  failing(wall: number): Omit<FailingName, 'queue' | 'name'> | undefined {
    this.#moveTo(wall)
    if (!this.#isFailing(wall)) return undefined
    const { runs, failed, failedJobs } = this.#sums()
    return { runs, failed, failedJobs, streak: this.#streak, firstAt: this.#since, lastAt: this.#lastFailedAt }
  }

  clear(): void {
    this.#counts.fill(0)
    this.#minute = this.#streak = this.#lastFailedAt = this.#since = 0
  }

  #isFailing(wall: number): boolean {
    return isFailing({ ...this.#sums(), streak: this.#streak, lastFailedAt: this.#lastFailedAt }, wall)
  }

  #sums(): Record<keyof typeof PARTS, number> {
    const sums = { runs: 0, failed: 0, failedJobs: 0 }
    for (let at = 0; at < this.#counts.length; at += WIDTH) {
      sums.runs += this.#counts[at + PARTS.runs] as number
      sums.failed += this.#counts[at + PARTS.failed] as number
      sums.failedJobs += this.#counts[at + PARTS.failedJobs] as number
    }
    return sums
  }

  #add(place: number): void {
    this.#counts[place] = (this.#counts[place] as number) + 1
  }

  /** Forgets minutes that have left the window. A wall clock that went back by more than a minute begins anew. */
  #moveTo(wall: number): void {
    const at = Math.floor(wall / MINUTE_MS)
    if (at < this.#minute - 1) this.clear()
    const minute = Math.max(this.#minute, at)
    for (let next = Math.max(this.#minute + 1, minute - MINUTES + 1); next <= minute; next++) {
      const at = (next % MINUTES) * WIDTH
      this.#counts.fill(0, at, at + WIDTH)
    }
    this.#minute = minute
  }
}
