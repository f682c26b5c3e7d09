/**
 * The commands about jobs, runs and workers. Each command gets exactly one reply, in the order of arrival on its Port, with two
 * exceptions: patient operations (operations.ts says which) are answered when there is something to say, and questions that read may be
 * answered after later commands, in their own order.
 */

import type { EventType } from './events.ts'
import type { JobKey } from './id.ts'
import type { Cancellation, Data } from './job.ts'
import type { ListFilter } from './options/filter.ts'
import type { JobTexts } from './options/jobTexts.ts'
import type { TimeOrder } from './options/order.ts'
import type { PayloadName } from './options/payload.ts'
import type { RunChange, RunSettings } from './options/runOptions.ts'
import type { QueueOrder } from './options/work.ts'
import type { PausePart } from './pausePart.ts'
import type { Refusal } from './refusal.ts'
import type { RunError } from './runError.ts'

/** A job as it is asked for: valid (options/ has checked it), with only what was set. Times in milliseconds. */
export interface NewJob extends Readonly<RunSettings>, JobTexts {
  readonly name: string
  readonly data: Data
  /** Counts by the engine's clock, from the turn that takes the job. */
  readonly delay?: number
  /** Since 1970. */
  readonly runAt?: number
  readonly idempotencyKey?: string
  readonly idempotencyTtl?: number
  /** Alone: without `throttle`, `idempotencyKey`, `unique`, `delay` and `runAt`. */
  readonly debounce?: { readonly key: string; readonly delay: number; readonly mode: 'trailing' | 'leading'; readonly maxDelay?: number }
  /** Not with `idempotencyKey` or `unique`. */
  readonly throttle?: { readonly key: string; readonly period: number }
  readonly unique?: { readonly key: string; readonly onConflict: OnConflict; readonly until?: 'end' | 'start' }
  readonly tags?: readonly string[]
  readonly meta?: string
}

export type OnConflict = 'skip' | 'replace' | 'reschedule' | 'error'

/** The options that a definition sets for enqueues by plain name. */
export interface Defaults extends Readonly<RunSettings> {
  /** The options of how a job runs are beneath all layers that do not say so: a handler's own values, which a queue's settings replace. */
  readonly weak?: boolean
}

/** A hand-out: what fences everything that a worker says about a job. */
export interface RunKey {
  readonly seq: number
  readonly run: number
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  /** JSON text. */
  readonly fields?: string
}

/** Creates jobs: all or none. Reply: `Enqueued[]`, in order. */
export interface EnqueueCommand {
  readonly op: 'enqueue'
  readonly jobs: readonly NewJob[]
}

/**
 * Creates what a producer's journal holds, in its order. The journal's offset, which moves in the same commit, says how far it has come:
 * what is repeated is skipped, whatever became of those jobs since. Each entry is all or none. Reply: `Forwarded`.
 */
export interface ForwardCommand {
  readonly op: 'forward'
  /** Random: the journal of one process. */
  readonly source: string
  /** Stands for the journal in the ids of its jobs: from 1, below 2^26. */
  readonly number: number
  /** The place of the first job in the journal, from 1; the others follow. */
  readonly first: number
  readonly entries: readonly SourceEntry[]
}

/** A `forward` whose host knows schemas of its jobs. It stays between the host and its engine: no message has room for it. */
export interface CheckedForward extends ForwardCommand {
  /** Why entries are refused, by the place of their first job. */
  readonly unfit?: ReadonlyMap<number, Refusal>
  /**
   * The entries lie in the inbox of the store itself: each is taken out of it in the commit that creates its job, so no offset moves. Each
   * has one job, and this is where they lie, in the same order.
   */
  readonly inbox?: readonly InboxEntry[]
}

/** The place of an entry in the inbox of a store. */
export interface InboxPlace {
  readonly id: number
  /** The node in the id that the entry was given: the value of `sourcedNode`. */
  readonly node: number
}

