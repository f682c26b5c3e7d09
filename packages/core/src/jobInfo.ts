/** The facts of a run, as handlers and backoff functions read them. */

/** The facts of a run; frozen. */
export interface JobInfo {
  readonly id: string
  readonly name: string
  readonly queue: string
  /** The number of this run, from 1. It counts every hand-out of the job, and fences everything that this run reports. */
  readonly run: number
  /** The number of this attempt, from 1. Runs that used no attempt are not counted. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly priority: number
  readonly weight: number
  /** The concurrency key of the job; undefined if it has none. */
  readonly concurrencyKey: string | undefined
  /** The idempotency key of the job; undefined if it has none. */
  readonly idempotencyKey: string | undefined
  /** The last value that an earlier attempt stored. */
  readonly checkpoint: unknown
  readonly enqueuedAt: Date
  readonly runAt: Date
  readonly tags: readonly string[]
  readonly meta: Readonly<Record<string, unknown>>
}
