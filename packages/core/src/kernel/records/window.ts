/**
 * The jobs of a lane that are in memory: a prefix of the lane's order (priority desc, due time, seq), and whether that is all of
 * it. Jobs that sort after an incomplete prefix stay on disk; a job that sorts inside may push the last one out. It is a sorted
 * array with a moving head: jobs come in order almost always, so insertion is a push and removal moves the head.
 */
import { dataBytes } from '../../job.ts'
import { LIMITS } from '../../limits.ts'
import { broken } from './broken.ts'
import type { Job } from './job.ts'

/** The fields that decide a job's place in line. */
export type InLine = Pick<Job, 'priority' | 'runAt' | 'seq'>

export function runsBefore(a: InLine, b: InLine): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  if (a.runAt !== b.runAt) return a.runAt < b.runAt
  return a.seq < b.seq
}

export class Window {
  #jobs: Job[] = []
  #head = 0
  #bytes = 0
  /** The least weight; 0 if it is yet to be computed. */
  #lightest = 0
  /** True if no waiting job of the lane is only on disk. */
  complete = true

  get size(): number {
    return this.#jobs.length - this.#head
  }

  /** The bytes of the payloads. */
  get bytes(): number {
    return this.#bytes
  }

  /** The job that runs next. */
  get first(): Job | undefined {
    return this.#jobs[this.#head]
  }

  get last(): Job | undefined {
    return this.size === 0 ? undefined : this.#jobs[this.#jobs.length - 1]
  }

  /** The least weight in the window; Infinity if it is empty. It is computed when it is asked for, because most windows never need it. */
  get lightest(): number {
    if (this.#lightest > 0) return this.#lightest
    let least = Number.POSITIVE_INFINITY
    for (let index = this.#head; index < this.#jobs.length; index++) least = Math.min(least, (this.#jobs[index] as Job).weight)
    this.#lightest = least
    return least
  }

  /** Returns the `index`-th job in order, from 0. */
  at(index: number): Job | undefined {
    return this.#jobs[this.#head + index]
  }

  /**
   * Inserts a waiting job if it belongs to the prefix. Returns the jobs that left memory for it: none, those that it pushed out,
   * or itself. The window is left with at most `jobsMax` jobs and `bytesMax` of payload, or with one job.
   */
  insert(job: Job, jobsMax: number = LIMITS.windowJobs, bytesMax: number = LIMITS.windowBytes): readonly Job[] {
    const last = this.last
    if (!this.complete && (last === undefined || runsBefore(last, job))) return [job]
    if (last === undefined || runsBefore(last, job)) this.#append(job)
    else {
      this.#jobs.splice(this.#find(job), 0, job)
      this.#remember(job)
    }
    return this.size <= jobsMax && this.#bytes <= bytesMax ? NONE : this.#shrink(jobsMax, bytesMax)
  }

  /** Appends the next jobs of the lane's order, as read from disk. */
  extend(jobs: readonly Job[], complete: boolean): void {
    for (const job of jobs) this.#append(job)
    this.complete = complete
  }

  removeFirst(): void {
    const job = this.#jobs[this.#head] as Job
    this.#forget(job)
    this.#head++
    // Amortised: the dead head is cut off once it is as long as the live part.
    if (this.#head === this.#jobs.length) {
      this.#jobs = []
      this.#head = 0
    } else if (this.#head > 1_024 && this.#head * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#head)
      this.#head = 0
    }
  }

  remove(job: Job): void {
    if (this.first === job) {
      this.removeFirst()
      return
    }
    const index = this.#find(job)
    if (this.#jobs[index] !== job) broken(`job ${job.seq} is not in its window`)
    this.#forget(job)
    this.#jobs.splice(index, 1)
  }

  /** Removes and returns every job that does not run before `job`, which is only on disk. */
  cutAt(job: Job): readonly Job[] {
    const out = this.#jobs.splice(this.#find(job))
    for (const gone of out) this.#forget(gone)
    this.complete = false
    return out
  }

  /** Empties the window and returns its jobs. */
  clear(): readonly Job[] {
    const jobs = this.#jobs.slice(this.#head)
    for (const job of jobs) this.#forget(job)
    this.#jobs = []
    this.#head = 0
    return jobs
  }

  #append(job: Job): void {
    this.#jobs.push(job)
    this.#remember(job)
  }

  #shrink(jobsMax: number, bytesMax: number): readonly Job[] {
    const out: Job[] = []
    while (this.size > jobsMax || (this.#bytes > bytesMax && this.size > 1)) {
      const job = this.#jobs.pop() as Job
      this.#forget(job)
      out.push(job)
      this.complete = false
    }
    return out
  }

  /** Returns the place of a job, or where it would go: the first that does not run before it. */
  #find(job: Job): number {
    let low = this.#head
    let high = this.#jobs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (runsBefore(this.#jobs[middle] as Job, job)) low = middle + 1
      else high = middle
    }
    return low
  }

  #remember(job: Job): void {
    if (job.windowed) broken(`job ${job.seq} enters a window, and is in one`)
    job.windowed = true
    if (job.weight < this.#lightest) this.#lightest = job.weight
    this.#bytes += dataBytes(job.data)
  }

  #forget(job: Job): void {
    if (!job.windowed) broken(`job ${job.seq} leaves a window, and is in none`)
    job.windowed = false
    if (job.weight === this.#lightest) this.#lightest = 0
    this.#bytes -= dataBytes(job.data)
    if (this.#bytes < 0) broken(`a window has ${this.#bytes} bytes of payloads after job ${job.seq}`)
  }
}

const NONE: readonly Job[] = []
