/** Sorts a turn's jobs by the cheapest statement that covers what happened to each. */
import { ACTIVE, dataBytes, WAITING } from '@millrace/core'
import {
  DIRTY_COMPLETE,
  DIRTY_DATA,
  DIRTY_DELETE,
  DIRTY_EXTRAS,
  DIRTY_INSERT,
  DIRTY_PLACE,
  DIRTY_START,
  type Job,
} from '@millrace/core/kernel'

/** Larger jobs are written one by one: SQLite holds a batch's rows in memory once more. */
const BATCHED_BYTES = 16 * 1024

/** The lists of a turn's jobs. The arrays are reused for every turn. */
export class SortedJobs {
  /** New jobs, waiting or active, with the usual settings. */
  readonly plainWaiting: Job[] = []
  readonly plainActive: Job[] = []
  /** New jobs that have extras, a policy or a ttl as well. */
  readonly keyedWaiting: Job[] = []
  readonly keyedActive: Job[] = []
  /** All other new jobs. */
  readonly inserted: Job[] = []
  /** New jobs, of any of these lists, whose payload is that of another row. */
  readonly copies: Job[] = []
  readonly started: Job[] = []
  readonly completed: Job[] = []
  readonly completedWithOutput: Job[] = []
  readonly updated: Job[] = []
  readonly dataUpdated: Job[] = []
  /** Jobs whose lane, policy or extras change, updated or not. */
  readonly placed: Job[] = []
  readonly deleted: Job[] = []
  /** Jobs created and deleted within the turn: no row, but perhaps runs, logs and keys. */
  readonly vanished: Job[] = []
  /** True if all jobs are plain new ones, or started or completed and changed nothing else. */
  areUsual = true

  /** `node` is the file's, `at` the turn's time: the rows of a batch share them. */
  sort(jobs: readonly Job[], node: number, at: number): void {
    this.clear()
    for (const job of jobs) {
      if (job.dirty === DIRTY_EXTRAS) {
        this.placed.push(job)
        continue
      }
      const list = this.#listFor(job, node, at)
      list.push(job)
      if (job.dirty & (DIRTY_PLACE | DIRTY_EXTRAS) && (list === this.updated || list === this.dataUpdated)) this.placed.push(job)
    }
    const usual = this.plainWaiting.length + this.plainActive.length + this.started.length
    this.areUsual = this.copies.length === 0 && usual + this.completed.length + this.completedWithOutput.length === jobs.length
  }

  /** Releases the jobs. */
  clear(): void {
    for (const list of [
      this.plainWaiting,
      this.plainActive,
      this.keyedWaiting,
      this.keyedActive,
      this.inserted,
      this.copies,
      this.started,
      this.completed,
      this.completedWithOutput,
      this.updated,
      this.dataUpdated,
      this.placed,
      this.deleted,
      this.vanished,
    ])
      list.length = 0
  }

  #listFor(job: Job, node: number, at: number): Job[] {
    const { dirty } = job
    if (dirty & DIRTY_INSERT) {
      if (dirty & DIRTY_DELETE) return this.vanished
      if (job.data === undefined && job.payloadOf > 0) this.copies.push(job)
      if (job.node !== node || job.enqueuedAt !== at || !isUsual(job)) return this.inserted
      if (isKeyed(job)) return job.state === WAITING ? this.keyedWaiting : this.keyedActive
      return job.state === WAITING ? this.plainWaiting : this.plainActive
    }
    if (dirty & DIRTY_DELETE) return this.deleted
    if (dirty === DIRTY_START && job.startedAt === at) return this.started
    if (dirty === DIRTY_COMPLETE && job.finishedAt === at && dataBytes(job.output) <= BATCHED_BYTES)
      return job.output === null ? this.completed : this.completedWithOutput
    return dirty & DIRTY_DATA ? this.dataUpdated : this.updated
  }
}

/** True if a new job has the values that a batch shares: all but row number, lane, payload, session, and what keys add. */
function isUsual(job: Job): boolean {
  return (
    (job.state === WAITING || (job.state === ACTIVE && job.run === 1 && job.startedAt === job.enqueuedAt)) &&
    (job.state === ACTIVE || job.run === 0) &&
    job.uncounted === 0 &&
    job.priority === 0 &&
    job.weight === 1 &&
    job.runAt === job.enqueuedAt &&
    job.checkpoint === null &&
    job.progress === null &&
    !job.cancelRequested &&
    // Such a job is in one more index.
    (job.state === ACTIVE || job.lane.queue.settings.onFull === undefined) &&
    dataBytes(job.data) <= BATCHED_BYTES
  )
}

/** A parked job has a key, too. */
function isKeyed({ extras, expiresAt, policy }: Job): boolean {
  return extras !== undefined || expiresAt !== 0 || policy.text !== null
}