export interface InboxEntry extends InboxPlace {
  /** The reason why it can be no job, whatever the queue is like; it has no job then. */
  readonly unfit?: Unfit | undefined
}

/** The code and the message of an error, for people. */
export interface Unfit {
  readonly code: string
  readonly message: string
}

/** The jobs that one call of a producer has put into its journal. */
export interface SourceEntry {
  /** The producer's clock at the call. */
  readonly at: number
  readonly jobs: readonly NewJob[]
}

/** A worker session begins, or names itself again after any break. Reply: `AttachReply`. */
export interface AttachCommand {
  readonly op: 'attach'
  readonly session: SessionIntro
  /** The runs that the session holds: started, or ended and not yet acknowledged. */
  readonly held: readonly RunKey[]
}

export interface SessionIntro {
  /** Random, per worker and process boot. A secret: whoever knows it speaks for the session, so no event or answer has it. */
  readonly uuid: string
  /** The public name of the worker. */
  readonly worker: string
  readonly host: string
  readonly pid: number
  /** Lives in the engine's own process: has no lease. */
  readonly local: boolean
  readonly handlers: readonly { readonly name: string; readonly defaults: Defaults }[]
  /** Names, and prefixes that end with an asterisk. Undefined: every queue. */
  readonly queues?: readonly string[]
  /** The order of `queues`: 'strict' serves an earlier queue first; 'fair', the default, serves them in turns. */
  readonly order?: QueueOrder
  readonly minConcurrency: number
  readonly maxConcurrency: number
  /** Milliseconds between an abort and the moment the engine ends the run by itself. */
  readonly abortGrace: number
  /** True if a pool of threads or of child processes runs its handlers. Default false. */
  readonly pooled?: boolean
  /** True if that is a pool of child processes. Default false. */
  readonly isolated?: boolean
  /** True if it takes no jobs until it says otherwise. Default false. */
  readonly paused?: boolean
  /**
   * False if its defaults never come into force and dispute no others. A server sets it for a token that is bound to queues, because the
   * defaults of a name reach its jobs in every queue. Default true.
   */
  readonly defines?: boolean
  /** The library that its client has greeted with, name and version. The server of the connection adds it; no message has room for it. */
  readonly library?: string
  /** Identifies the client's process on its machine; empty if unknown. The server of the connection adds it, as it does `library`. */
  readonly process?: string
}

/** The figures that a worker's process reports about itself, beside what it sends anyway. They are kept in memory alone. */
export interface Vitals {
  /** The 99th percentile of the delay of its event loop since the last report, in milliseconds; undefined if nothing was measured. */
  readonly eventLoopDelayMs?: number
  /** The memory that the process occupies, of all its threads, in bytes. */
  readonly rssBytes?: number
}

/**
 * The session takes more jobs at once, or fewer, or none until it says otherwise; running jobs continue. It counts from the connection by
 * which the session last attached, and each attach says the same again. Reply: true.
 */
export interface AdjustCommand extends Pick<SessionIntro, 'minConcurrency' | 'maxConcurrency' | 'paused'> {
  readonly op: 'adjust'
  readonly session: string
}

/** The session takes no more jobs; what it runs goes on. Reply: true. */
export interface DrainCommand {
  readonly op: 'drain'
  readonly session: string
}

/**
 * Every worker of that public id, wherever it runs: it gets no more jobs, and is told to stop; told again where its connection breaks
 * before it has left, unless it is taken for lost or the tables are loaded anew meanwhile. Reply: true.
 */
export interface StopWorkerCommand {
  readonly op: 'stopWorker'
  readonly worker: string
  /** Milliseconds for what runs, before it is aborted and given back; Infinity waits for as long as it takes. */
  readonly timeout: number
}

/** The session is over: whatever it still holds is given back. Reply: true. */
export interface LeaveCommand {
  readonly op: 'leave'
  readonly session: string
}

