/**
 * Jobs with a `concurrencyKey`, in queues that limit or pause keys. If a lane has more jobs of a key than may run, the rest are
 * parked behind a backlog. They wait on disk, outside the lane, and block no other job. Memory holds the keys that run, stand in a
 * window, are parked or paused, or whose token buckets are not full. Of the keys that have jobs only on disk it holds the last
 * 1,000.
 */
import { LIMITS } from '../../limits.ts'
import { keyLimitsOf, type RateLimit } from '../../queueSettings.ts'
import { broken } from './broken.ts'
import { tokensFor, tokensOf } from './bucket.ts'
import type { Job } from './job.ts'
import type { Lane, Queue } from './lane.ts'
import { Window } from './window.ts'

export interface Key {
  readonly queue: Queue
  readonly text: string
  active: number
  paused: boolean
  /** One backlog for each job name. */
  readonly backlogs: Map<Lane, KeyBacklog>
  /** True if this turn has paused or resumed the key. */
  noted: boolean
  /** The time when its token bucket is full again; monotonic. */
  fullMono: number
  /** The time when its bucket is to be checked, maybe too early; monotonic. */
  lookMono: number
  /** The place among the buckets that are not full; -1 if it is full. */
  bucketPlace: number
  /** True if this turn has changed its bucket. */
  bucketNoted: boolean
}

export interface KeyBacklog {
  /** The row number; below zero if its jobs stand by arrival (`keyOrder`). */
  readonly id: number
  readonly key: Key
  readonly lane: Lane
  /** The number of jobs in the lane's window. */
  inWindow: number
  /** The tokens that those will take. */
  windowTokens: number
  /** The number of jobs known to be in line behind those in memory; never more than there are. */
  beyondWindow: number
  parked: number
  /** The parked jobs that are let go next. */
  readonly window: Window
  /** True if this turn has changed its row. */
  noted: boolean
}

export function newKey(queue: Queue, text: string): Key {
  const bucket = { fullMono: 0, lookMono: 0, bucketPlace: -1, bucketNoted: false }
  return { queue, text, active: 0, paused: false, backlogs: new Map(), noted: false, ...bucket }
}

export function newKeyBacklog(id: number, key: Key, lane: Lane): KeyBacklog {
  return { id, key, lane, inWindow: 0, windowTokens: 0, beyondWindow: 0, parked: 0, window: new Window(), noted: false }
}

/** Counts a job that enters its lane's window, or leaves it. */
export function countInWindow(backlog: KeyBacklog, { policy }: Job, change: 1 | -1): void {
  backlog.inWindow += change
  backlog.windowTokens += change * policy.tokens
  if (backlog.inWindow < 0 || backlog.windowTokens < 0) broken(`backlog ${backlog.id} has ${backlog.inWindow} jobs in its lane's window`)
}

/** Returns how many of the key's jobs may run now, beyond those that do. */
export function roomOf({ paused, active, queue, text, fullMono }: Key, mono: number): number {
  if (paused) return 0
  const unlimited = queue.settings.keyOrder === 'strict' ? 1 : Number.POSITIVE_INFINITY
  const { perKeyLimit = unlimited, perKeyRateLimit } = keyLimitsOf(queue.settings, text)
  const room = perKeyLimit - active
  return perKeyRateLimit === undefined || room <= 0 ? room : Math.min(room, tokensOf(perKeyRateLimit, fullMono, mono))
}

/** Returns the rate of a key; undefined if it has none. */
export function keyRateOf({ queue, text }: Key): RateLimit | undefined {
  return keyLimitsOf(queue.settings, text).perKeyRateLimit
}

/** Returns the tokens that a job needs of its key's bucket; 1 if the key has none. */
export function keyTokensFor(key: Key, job: Job): number {
  const perKeyRateLimit = keyRateOf(key)
  return perKeyRateLimit === undefined ? 1 : tokensFor(job, perKeyRateLimit)
}

/** True if one more job may stand in line; undefined for one that is only on disk. No key has more of one name there than may run, so that others have their turn. */
export function mayLine(backlog: KeyBacklog, mono: number, job: Job | undefined): boolean {
  const { key, inWindow, beyondWindow } = backlog
  return inWindow + beyondWindow < roomOf(key, mono) && (job === undefined || mayPay(key, mono, job, tokensInLine(backlog)))
}

/** Returns the tokens that the backlog's jobs in line will take; one for each that is only on disk. */
export function tokensInLine({ windowTokens, beyondWindow }: KeyBacklog): number {
  return windowTokens + beyondWindow
}

/** True if the key's bucket has the tokens that the job needs, beside so many others. */
export function mayPay(key: Key, mono: number, job: Job, others = 0): boolean {
  const rate = keyRateOf(key)
  return rate === undefined || tokensOf(rate, key.fullMono, mono) >= tokensFor(job, rate) + others
}

/**
 * True if a new job may stand in line. The first of its key always may. If the key has jobs only on disk, some more may: parking
 * them would take a backlog for every key with a few jobs.
 */
export function mayEnter(backlog: KeyBacklog, mono: number, job: Job): boolean {
  return mayLine(backlog, mono, job) || isIdle(backlog) || (isFar(backlog) && backlog.beyondWindow < LIMITS.keyJobsInLine)
}

/** True if no job of the key runs, and none of the backlog is in memory or parked. */
export function isFar({ key, inWindow, parked }: KeyBacklog): boolean {
  return key.active + inWindow + parked === 0
}

/** True if the backlog's jobs stand by arrival, and one of all jobs with the key is let go at a time. */
export function isStrict({ id }: KeyBacklog): boolean {
  return id < 0
}

export function isIdle({ inWindow, beyondWindow, parked }: KeyBacklog): boolean {
  return inWindow + beyondWindow + parked === 0
}
