/** Replies to commands. */

import type { FailedPlace, LogLine, NewJob, RunKey } from './commands.ts'
import type { JournalEvent } from './events.ts'
import type { FlowState, OnParentFailure } from './flow.ts'
import type { FlowCursor } from './flowCommands.ts'
import type { JobKey } from './id.ts'
import type { Cancellation, Data } from './job.ts'
import type { State } from './lifecycle.ts'
import type { HistoryStep } from './observeCommands.ts'
import type { JobTextsView } from './options/jobTexts.ts'
import type { PayloadName } from './options/payload.ts'
import type { PolicyView } from './policy.ts'
import type { Refusal } from './refusal.ts'
import type { RunError } from './runError.ts'
import type { ScheduleSpec } from './schedule.ts'
import type { StateCounts, Totals } from './stats.ts'

export interface Enqueued extends JobKey {
  /** False where a key matched an earlier job, which this then is. */
  readonly created: boolean
}

export interface Forwarded {
  /** The journal's offset: its last place that is done with. Replies cross the wire by their fields' names, and this is the name there. */
  readonly mark: number
  /** Jobs that a key has matched to an earlier one. */
  readonly merged: readonly { readonly place: number; readonly job: JobKey }[]
  /**
   * The entry behind the offset, by the place of its first job. Neither it nor anything after it was created. The producer notes the
   * refusal, and sends the entries behind it: then the offset passes it.
   */
  readonly refused?: { readonly place: number; readonly refusal: Refusal }
}

export interface Redriven {
  /** Fewer than were looked at where another live job holds the unique key of one. */
  readonly count: number
  /** The last job that was looked at; null where there was none left. */
  readonly next: FailedPlace | null
  /** The number of failed jobs before the slice. */
  readonly failed: number
}

/**
 * Why a job that the filter matches was left as it is: its state does not allow it, it is being cancelled already, another live job
 * holds its unique key, its handler went on after a step had failed, or there is none of that id (or of that id and the filter).
 */
export type SkipReason = State | 'cancelling' | 'uniqueConflict' | 'parentFailed' | 'ambiguousRetry' | 'notFound'

/** The outcome of `cancelMany`, `updateMany` and their like, or of their dry run. */
export interface ManyResult {
  /** Jobs that the filter matches, as far as was looked. */
  readonly matched: number
  readonly changed: number
  /** The others, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
}

export interface Slice extends ManyResult {
  /** Pass as `before` for the next slice; null at the end. */
  readonly next: number | null
}

export interface AttachReply {
  /** The runs of `held` that are no longer the session's own. */
  readonly lost: readonly RunKey[]
  /** Names for which other defaults than the session's own are in force. */
  readonly disputed?: readonly string[]
}

/** A job that another one waited for. */
export interface ParentView extends JobKey {
  readonly ref: string
  /** `deleted`: before it had ended. */
  readonly state: State | 'deleted'
  readonly output: Data
  /** The error of its last run that failed. */
  readonly error?: RunError
}

export interface ParentsPage {
  readonly parents: readonly ParentView[]
  /** Pass as `after` for the next page; null at the end. */
  readonly next: number | null
}

/** A dependency of a job in a flow. */
export interface DependencyView {
  /** Row number: the ids of a flow's jobs differ in that alone. */
  readonly seq: number
  /** The rest of the id, if the waiting job has joined others: those are of other commits. */
  readonly node?: number
  readonly enqueuedAt?: number
  /** Empty where nothing is left that says it. */
  readonly ref: string
  /** Its final state, or `deleted` if it had none, as the waiting job knows it; null if it has yet to end. */
  readonly told: 'completed' | 'failed' | 'cancelled' | 'deleted' | null
}

/** A job as `getFlow` tells it: without payloads. */
export interface FlowJobView {
  readonly seq: number
  readonly ref: string
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly attempt: number
  readonly runAt: number
  readonly startedAt: number
  readonly finishedAt: number
  readonly onParentFailure: OnParentFailure
  /** The number of jobs that it waits for. */
  readonly parents: number
  /** The dependencies in the order in which they were named. If they do not fit, the next page begins with the rest. */
  readonly dependsOn: readonly DependencyView[]
}

/** One page of the jobs of a flow, as it crosses a Port. */
export interface FlowPage {
  /** The flow's first job, by which it is called; its row may be gone. */
  readonly first: JobKey
  /** The jobs that are still kept. */
  readonly jobs: readonly FlowJobView[]
  /** Pass as `from` for the next page; null at the end. */
  readonly next: FlowCursor | null
  /** All jobs of the flow that are kept, by state. */
  readonly states: StateCounts
}

