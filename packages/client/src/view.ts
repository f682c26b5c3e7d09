/** Defines jobs and events as callers see them: dates are `Date`s, payloads are decoded, ids are strings. */
import {
  type AttemptView,
  type Cancellation,
  DEFAULT_POLICY,
  decodeData,
  type EnginePauseEventBody,
  type FlowView,
  formatId,
  isJobEvent,
  type JobEvent,
  type JobEventType,
  type JobText,
  type JobView,
  type JournalEvent,
  type LogLevel,
  type LogLine,
  type MissReason,
  mapJobTexts,
  type OnParentFailure,
  type PayloadName,
  POLICY_FIELDS,
  type PolicyView,
  type QueueEventBody,
  type RunCause,
  type RunError,
  type ScheduleEventType,
  type State,
  type WorkerEventBody,
} from '@millrace/core'
import type { InputOf, OutputOf, Stored } from '@millrace/worker'
import type { PayloadCodec } from './payloadCodec.ts'
import { type PayloadPreviews, payloadsOf, type Shown, WHOLE } from './payloads.ts'

/** A line that a handler has logged. */
export interface JobLog {
  readonly at: Date
  readonly level: LogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * A run that is active, completed or failed, or that logged before it was given back or snoozed. The latter has no
 * `error`, and the next run has the same attempt number. If a job failed without ever running, its error is in an entry
 * with attempt 0.
 */
export interface JobAttempt {
  readonly run: number
  readonly attempt: number
  readonly startedAt: Date | undefined
  /** Undefined while the run is active. */
  readonly endedAt: Date | undefined
  /** The worker's id. */
  readonly worker: string
  readonly error?: RunError
  readonly logs: readonly JobLog[]
}

/** A run in short. */
export interface JobRun extends Pick<JobAttempt, 'run' | 'startedAt' | 'endedAt' | 'worker'> {
  /** The name of the error, and the first 300 characters of its message. */
  readonly error?: Pick<RunError, 'name' | 'message'>
}

/** The place of a job in its flow. */
export interface JobFlow {
  readonly id: string
  readonly ref: string
  /** The number of jobs that it waits for. */
  readonly parents: number
  readonly onParentFailure: OnParentFailure
}

/** The texts that its caller has given a job; undefined for one that it has not. */
type ShownTexts = { readonly [Name in JobText]: string | undefined }

/** A job as `engine.get` and `engine.list` return it. */
export interface Job<Data = unknown, Output = unknown> extends PolicyView, ShownTexts {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly data: Data
  /** Undefined until the job completes. */
  readonly output: Output | undefined
  readonly checkpoint: unknown
  /** The payloads that could not be decoded, and are given as they are stored. Absent if all could be decoded. */
  readonly undecoded?: readonly PayloadName[]
  /** The beginnings of the payloads that exist. Given only for `payload: 'preview'`, which leaves the payloads themselves out. */
  readonly preview?: PayloadPreviews
  /** The progress, 0 to 1; undefined if none was reported. */
  readonly progress: number | undefined
  readonly progressNote: string | undefined
  /** The JSON value of the last report of progress; undefined if it had none. */
  readonly progressValue: unknown
  readonly attempt: number
  readonly run: number
  readonly priority: number
  readonly weight: number
  readonly enqueuedAt: Date
  readonly runAt: Date
  /** The `runAt` of its first run; undefined if a retry, a snooze or a caller has not moved it since. */
  readonly originalRunAt: Date | undefined
  readonly startedAt: Date | undefined
  /**
   * The time at which the engine aborts the run, unless a heartbeat extends it. After the abort: the time at which the engine ends
   * the run. Undefined if the job does not run, if nothing limits it, and in lists.
   */
  readonly deadlineAt: Date | undefined
  readonly finishedAt: Date | undefined
  /** The time at which its `ttl` ends; undefined if it has none. */
  readonly expiresAt: Date | undefined
  /** True if the job was cancelled while it ran. */
  readonly cancelRequested: boolean
  /** The reason why the job was cancelled, or is being cancelled, and by whom. Absent if nothing was said. */
  readonly cancellation?: Cancellation
  /** The number of runs that lost their worker under `maxLost`. One more than `maxLost` if the last of them failed the job. */
  readonly lostRuns: number
  readonly tags: readonly string[]
  readonly meta: unknown
  readonly idempotencyKey: string | undefined
  readonly uniqueKey: string | undefined
  /** The job's place in its flow; undefined if it is in none. */
  readonly flow: JobFlow | undefined
  /** The runs of the job; empty in lists. */
  readonly attempts: readonly JobAttempt[]
  /** The last of the runs, in lists with `lastRun: true`. Absent if the job has had none. */
  readonly lastRun?: JobRun
}

/** A job of the given definition: `JobOf<typeof resize>`. */
export type JobOf<Type> = Job<Stored<InputOf<Type>>, OutputOf<Type>>

export function jobOf(view: JobView, codec?: PayloadCodec, reading: Shown = WHOLE): Job {
  return {
    id: formatId(view),
    name: view.name,
    queue: view.queue,
    state: view.state,
    ...payloadsOf(view, codec, reading),
    ...progressOf(view.progress),
    attempt: view.attempt,
    run: view.run,
    ...policyOf(view),
    priority: view.priority,
    weight: view.weight,
    enqueuedAt: new Date(view.enqueuedAt),
    runAt: new Date(view.runAt),
    originalRunAt: dateOf(view.originalRunAt ?? 0),
    startedAt: dateOf(view.startedAt),
    deadlineAt: dateOf(view.deadlineAt ?? 0),
    finishedAt: dateOf(view.finishedAt),
    expiresAt: dateOf(view.expiresAt),
    cancelRequested: view.cancelRequested,
    ...(view.cancellation !== undefined && { cancellation: view.cancellation }),
    lostRuns: view.lostRuns ?? 0,
    tags: view.tags,
    meta: view.meta === null ? {} : shown(view.meta),
    idempotencyKey: view.idempotencyKey ?? undefined,
    uniqueKey: view.uniqueKey ?? undefined,
    ...mapJobTexts((name) => view[name] ?? undefined),
    flow: view.flow === null ? undefined : flowOf(view.flow),
    attempts: view.attempts.map(attemptOf),
    ...(view.lastRun && { lastRun: { ...view.lastRun, startedAt: dateOf(view.lastRun.startedAt), endedAt: dateOf(view.lastRun.endedAt) } }),
  }
}

/** Returns the policy. A field that is not there has its default. */
function policyOf(view: JobView): PolicyView {
  const fields = POLICY_FIELDS.map((field) => [field, view[field] ?? DEFAULT_POLICY[field]])
  return Object.fromEntries(fields) as unknown as PolicyView
}

function flowOf({ first, ref, parents, onParentFailure }: FlowView): JobFlow {
  return { id: formatId(first), ref, parents, onParentFailure }
}

/** Returns the decoded value, or the stored one if it is not JSON: one corrupt job does not hide the others. */
export function shown(stored: JobView['data']): unknown {
  try {
    return decodeData(stored)
  } catch {
    return stored
  }
}

function progressOf(stored: string | null): Pick<Job, 'progress' | 'progressNote' | 'progressValue'> {
  const said = shown(stored)
  const [progress, note, value] = Array.isArray(said) ? (said as [number?, (string | null)?, string?]) : []
  return { progress, progressNote: note ?? undefined, progressValue: value === undefined ? undefined : shown(value) }
}

function attemptOf({ run, attempt, startedAt, endedAt, worker, error, logs }: AttemptView): JobAttempt {
  return {
    run,
    attempt,
    startedAt: dateOf(startedAt),
    endedAt: dateOf(endedAt),
    worker,
    ...(error !== undefined && { error }),
    logs: logs.map(logOf),
  }
}

export function logOf({ at, level, message, fields }: LogLine): JobLog {
  return { at: new Date(at), level, message, ...(fields !== undefined && { fields: fieldsOf(fields) }) }
}

/** Parses the fields of a log line. Fields that were cut to their limit are no longer JSON. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text)
  } catch {
    return { truncated: text }
  }
}

export function dateOf(ms: number): Date | undefined {
  return ms === 0 ? undefined : new Date(ms)
}

interface Stamp {
  /** The number of the event, which only grows; a cursor. */
  readonly seq: number
  readonly at: Date
}

