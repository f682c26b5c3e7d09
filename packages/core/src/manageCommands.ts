/** Commands about queues, and about many jobs at once. */
import type { LabelChanges, PlaceChanges } from './commands.ts'
import type { JobKey } from './id.ts'
import type { Cancellation } from './job.ts'
import type { ListFilter } from './options/filter.ts'
import type { QueueChanges } from './queueSettings.ts'

/** Changes what a queue is told; it is created on its first use. Reply: true. */
export interface ConfigureCommand {
  readonly op: 'configure'
  readonly queue: string
  readonly changes: QueueChanges
}

/** Pauses or resumes a queue, one job name in it, or one key: while it is paused, none of its jobs starts. Reply: true. */
export interface PauseCommand {
  readonly op: 'pause'
  readonly queue: string
  readonly job?: string
  readonly key?: string
  readonly paused: boolean
  /** Milliseconds after which a pause ends; without it, a pause lasts until it is resumed. The later end of two pauses counts. */
  readonly for?: number
  /** A queue that is not there is refused, not created. */
  readonly existing?: boolean
}

/** Nothing of any queue starts until it goes on; what each queue was told by itself stays as it is. Reply: true. */
export interface PauseAllCommand {
  readonly op: 'pauseAll'
  readonly paused: boolean
}

/**
 * The queue takes no new jobs until it is resumed (`pause` with `paused` false). Answered when none of it is left that has not ended:
 * true; refused where it is resumed before that.
 */
export interface DrainQueueCommand {
  readonly op: 'drainQueue'
  readonly queue: string
}

/** Forgets an empty queue: what it was told, its pauses, its counters and its names. Reply: whether there was one. */
export interface DeleteQueueCommand {
  readonly op: 'deleteQueue'
  readonly queue: string
}

/** The named queue, or a page of all of them in the order of their names. Reply: `QueueView[]`; fewer than `limit` are the last. */
export interface QueuesCommand {
  readonly op: 'queues'
  readonly queue?: string
  /** The name of the last queue of the page before. */
  readonly after?: string
  /** The size of the page. Older clients send none: they get all queues that fit into one answer. */
  readonly limit?: number
}

/** Asks which keys of a queue have the most waiting jobs. Reply: `QueueKeys`, or null if there is no such queue. */
export interface QueueKeysCommand {
  readonly op: 'queueKeys'
  readonly queue: string
  readonly limit: number
}

/** The jobs of `cancelMany`, `updateMany` and their like: one slice, newest first. Without a filter and ids: every job. */
export interface ManyCommand {
  readonly filter: ListFilter
  /** Only these jobs: at most `LIMITS.idsPerSlice`, and no slice follows. */
  readonly ids?: readonly JobKey[]
  /** A string that the jobs contain. Not with `ids`. */
  readonly search?: string
  /** At most so many change. */
  readonly limit: number
  /** Rows before this one: `next` of the slice before. */
  readonly before?: number
  /** Counts what would change, and changes nothing. */
  readonly dryRun: boolean
}

/** Cancels jobs that have not finished; those that run are aborted. Reply: `Slice`. */
export interface CancelManyCommand extends ManyCommand, Cancellation {
  readonly op: 'cancelMany'
}

/** Retries jobs that failed, were cancelled, or wait for a retry. Reply: `Slice`. */
export interface RetryManyCommand extends ManyCommand {
  readonly op: 'retryMany'
}

/** Removes jobs that do not run, with their content and their idempotency keys. Reply: `Slice`. */
export interface DeleteManyCommand extends ManyCommand {
  readonly op: 'deleteMany'
}

/** Makes scheduled jobs due now. Reply: `Slice`. */
export interface RunNowManyCommand extends ManyCommand {
  readonly op: 'runNowMany'
}

/** Changes jobs as `update` does. Reply: `Slice`. */
export interface UpdateManyCommand extends ManyCommand {
  readonly op: 'updateMany'
  readonly changes: PlaceChanges & LabelChanges
}