/** The sender's remote sessions live: their leases run anew. Reply: true. */
export interface RenewCommand {
  readonly op: 'renew'
  /** 1, 2, 3 ... on each connection: deliveries name the last one that was counted. */
  readonly renewal: number
  /** Replaces the figures of the sender's last report. */
  readonly vitals?: Vitals
}

/** The run ended well. `enqueues` are created in the same commit. Reply: true. */
export interface CompleteCommand extends RunKey {
  readonly op: 'complete'
  readonly output: Data
  readonly enqueues?: readonly NewJob[]
}

/** The run ended badly. `retry`: undefined = the job's backoff, a number = after that many ms, false = never. Reply: true. */
export interface FailCommand extends RunKey {
  readonly op: 'fail'
  readonly error: RunError
  readonly retry?: number | false
  /** The handler cancels its job: the message of `error` is the reason. `retry` is false, for engines that do not know this field. */
  readonly cancel?: true
  /** The job waits at least `retry` ms: longer if its backoff says so. */
  readonly atLeast?: true
  /** The handler does not fit the results that its job has recorded: no attempt is used, and the job is put off until code fits. */
  readonly changed?: true
}

/** Puts the job off without using an attempt. Reply: true. */
export interface SnoozeCommand extends RunKey {
  readonly op: 'snooze'
  readonly delay: number
  /** Pauses this part of the job's queue for `delay` in the same commit; the job keeps its place in line. */
  readonly pause?: PausePart
}

/** The run has not begun, or was stopped before its end: the job waits again, without using an attempt. Reply: true. */
export interface GiveBackCommand extends RunKey {
  readonly op: 'giveBack'
  /** Its handler has begun: a ttl is for the first start alone. Default false. */
  readonly started?: boolean
}

/** Extends the deadline to at least now + heartbeatTimeout. Reply: true. */
export interface HeartbeatCommand extends RunKey {
  readonly op: 'heartbeat'
}

/** Stores a value that the next attempt finds; also a heartbeat. Reply: true. */
export interface CheckpointCommand extends RunKey {
  readonly op: 'checkpoint'
  readonly value: Data
}

/** Reply: true. */
export interface ProgressCommand extends RunKey {
  readonly op: 'progress'
  readonly fraction: number
  readonly note?: string
  /** JSON text. */
  readonly value?: string
}

/** Reply: true. */
export interface LogCommand extends RunKey {
  readonly op: 'log'
  readonly lines: readonly LogLine[]
}

/** Reply: `JobView`, or null where there is none. */
export interface GetCommand {
  readonly op: 'get'
  readonly id: JobKey
  /** The bytes of each payload in the reply: longer ones are cut, 0 leaves all out. Undefined: whole ones. */
  readonly payloadBytes?: number
  /** Only this payload, whole: the others are left out, and so are the runs. */
  readonly only?: PayloadName
}

/** A page of the log lines of one run. Reply: `LogsPage`, or null where there is no such job. */
export interface LogsCommand {
  readonly op: 'logs'
  readonly id: JobKey
  /** Undefined: the last one. */
  readonly run?: number
  /** Lines behind this number; if `newest`, those before it. */
  readonly after?: number
  readonly limit: number
  /** The newest first. */
  readonly newest?: boolean
}

/** Answered when the job is final: `Outcome`. */
export interface WatchCommand {
  readonly op: 'watch'
  readonly id: JobKey
}

/** Forgets the watch with that request id, which gets no reply any more. Reply: true. */
export interface UnwatchCommand {
  readonly op: 'unwatch'
  readonly request: number
}

/** Reply: `'cancelled'`, or `'cancelling'` where the job runs. */
export interface CancelCommand extends Cancellation {
  readonly op: 'cancel'
  readonly id: JobKey
}

/** Cancels a job and all that waits for it, however far down. Reply: as of `cancel`, or `'finished'` where the job itself was final. */
export interface CancelTreeCommand extends Cancellation {
  readonly op: 'cancelTree'
  readonly id: JobKey
}

