/** Jobs and events as callers see them: dates are `Date`s, payloads are decoded, ids are texts. */
import {
  type AttemptView,
  decodeData,
  type EnginePauseNews,
  type FlowView,
  formatId,
  isJobEvent,
  type JobEvent,
  type JobEventType,
  type JobView,
  type JournalEvent,
  type LogLevel,
  type MissReason,
  type OnParentFailure,
  type QueueNews,
  type RunCause,
  type RunError,
  type ScheduleEventType,
  type State,
  type WorkerNews,
} from '@millrace/core'
import type { InputOf, OutputOf, Stored } from '@millrace/worker'
import type { Sealer } from './seal.ts'

export interface JobLog {
  readonly at: Date
  readonly level: LogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * A run that goes on, completed or failed, or that logged before it was given back or snoozed (without `error`, and its attempt is the
 * next run's, too). Why a job failed that never ran is one of attempt 0.
 */
export interface JobAttempt {
  readonly run: number
  readonly attempt: number
  readonly startedAt: Date | undefined
  /** Undefined while it goes on. */
  readonly endedAt: Date | undefined
  /** The worker's id. */
  readonly worker: string
  readonly error?: RunError
  readonly logs: readonly JobLog[]
}

type Payload = 'data' | 'output' | 'checkpoint'
export interface JobFlow {
  readonly id: string
  readonly ref: string
  /** How many jobs it waits for. */
  readonly parents: number
  readonly onParentFailure: OnParentFailure
}

export interface Job<Data = unknown, Output = unknown> {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly data: Data
  /** Undefined until the job completes. */
  readonly output: Output | undefined
  readonly checkpoint: unknown
  /** Which of these three could not be decoded, and are here as they are stored. Not there where all could. */
  readonly undecoded?: readonly Payload[]
  /** 0 to 1. */
  readonly progress: number | undefined
  readonly progressNote: string | undefined
  readonly attempt: number
  readonly run: number
  readonly maxAttempts: number
  /** Milliseconds; Infinity for none. */
  readonly maxAge: number
  /** Milliseconds; Infinity for none. */
  readonly timeout: number
  readonly heartbeatTimeout: number
  readonly backoff: JobView['backoff']
  readonly priority: number
  readonly weight: number
  readonly enqueuedAt: Date
  readonly runAt: Date
  readonly startedAt: Date | undefined
  readonly finishedAt: Date | undefined
  /** Of its `ttl`. */
  readonly expiresAt: Date | undefined
  /** A cancel was taken while it ran. */
  readonly cancelRequested: boolean
  readonly tags: readonly string[]
  readonly meta: unknown
  readonly idempotencyKey: string | undefined
  readonly uniqueKey: string | undefined
  readonly concurrencyKey: string | undefined
  /** Where it stands in its flow. */
  readonly flow: JobFlow | undefined
  /** Empty in lists. */
  readonly attempts: readonly JobAttempt[]
}

/** A job of that definition: `JobOf<typeof resize>`. */
export type JobOf<Type> = Job<Stored<InputOf<Type>>, OutputOf<Type>>

export function jobOf(view: JobView, sealer?: Sealer): Job {
  const undecoded: Payload[] = []
  // One job that somebody has broken does not hide the others.
  const opened = (what: Payload): unknown => {
    try {
      return decodeData(sealer === undefined ? view[what] : sealer.open(what, view[what]))
    } catch {
      undecoded.push(what)
      return view[what]
    }
  }
  const [progress, progressNote] = progressOf(view.progress)
  return {
    id: formatId(view),
    name: view.name,
    queue: view.queue,
    state: view.state,
    data: opened('data'),
    output: opened('output'),
    checkpoint: opened('checkpoint'),
    ...(undecoded.length > 0 && { undecoded }),
    progress,
    progressNote,
    attempt: view.attempt,
    run: view.run,
    maxAttempts: view.maxAttempts,
    // An engine of an older version says nothing of it.
    maxAge: view.maxAge ?? Number.POSITIVE_INFINITY,
    timeout: view.timeout,
    heartbeatTimeout: view.heartbeatTimeout,
    backoff: view.backoff,
    priority: view.priority,
    weight: view.weight,
    enqueuedAt: new Date(view.enqueuedAt),
    runAt: new Date(view.runAt),
    startedAt: dateOf(view.startedAt),
    finishedAt: dateOf(view.finishedAt),
    expiresAt: dateOf(view.expiresAt),
    cancelRequested: view.cancelRequested,
    tags: view.tags,
    meta: view.meta === null ? {} : shown(view.meta),
    idempotencyKey: view.idempotencyKey ?? undefined,
    uniqueKey: view.uniqueKey ?? undefined,
    concurrencyKey: view.concurrencyKey ?? undefined,
    flow: view.flow === null ? undefined : flowOf(view.flow),
    attempts: view.attempts.map(attemptOf),
  }
}

function flowOf({ first, ref, parents, onParentFailure }: FlowView): JobFlow {
  return { id: formatId(first), ref, parents, onParentFailure }
}

/** As it is stored, where that is no JSON: one job that somebody has broken does not hide the others. */
export function shown(stored: JobView['data']): unknown {
  try {
    return decodeData(stored)
  } catch {
    return stored
  }
}

function progressOf(stored: string | null): readonly [number?, string?] {
  const progress = shown(stored)
  return Array.isArray(progress) ? (progress as [number, string?]) : []
}

function attemptOf({ run, attempt, startedAt, endedAt, worker, error, logs }: AttemptView): JobAttempt {
  return {
    run,
    attempt,
    startedAt: dateOf(startedAt),
    endedAt: dateOf(endedAt),
    worker,
    ...(error !== undefined && { error }),
    logs: logs.map(({ at, level, message, fields }) => ({
      at: new Date(at),
      level,
      message,
      ...(fields !== undefined && { fields: fieldsOf(fields) }),
    })),
  }
}

/** Fields that were cut to their limit are no JSON any more. */
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
  /** Only grows; a cursor. */
  readonly seq: number
  readonly at: Date
}

/** What happened to a job. */
export interface EngineEvent extends Stamp {
  readonly type: JobEventType
  readonly jobId: string
  readonly queue: string
  readonly name: string
  readonly run: number
  readonly attempt: number
  /** Of `failed` and `retrying`: the error's name. Of `cancelled`: JobDroppedError, where the queue was full and the job its oldest. */
  readonly error?: string
  /** Of `failed` and `retrying`, for listeners of `on` and `once`: the error's message, as `redact` left it. `events()` never has it. */
  readonly message?: string
  /** The same, for listeners alone: the error's code and its causes, as `redact` left them. */
  readonly code?: string
  readonly cause?: readonly RunCause[]
  /** Of `progress`. */
  readonly progress?: number
  /** Of `retrying`, `snoozed` and whatever is due later. */
  readonly runAt?: Date
}

/** What happened to a queue. */
export interface QueueEvent extends Stamp, QueueNews {}

/** What happened to a schedule. */
export interface ScheduleEvent extends Stamp {
  readonly type: ScheduleEventType
  readonly schedule: string
  /** Of `fired` and `skipped`: the time that the calendar or the interval names. */
  readonly tick?: Date
  /** Of `fired` and `triggered`: the job that came. */
  readonly jobId?: string
  /** Of `skipped`: the job of an earlier tick had not ended, the queue takes nothing new, or it was too late for it. */
  readonly reason?: MissReason
}

/** What happened to a worker. */
export interface WorkerEvent extends Stamp, WorkerNews {}

/** All queues were paused, or that was taken back. */
export interface EnginePauseEvent extends Stamp, EnginePauseNews {}

/** What happened. Its `type` tells of what. */
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
