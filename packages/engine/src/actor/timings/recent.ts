/** Counts the runs of a job name that ended in the last 15 minutes, by minutes. */
import { FAILING, type FailingName, isFailing, type RecentRuns } from '@millrace/core'

const MINUTE_MS = 60_000
/** The minute that has begun, and the whole ones before it. */
const MINUTES = 1 + FAILING.windowMs / MINUTE_MS
const PARTS = { runs: 0, failed: 1, failedJobs: 2 } as const
const WIDTH = 3

/** `retried`: the run failed, and the job is tried again. `failed`: its job has failed permanently. */
export type RunEnd = 'completed' | 'retried' | 'failed'

/** The fields are sums of all minutes, so that a run costs the same at any length of the window. */
export class Recent implements RecentRuns {
  runs = 0
  failed = 0
  streak = 0
  lastFailedAt = 0
  #failedJobs = 0
  /** When it began to fail. */
  #since = 0
  /** When a run last failed while it was failing. */
  #failingAt = 0
  /** When the first run of the streak failed. */
  #streakAt = 0
  /** When a job last failed permanently. */
  #lastJobAt = Number.POSITIVE_INFINITY
  /** That job's own `keep`; undefined if retention decides. */
  #lastJobKeep: number | undefined
  readonly #counts = new Uint32Array(MINUTES * WIDTH)
  /** The last minute with a run. */
  #minute = 0

  /** Counts a run. If its job has failed permanently and has a `keep` of its own, that is `keepMs`. */
  note(end: RunEnd, wall: number, keepMs?: number): void {
    this.#moveTo(wall)
    const at = (this.#minute % MINUTES) * WIDTH
    this.runs++
    this.#add(at + PARTS.runs)
    if (end === 'completed') {
      this.streak = 0
      return
    }
    const was = isFailing(this, wall)
    if (this.streak++ === 0) this.#streakAt = wall
    this.lastFailedAt = wall
    this.failed++
    this.#add(at + PARTS.failed)
    if (end === 'failed') {
      this.#failedJobs++
      this.#add(at + PARTS.failedJobs)
      this.#lastJobAt = wall
      this.#lastJobKeep = keepMs
    }
    if (!isFailing(this, wall)) return
    if (!was && !this.#isCounted(this.#failingAt)) this.#since = this.streak >= FAILING.streak ? this.#streakAt : wall
    this.#failingAt = wall
  }

  /**
   * True if the counts include that time. A name that fails again while they include failures of before continues: otherwise they would count
   * runs from before its beginning.
   */
  #isCounted(wall: number): boolean {
    return Math.floor(wall / MINUTE_MS) > this.#minute - MINUTES
  }

  /** Returns the counts while the name fails; otherwise undefined. */
  failing(wall: number): Omit<FailingName, 'queue' | 'name'> | undefined {
    this.#moveTo(wall)
    if (!isFailing(this, wall)) return undefined
    const { runs, failed, streak, lastFailedAt: lastAt } = this
    return { runs, failed, failedJobs: this.#failedJobs, streak, firstAt: this.#since, lastAt }
  }

  /** True if its age has removed the last job that failed permanently. If retention decides, failed jobs are kept for `retentionMs`. */
  isPruned(retentionMs: number, wall: number): boolean {
    return wall - this.#lastJobAt >= (this.#lastJobKeep ?? retentionMs)
  }

  clear(): void {
    this.#counts.fill(0)
    this.runs = this.failed = this.streak = this.lastFailedAt = 0
    this.#minute = this.#failedJobs = this.#since = this.#failingAt = this.#streakAt = 0
    this.#lastJobAt = Number.POSITIVE_INFINITY
    this.#lastJobKeep = undefined
  }

  #add(place: number): void {
    this.#counts[place] = (this.#counts[place] as number) + 1
  }

  /** Forgets minutes that have left the window. A wall clock that went back by more than a minute begins anew. */
  #moveTo(wall: number): void {
    const at = Math.floor(wall / MINUTE_MS)
    if (at < this.#minute - 1) this.clear()
    const minute = Math.max(this.#minute, at)
    for (let next = Math.max(this.#minute + 1, minute - MINUTES + 1); next <= minute; next++) this.#forget((next % MINUTES) * WIDTH)
    this.#minute = minute
  }

  #forget(at: number): void {
    this.runs -= this.#counts[at + PARTS.runs] as number
    this.failed -= this.#counts[at + PARTS.failed] as number
    this.#failedJobs -= this.#counts[at + PARTS.failedJobs] as number
    this.#counts.fill(0, at, at + WIDTH)
  }
}