/** An event of a job. */
export interface EngineEvent extends Stamp {
  readonly type: JobEventType
  readonly jobId: string
  readonly queue: string
  readonly name: string
  readonly run: number
  readonly attempt: number
  /** The error's name, for `failed` and `retrying`. For `cancelled`: JobDroppedError if the job was the oldest of a full queue. */
  readonly error?: string
  /**
   * The error's message after `redact`, for `failed` and `retrying`, and the reason for `cancelled`. Only listeners of `on` and
   * `once` get it: `events()` never has it.
   */
  readonly message?: string
  /** The error's code and causes after `redact`, for the same listeners only. */
  readonly code?: string
  readonly cause?: readonly RunCause[]
  /** The fraction, for `progress`: 0 to 1. */
  readonly progress?: number
  /** The time at which the job is due, for `retrying`, `snoozed` and all others that are due later. */
  readonly runAt?: Date
}

/** An event of a queue. */
export interface QueueEvent extends Stamp, QueueEventBody {}

/** An event of a schedule. */
export interface ScheduleEvent extends Stamp {
  readonly type: ScheduleEventType
  readonly schedule: string
  /** The time that the calendar or the interval names, for `fired` and `skipped`. */
  readonly tick?: Date
  /** The id of the job that was created, for `fired` and `triggered`. */
  readonly jobId?: string
  /** The reason, for `skipped`: the job of an earlier tick had not ended, the queue accepts no new jobs, or the tick was too late. */
  readonly reason?: MissReason
}

/** An event of a worker. */
export interface WorkerEvent extends Stamp, WorkerEventBody {}

/** All queues were paused, or were resumed by `resumeAll`. */
export interface EnginePauseEvent extends Stamp, EnginePauseEventBody {}

/** An event of any kind, as its `type` says. */
export type MillraceEvent = EngineEvent | QueueEvent | ScheduleEvent | WorkerEvent | EnginePauseEvent

export function engineEventOf(event: JournalEvent): MillraceEvent {
  const at = new Date(event.at)
  if (isJobEvent(event)) return jobEventOf(event, at)
  if (!('schedule' in event)) return { ...event, at }
  const { job, tick, ...rest } = event
  return { ...rest, at, ...(tick !== undefined && { tick: new Date(tick) }), ...(job !== undefined && { jobId: formatId(job) }) }
}

function jobEventOf(
  { seq, type, queue, name, run, attempt, error, message, code, cause, fraction, runAt, ...id }: JobEvent,
  at: Date,
): EngineEvent {
  return {
    seq,
    type,
    jobId: formatId({ seq: id.jobSeq, node: id.node, enqueuedAt: id.enqueuedAt }),
    queue,
    name,
    at,
    run,
    attempt,
    ...(error !== undefined && { error }),
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause }),
    ...(fraction !== undefined && { progress: fraction }),
    ...(runAt !== undefined && { runAt: new Date(runAt) }),
  }
}