/** A flow as `listFlows` shows it: its key is that of its first job, whose row may be gone. */
export interface FlowSummaryView extends JobKey {
  /** The name and the queue of its first job that is kept. */
  readonly name: string
  readonly queue: string
  readonly state: FlowState
  /** Its jobs that are kept, by state. */
  readonly states: StateCounts
  /** When the last of its jobs ended; 0 while it runs. */
  readonly finishedAt: number
}

/** One page of flows, as it crosses a Port. */
export interface FlowsPage {
  readonly flows: readonly FlowSummaryView[]
  /** Pass as `before` for the next page, also of a page that is short; null at the end. */
  readonly next: number | null
}

/** A concurrency key as `queueKeys` shows it. */
export interface QueueKey {
  readonly key: string
  /** Its waiting jobs, as far as they are counted: never more than there are, and fewer if some are only on disk. */
  readonly waiting: number
  readonly active: number
  readonly paused: boolean
  /** When its pause ends, in milliseconds since 1970; undefined if it has no end, or there is none. */
  readonly pausedUntil?: number
  /** The token bucket of the key in a queue with a `perKeyRateLimit`: `nextAt` is 0 if the bucket is full. */
  readonly rate?: { readonly tokens: number; readonly nextAt: number }
}

/** The keys of a queue that have the most waiting jobs. */
export interface QueueKeys {
  /** The most waiting jobs first, then the most running ones. */
  readonly keys: readonly QueueKey[]
  /** The number of keys that are in memory. */
  readonly known: number
  /** False if the queue neither limits nor pauses keys: then none is counted. */
  readonly tracked: boolean
  /** True if there were more keys than an answer looks at. */
  readonly partial?: true
}

/** A final state as `watch` tells it. */
export type Outcome =
  | { readonly state: 'completed'; readonly output: Data }
  | { readonly state: 'failed'; readonly error: RunError; readonly attempt: number }
  | ({ readonly state: 'cancelled' /** Why, where nobody has asked for it. */; readonly error?: RunError } & Cancellation)
  | { readonly state: 'deleted' }

/** A run that goes on, that completed or failed, or that logged before it was given back or snoozed: that one has no `error`. */
export interface AttemptView {
  readonly run: number
  readonly attempt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly worker: string
  readonly error?: RunError
  readonly logs: readonly LogLine[]
}

/** The last of a job's runs, as lists tell it. */
export interface LastRunView extends Pick<AttemptView, 'run' | 'startedAt' | 'endedAt' | 'worker'> {
  /** The message has at most `LIMITS.lastErrorLength` characters. */
  readonly error?: Pick<RunError, 'name' | 'message'>
}

/** A job's place in its flow. */
export interface FlowView {
  /** The flow's first job. */
  readonly first: JobKey
  readonly ref: string
  /** The number of jobs that it waits for. */
  readonly parents: number
  readonly onParentFailure: OnParentFailure
}

/** A job as `get` and `list` tell it; `attempts` is empty in lists. */
export interface JobView extends JobKey, PolicyView, JobTextsView {
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly data: Data
  readonly output: Data
  readonly checkpoint: Data
  readonly run: number
  readonly attempt: number
  readonly priority: number
  readonly weight: number
  readonly runAt: number
  /** The due time of the first run; undefined if it is still `runAt`. */
  readonly originalRunAt?: number
  readonly expiresAt: number
  readonly startedAt: number
  /** The time at which the engine ends the run, in the answer of `get`; undefined if the job does not run or nothing limits it. */
  readonly deadlineAt?: number
  readonly finishedAt: number
  readonly progress: string | null
  readonly cancelRequested: boolean
  /** The reason why it is cancelled, or being cancelled; undefined if nothing was said. */
  readonly cancellation?: Cancellation
  /** The number of runs that lost their worker under `maxLost`, if it is not 0. The last one may have failed the job: it used an attempt. */
  readonly lostRuns?: number
  readonly tags: readonly string[]
  readonly meta: string | null
  readonly idempotencyKey: string | null
  readonly uniqueKey: string | null
  readonly flow: FlowView | null
  readonly attempts: readonly AttemptView[]
  /** In lists that were asked for it; null where no run is known. */
  readonly lastRun?: LastRunView | null
  /** Given where payloads may be cut: the stored bytes of each, null where there is none. */
  readonly bytes?: PayloadSizes
}

export type PayloadSizes = { readonly [Name in PayloadName]: number | null }

