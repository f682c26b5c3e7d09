/** What a definition and a single enqueue both set: how a job stands in line, is run, and is run again. */
import type { Backoff } from '../backoff.ts'
import type { Duration } from '../duration.ts'
import { LIMITS } from '../limits.ts'
import { type BackoffOptions, backoffOption } from './backoff.ts'
import { integerOption } from './integer.ts'
import { durationOption } from './milliseconds.ts'
import { nameOption } from './name.ts'

export interface RunOptions {
  /** Default `'default'`. */
  readonly queue?: string
  /** Within its queue higher ones start first: −1,000,000 to 1,000,000, default 0. */
  readonly priority?: number
  /** What the job counts against its worker's concurrency: 1 to 1,000,000, default 1. */
  readonly weight?: number
  /** Attempts in total, the first included: 1 to 100,000, default 4. */
  readonly maxAttempts?: number
  /** No retry begins later than so long after the enqueue: then the job fails. At least 1 ms; default none. */
  readonly maxAge?: Duration
  /** Default exponential from 20 s, factor 2, cap 1 h, jitter 0.2. */
  readonly backoff?: BackoffOptions
  /** From hand-out to the deadline of one attempt: at least 1 ms, or Infinity; default 5 m. */
  readonly timeout?: Duration
  /**
   * A heartbeat or a checkpoint extends the deadline to at least this long from then: 0 to 100 years, default 2 m. With 0 nothing
   * extends it.
   */
  readonly heartbeatTimeout?: Duration
  /**
   * Fails with JobExpiredError if not started so long after the enqueue: at least 1 ms, or Infinity for never, whatever the queue's
   * `defaults` say. Default none.
   */
  readonly ttl?: Duration
}

/** The same, checked: only what was set, durations in milliseconds. */
export interface RunSettings {
  queue?: string
  priority?: number
  weight?: number
  maxAttempts?: number
  maxAge?: number
  backoff?: Backoff
  timeout?: number
  heartbeatTimeout?: number
  ttl?: number
}

export const RUN_OPTIONS = [
  'queue',
  'priority',
  'weight',
  'maxAttempts',
  'maxAge',
  'backoff',
  'timeout',
  'heartbeatTimeout',
  'ttl',
] as const

/** Reads the options of this file into `settings`, leaving out what is not set. */
export function readRunOptions(options: Readonly<Record<string, unknown>>, settings: RunSettings): void {
  const { queue, priority, weight, maxAttempts, maxAge, backoff, timeout, heartbeatTimeout, ttl } = options
  if (queue !== undefined) settings.queue = nameOption('queue', queue)
  if (priority !== undefined) settings.priority = integerOption('priority', priority, -LIMITS.priority, LIMITS.priority)
  if (weight !== undefined) settings.weight = integerOption('weight', weight, 1, LIMITS.weight)
  if (maxAttempts !== undefined) settings.maxAttempts = integerOption('maxAttempts', maxAttempts, 1, LIMITS.maxAttempts)
  if (maxAge !== undefined) settings.maxAge = durationOption('maxAge', maxAge, { min: 1 })
  if (backoff !== undefined) settings.backoff = backoffOption('backoff', backoff)
  if (timeout !== undefined) settings.timeout = durationOption('timeout', timeout, { min: 1, infinity: true })
  if (heartbeatTimeout !== undefined) settings.heartbeatTimeout = durationOption('heartbeatTimeout', heartbeatTimeout)
  if (ttl !== undefined) settings.ttl = Math.min(LIMITS.durationMs, durationOption('ttl', ttl, { min: 1, infinity: true }))
}
