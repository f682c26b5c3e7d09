/** What the commands are answered with. */
import type { Backoff } from './backoff.ts'
import type { FailedPlace, LogLine, Operation, RunError, RunKey } from './commands.ts'
import type { Refusal } from './errors.ts'
import type { OnParentFailure } from './flow.ts'
import type { JobKey } from './id.ts'
import type { Data } from './job.ts'
import type { State } from './lifecycle.ts'
import type { Stats, WorkerView } from './stats.ts'

export interface Enqueued extends JobKey {
  /** False where a key matched an earlier job, which this then is. */
  readonly created: boolean
}

export interface Forwarded {
  /** The last place of the journal that is done with. */
  readonly mark: number
  /** Jobs that a key has matched to an earlier one. */
  readonly merged: readonly { readonly place: number; readonly job: JobKey }[]
  /**
   * The entry behind the mark, by the place of its first job: nothing of it happened, nor of what comes after it. Sent again from
   * behind it, the rest goes on: so the mark passes it when the producer has taken note.
   */
  readonly refused?: { readonly place: number; readonly refusal: Refusal }
}

export interface Redriven {
  /** Fewer than were looked at where another live job holds the unique key of one. */
  readonly count: number
  /** The last job that was looked at; null where there was none left. */
  readonly next: FailedPlace | null
  /** How many there were before. */
  readonly failed: number
}

export interface AttachReply {
  /** Those of `held` that are no longer the session's own. */
  readonly lost: readonly RunKey[]
}

/** One that a job waited for. */
export interface ParentView extends JobKey {
  readonly ref: string
  /** `deleted`: before it had ended. */
  readonly state: State | 'deleted'
  readonly output: Data
  /** Of its last run that failed. */
  readonly error?: RunError
}

export interface ParentsPage {
  readonly parents: readonly ParentView[]
  /** Pass as `after` for the next page; null at the end. */
  readonly next: number | null
}

/** A final state as `watch` tells it. */
export type Outcome =
  | { readonly state: 'completed'; readonly output: Data }
  | { readonly state: 'failed'; readonly error: RunError; readonly attempt: number }
  | { readonly state: 'cancelled' }
  | { readonly state: 'deleted' }

export interface AttemptView {
  readonly run: number
  readonly attempt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly worker: string
  readonly error?: RunError
  readonly logs: readonly LogLine[]
}

/** Where a job stands in its flow. */
export interface FlowView {
  /** The flow's first job. */
  readonly first: JobKey
  readonly ref: string
  /** How many jobs it waits for. */
  readonly parents: number
  readonly onParentFailure: OnParentFailure
}

/** A job as `get` and `list` tell it; `attempts` is empty in lists. */
export interface JobView extends JobKey {
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly data: Data
  readonly output: Data
  readonly checkpoint: Data
  readonly run: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly timeout: number
  readonly heartbeatTimeout: number
  readonly backoff: Backoff
  readonly priority: number
  readonly weight: number
  readonly runAt: number
  readonly expiresAt: number
  readonly startedAt: number
  readonly finishedAt: number
  readonly progress: string | null
  readonly cancelRequested: boolean
  readonly tags: readonly string[]
  readonly meta: string | null
  readonly idempotencyKey: string | null
  readonly uniqueKey: string | null
  readonly concurrencyKey: string | null
  readonly flow: FlowView | null
  readonly attempts: readonly AttemptView[]
}

export interface ListPage {
  readonly jobs: readonly JobView[]
  /** Pass as `before` for the next page; null at the end. */
  readonly next: number | null
}

export interface ReplyOf {
  enqueue: readonly Enqueued[]
  forward: Forwarded
  flow: Enqueued
  parents: ParentsPage
  attach: AttachReply
  drain: true
  leave: true
  renew: true
  complete: true
  fail: true
  snooze: true
  giveBack: true
  heartbeat: true
  checkpoint: true
  progress: true
  log: true
  get: JobView | null
  watch: Outcome
  unwatch: true
  cancel: 'cancelled' | 'cancelling'
  cancelTree: 'cancelled' | 'cancelling' | 'finished'
  retryTree: true
  update: true
  retry: true
  redrive: Redriven
  runNow: true
  delete: true
  stats: Stats
  workers: readonly WorkerView[]
  list: ListPage
  subscribe: true
  backup: { readonly bytes: number }
}

/** Decided, but to be answered later. */
export const HELD: unique symbol = Symbol('held')

/** A refusal found before anything was written. */
export class Refused {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

export type Decision<Op extends Operation> = ReplyOf[Op] | Refused | typeof HELD
