/** The keys that queues limit or pause: found by their jobs, counted, and removed when nothing of them is left. */
import { dataBytes } from '../../job.ts'
import { LIMITS } from '../../limits.ts'
import { broken } from './broken.ts'
import type { Job } from './job.ts'
import { countInWindow, isFar, isIdle, type Key, type KeyBacklog, keyRateOf, newKey, newKeyBacklog } from './keyBacklog.ts'
import { KeyBuckets } from './keyBuckets.ts'
import type { Lane, Queue } from './lane.ts'

/** The number of parked jobs of one backlog kept in memory, and the largest payload of one. */
export const BACKLOG_JOBS = 8
const BACKLOG_DATA_BYTES = 16 * 1024

export class Keys {
  readonly backlogsById = new Map<number, KeyBacklog>()
  /** Backlogs that may let a parked job go. */
  readonly releasable = new Set<KeyBacklog>()
  /** Backlogs with room in memory whose parked jobs are only on disk. */
  readonly needRefill = new Set<KeyBacklog>()
  /** Lanes that have gained jobs in their windows, in queues that limit or pause keys. */
  readonly overfilled = new Set<Lane>()
  /** Backlogs that only count jobs on disk, the one that has been idle longest first. */
  readonly far = new Set<KeyBacklog>()
  readonly buckets = new KeyBuckets()
  /** Keys in queues that keep an order, whose turn may now be another job's. The store is to be asked. */
  readonly turns = new Set<Key>()
  #nextBacklog = 1

  /** Begins to limit or pause keys of the queue: counts the jobs that exist. `running`: all jobs that run. */
  begin(queue: Queue, running: Iterable<Job>): void {
    if (queue.keys !== undefined) return
    queue.keys = new Map()
    for (const job of running) if (job.lane.queue === queue) this.started(job)
    for (const lane of queue.lanes.values()) {
      this.overfilled.add(lane)
      for (let index = 0; index < lane.window.size; index++) this.enter(lane.window.at(index) as Job)
    }
  }

  /** Checks the keys of a queue after a limit or a pause has changed. */
  look(queue: Queue): void {
    for (const lane of queue.lanes.values()) this.overfilled.add(lane)
    for (const key of queue.keys?.values() ?? []) this.lookAt(key)
  }

  /** Checks a key, because more of its jobs may be able to stand in line. */
  lookAt(key: Key): void {
    for (const backlog of key.backlogs.values()) if (backlog.parked > 0) this.releasable.add(backlog)
  }

  key(queue: Queue, text: string): Key {
    queue.keys ??= new Map()
    let key = queue.keys.get(text)
    if (key === undefined) {
      key = newKey(queue, text)
      queue.keys.set(text, key)
    }
    return key
  }

  addBacklog(key: Key, lane: Lane, id = lane.queue.settings.keyOrder === 'strict' ? -this.#nextBacklog : this.#nextBacklog): KeyBacklog {
    const backlog = newKeyBacklog(id, key, lane)
    this.#nextBacklog = Math.max(this.#nextBacklog, Math.abs(id) + 1)
    key.backlogs.set(lane, backlog)
    this.backlogsById.set(id, backlog)
    return backlog
  }

  keyOf({ extras, lane }: Job): Key | undefined {
    return extras?.concurrencyKey === undefined ? undefined : lane.queue.keys?.get(extras.concurrencyKey)
  }

  /** Returns the backlog that the job stands before, if there is one. */
  backlogOf(job: Job): KeyBacklog | undefined {
    return this.keyOf(job)?.backlogs.get(job.lane)
  }

  /** Returns the backlog that the job stands before, and creates it if there is none. */
  backlogFor(job: Job): KeyBacklog | undefined {
    const { extras, lane } = job
    if (extras?.concurrencyKey === undefined || lane.queue.keys === undefined) return undefined
    const key = this.key(lane.queue, extras.concurrencyKey)
    return key.backlogs.get(lane) ?? this.addBacklog(key, lane)
  }

  // Running jobs.

  started({ extras, lane }: Job): void {
    if (extras?.concurrencyKey !== undefined && lane.queue.keys !== undefined) this.key(lane.queue, extras.concurrencyKey).active++
  }

  ended(job: Job): void {
    const key = this.keyOf(job)
    if (key === undefined) {
      if (job.extras?.concurrencyKey !== undefined && job.lane.queue.keys !== undefined)
        broken(`job ${job.seq} ran, and its key is unknown`)
      return
    }
    if (--key.active < 0) broken(`fewer than no jobs of key ${key.text} run`)
    this.lookAt(key)
    this.forgetIdle(key)
  }

  // Jobs in line.