/** Brings a job and all that waits for it back, where they failed or were cancelled. Reply: true. */
export interface RetryTreeCommand {
  readonly op: 'retryTree'
  readonly id: JobKey
}

/** Changes a job: its labels in any state, all else before it has started. Reply: true. */
export interface UpdateCommand {
  readonly op: 'update'
  readonly id: JobKey
  readonly changes: JobChanges
}

/** Changes of when and how a job that has not started runs. */
export interface PlaceChanges extends Readonly<Pick<RunSettings, RunChange>> {
  readonly runAt?: number
}

/** Changes of what a job is found by. Each replaces the whole. */
export interface LabelChanges {
  readonly tags?: readonly string[]
  /** JSON text. */
  readonly meta?: string
}

export interface JobChanges extends PlaceChanges, LabelChanges {
  readonly data?: Data
  readonly checkpoint?: Data
}

/** Runs a failed or cancelled job again from its first attempt; one that waits for a retry, at once. Reply: true. */
export interface RetryCommand {
  readonly op: 'retry'
  readonly id: JobKey
  /** The step at which the job resumes: its result is forgotten, and all that was asked for after it. `START`: all results. */
  readonly from?: string
}

/** A place among the failed jobs, which are in order of their failure. */
export interface FailedPlace {
  readonly finishedAt: number
  readonly seq: number
}

/** Retries failed jobs, oldest failure first, a slice at a time. Reply: `Redriven`. */
export interface RedriveCommand {
  readonly op: 'redrive'
  readonly queue?: string
  readonly name?: string
  readonly limit: number
  /** Behind this place: `next` of the slice before. */
  readonly after?: FailedPlace
}

/** Makes a scheduled job due now. Reply: true. */
export interface RunNowCommand {
  readonly op: 'runNow'
  readonly id: JobKey
}

/** Removes a job and its content. Reply: true. */
export interface DeleteCommand {
  readonly op: 'delete'
  readonly id: JobKey
}

/** A page of the attached workers, in the order in which they attached first. Reply: `AttachedWorker[]`; fewer than `limit` are the last. */
export interface WorkersCommand {
  readonly op: 'workers'
  /** `session` of the last worker of the page before. */
  readonly after?: number
  /** The size of the page. Older clients send none: they get all workers that fit into one answer. */
  readonly limit?: number
}

/** One page. Reply: `ListPage`. */
export interface ListCommand {
  readonly op: 'list'
  readonly filter: ListFilter
  readonly limit: number
  /** Rows before this one; in another order, those behind it. */
  readonly before?: number
  /** A string that the jobs contain. The page may then be short, or empty, and yet have a `next`. */
  readonly search?: string
  /** As of `get`. */
  readonly payloadBytes?: number
  /** Each job with its last run. Default false. */
  readonly lastRun?: boolean
  /** Undefined: newest first. `finished`: last finished first, of one final state. `due`: soonest first, of scheduled jobs. */
  readonly order?: TimeOrder
  /** `nextAt` of the page before, in an order by time; with `before`. */
  readonly beforeAt?: number
  /** Oldest first. Not with `order`. */
  readonly ascending?: boolean
}

/** Turns on or off that the Port gets events after each commit. Reply: true. */
export interface SubscribeCommand {
  readonly op: 'subscribe'
  readonly on: boolean
}

/**
 * The next events after one, from the journal and in its order. Where none of them fits, it is answered with the next commit that has
 * one. Reply: `EventsPage`.
 */
export interface EventsCommand {
  readonly op: 'events'
  /** The last event that is known; 0: from the oldest kept. */
  readonly after: number
  readonly filter: EventFilter
}

/** An event fits where it meets all that is said. */
export interface EventFilter {
  readonly types?: readonly EventType[]
  readonly queue?: string
  readonly name?: string
  readonly id?: JobKey
}

/** Writes a copy of the database to a new file. Answered when it is complete: `{ bytes }`. */
export interface BackupCommand {
  readonly op: 'backup'
  readonly file: string
}