export interface ListPage {
  readonly jobs: readonly JobView[]
  /** Pass as `before` for the next page; null at the end. */
  readonly next: number | null
  /** Pass as `beforeAt`; set in an order by time, unless at the end. */
  readonly nextAt?: number
  /** How many places of the list were passed, if jobs were looked at one after the other. */
  readonly scanned?: number
}

/** Events that the journal does not have, or has no more. */
export interface JournalGap {
  /** The last event before the gap, as it was asked for. */
  readonly after: number
  /** The lowest number that the next event may have. */
  readonly resumesAt: number
}

export interface EventsPage {
  /** The events that match, in order; maybe none. */
  readonly events: readonly JournalEvent[]
  /** All up to this one have been looked at: `after` of the next page. */
  readonly next: number
  /** The gap before the first of them. */
  readonly gap?: JournalGap
}

export interface ExportPage {
  /** The jobs in the order in which they ended; maybe none. */
  readonly jobs: readonly JobView[]
  /** Jobs that ended and were gone before they could be told: deleted by somebody, or by retention past its utmost bounds. */
  readonly missed: number
  /** The cursor to confirm, as `upTo`, when all of the page is safe. */
  readonly next: number
  readonly gap?: JournalGap
}

/** An export, and how far its reader has come. */
export interface ExportView {
  readonly name: string
  /** The last event that is confirmed. */
  readonly cursor: number
  /** The number of events since then. */
  readonly behind: number
}

/** A log line with its place among those of its run, from 0: a line keeps it when those before it are gone. */
export interface NumberedLine extends LogLine {
  readonly number: number
}

/** A page of the log lines of one run. */
export interface LogsPage {
  readonly run: number
  readonly lines: readonly NumberedLine[]
  /** `after` of the next page; null where it is the last. */
  readonly next: number | null
}

export interface Upserted {
  /** False where there was one already. */
  readonly created: boolean
  /** When it fires next; 0 for never. */
  readonly fireAt: number
  /** The waiting jobs that were changed; undefined unless the command asked for it. */
  readonly waitingUpdated?: number
}

/** A schedule as `getSchedule` and `listSchedules` tell it. Times in milliseconds since 1970, 0 for never. */
export interface ScheduleView {
  readonly id: string
  readonly spec: ScheduleSpec
  /** The job; in lists without `data`. */
  readonly job: NewJob
  readonly paused: boolean
  readonly fireAt: number
  /** The times that come next, as many as were asked for. */
  readonly times: readonly number[]
  /** The tick that fired last. */
  readonly lastAt: number
  readonly fired: number
  readonly skipped: number
  readonly createdAt: number
  readonly updatedAt: number
  /** The job that came last. */
  readonly last: JobKey | null
  /** The outcome of that job, if it is still kept; null in lists. */
  readonly result: { readonly state: State; readonly output: Data; readonly error: RunError | null } | null
}

/** One page of schedules, as it crosses a Port. */
export interface SchedulePage {
  readonly schedules: readonly ScheduleView[]
  /** Pass as `after` for the next page; null at the end. */
  readonly next: string | null
}

/** The totals of a queue in a minute or an hour. */
export interface HistoryPoint extends Totals {
  /** When it began. */
  readonly at: number
}

/** The totals of each minute, or hour, in order: arrays of one length. */
export type HistoryColumns = { readonly [Total in keyof Totals]: readonly number[] }

/** The totals of all queues. Minutes, or hours, in which nothing happened are 0. */
export interface HistoryOfQueues {
  /** When the first minute, or hour, began. */
  readonly from: number
  readonly step: HistoryStep
  /** The sum of all queues. */
  readonly total: HistoryColumns
  /** The queues that counted most, the busiest first: as many as were asked for. */
  readonly queues: readonly (HistoryColumns & { readonly name: string })[]
  /** Queues that `total` leaves out, because too many have counted something; undefined for none. */
  readonly queuesLeftOut?: number
}

/** Failed runs of one class of error and, but for what differs from job to job, of one message. */
export interface FailureGroup {
  /** 14 hexadecimal digits: a hash of the error's class and its message without numbers, ids, and what stands in quotes. */
  readonly fingerprint: string
  readonly queue: string
  readonly name: string
  /** The class's name. */
  readonly error: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** The one that failed last, and its message; null once it is gone. */
  readonly job: JobKey | null
  readonly message: string | null
  /** With `trend`: the failed runs of each of the last 24 hours, oldest first; the last place is the current hour. */
  readonly trend?: readonly number[]
}