  /** Counts a job that has entered its lane's window. */
  enter(job: Job): void {
    const backlog = this.backlogFor(job)
    if (backlog !== undefined) countInWindow(backlog, job, 1)
  }

  /** Counts a job that has entered its lane's window from the disk, where it may have been counted before. */
  refilled(job: Job): void {
    const backlog = this.backlogFor(job)
    if (backlog === undefined) return
    countInWindow(backlog, job, 1)
    if (backlog.beyondWindow > 0) backlog.beyondWindow--
  }

  /** Counts a job that stands in line behind those in memory. */
  enterOutside(job: Job): void {
    const backlog = this.backlogFor(job)
    if (backlog === undefined) return
    backlog.beyondWindow++
    if (isFar(backlog)) this.#remember(backlog)
  }

  /** The job has left memory, and stands in line on disk. */
  evict(job: Job): void {
    const backlog = this.backlogOf(job)
    if (backlog === undefined) return
    countInWindow(backlog, job, -1)
    backlog.beyondWindow++
    if (isFar(backlog)) this.#remember(backlog)
  }

  /** Keeps a limited number of far backlogs. The oldest is forgotten; its jobs are counted again as they come into memory. */
  #remember(backlog: KeyBacklog): void {
    this.far.delete(backlog)
    this.far.add(backlog)
    if (this.far.size <= LIMITS.keysFar) return
    const [oldest] = this.far as Iterable<KeyBacklog> as [KeyBacklog]
    this.far.delete(oldest)
    if (!isFar(oldest)) return
    this.#drop(oldest)
    this.#forgetKey(oldest.key)
  }

  /** Uncounts a job that no longer stands in line, in memory or behind that. */
  leave(job: Job, windowed: boolean): void {
    const backlog = this.backlogOf(job)
    if (backlog === undefined) return
    if (windowed) countInWindow(backlog, job, -1)
    else if (backlog.beyondWindow > 0) backlog.beyondWindow--
    this.#ease(backlog)
  }

  /** Handles a job that is gone from where it was counted. */
  #ease(backlog: KeyBacklog): void {
    if (backlog.parked > 0) this.releasable.add(backlog)
    else this.forgetIdle(backlog.key)
  }

  forgetIdle(key: Key): void {
    for (const backlog of key.backlogs.values()) {
      if (isIdle(backlog)) this.#drop(backlog)
      else if (isFar(backlog)) this.#remember(backlog)
    }
    this.#forgetKey(key)
  }

  #forgetKey(key: Key): void {
    const idle = key.active === 0 && !key.paused && key.backlogs.size === 0 && key.bucketPlace < 0
    if (idle && key.queue.keys?.get(key.text) === key) key.queue.keys.delete(key.text)
  }

  /** Forgets a key whose queue was deleted. */
  forget(key: Key): void {
    for (const backlog of key.backlogs.values()) this.#drop(backlog)
    this.buckets.drop(key)
    this.turns.delete(key)
  }

  #drop(backlog: KeyBacklog): void {
    backlog.key.backlogs.delete(backlog.lane)
    this.backlogsById.delete(backlog.id)
    this.far.delete(backlog)
    this.releasable.delete(backlog)
    this.needRefill.delete(backlog)
  }

  // Parked jobs.

  /** Parks a job and returns the jobs that leave memory. If it may not be kept in memory, those behind it leave, too. */
  park(job: Job, backlog: KeyBacklog, room: boolean): readonly Job[] {
    if (job.parked !== undefined) broken(`job ${job.seq} is parked twice`)
    job.parked = backlog
    backlog.parked++
    if (job.data === undefined || dataBytes(job.data) > BACKLOG_DATA_BYTES || !room) return backlog.window.cutAt(job)
    return backlog.window.insert(job, BACKLOG_JOBS)
  }

  /** Forgets a bucket that is full. */
  forgetBucket(key: Key): void {
    key.fullMono = 0
    this.buckets.drop(key)
    this.forgetIdle(key)
  }

  /** Schedules another check of a key whose jobs are held back, if they lack so many tokens: when those are available. */
  awaitToken(key: Key, mono: number, tokens: number): void {
    const rate = keyRateOf(key)
    if (rate !== undefined) this.buckets.await(key, rate, mono, tokens)
  }

  unpark(job: Job): void {
    const backlog = job.parked
    if (backlog === undefined) broken(`job ${job.seq} is let go, and is not parked`)
    job.parked = undefined
    if (--backlog.parked < backlog.window.size) broken(`backlog ${backlog.id} has ${backlog.parked} jobs, and more of them in memory`)
    if (backlog.parked === 0) backlog.window.complete = true
    this.#ease(backlog)
  }
}
