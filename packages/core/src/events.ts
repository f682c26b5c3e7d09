/** Events, in a total order: the journal keeps them, and listeners get them after the commit. */

import type { JobKey } from './id.ts'
import type { RunCause } from './runError.ts'

const FIRST_JOB_EVENT_TYPES = [
  'enqueued',
  'started',
  'progress',
  'retrying',
  'completed',
  'failed',
  'cancelled',
  'snoozed',
  'stalled',
  'released',
  'updated',
  'promoted',
  'deleted',
] as const

/** Types that are younger than some of the others. */
const LATER_JOB_EVENT_TYPES = ['deduplicated'] as const

/** The journal names a type by its place, here and below: new ones are added at the end. */
export const JOB_EVENT_TYPES = [...FIRST_JOB_EVENT_TYPES, ...LATER_JOB_EVENT_TYPES] as const

const FIRST_SYSTEM_EVENT_TYPES = [
  'queue.configured',
  'queue.paused',
  'queue.resumed',
  'queue.draining',
  'queue.drained',
  'queue.deleted',
  'schedule.upserted',
  'schedule.paused',
  'schedule.resumed',
  'schedule.fired',
  'schedule.triggered',
  'schedule.skipped',
  'schedule.ended',
  'schedule.deleted',
  'worker.attached',
  'worker.draining',
  'worker.left',
  'worker.lost',
  'engine.paused',
  'engine.resumed',
  'worker.disputed',
] as const

const LATER_SYSTEM_EVENT_TYPES = ['queue.empty'] as const

/** Events of queues, schedules, workers and the engine. */
export const SYSTEM_EVENT_TYPES = [...FIRST_SYSTEM_EVENT_TYPES, ...LATER_SYSTEM_EVENT_TYPES] as const

/** The wire names a type by its place here: new ones of either kind are added at the end. */
export const EVENT_TYPES = [
  ...FIRST_JOB_EVENT_TYPES,
  ...FIRST_SYSTEM_EVENT_TYPES,
  ...LATER_JOB_EVENT_TYPES,
  ...LATER_SYSTEM_EVENT_TYPES,
] as const

export type JobEventType = (typeof JOB_EVENT_TYPES)[number]
export type SystemEventType = (typeof SYSTEM_EVENT_TYPES)[number]
export type QueueEventType = Extract<SystemEventType, `queue.${string}`>
export type ScheduleEventType = Extract<SystemEventType, `schedule.${string}`>
export type WorkerEventType = Extract<SystemEventType, `worker.${string}`>
export type EnginePauseEventType = Extract<SystemEventType, `engine.${string}`>
/** The type of an event, such as `completed` or `queue.paused`. */
export type EventType = JobEventType | SystemEventType

interface Stamp {
  /** Only grows; a cursor. */
  readonly seq: number
  readonly at: number
}

/** An event of a job, as it crosses a Port. Times in milliseconds since 1970. */
export interface JobEvent extends Stamp {
  readonly type: JobEventType
  readonly jobSeq: number
  readonly node: number
  readonly enqueuedAt: number
  readonly queue: string
  readonly name: string
  readonly run: number
  readonly attempt: number
  /** The name of an error's class, never its message. */
  readonly error?: string
  /** The error's message, for `failed` and `retrying`; the reason, for `cancelled`. Only subscribers get it: the journal never stores it. */
  readonly message?: string
  /** The same: the error's code and its causes. */
  readonly code?: string
  readonly cause?: readonly RunCause[]
  /** The progress, for `progress`. */
  readonly fraction?: number
  /** When the job runs again, for `retrying` and `snoozed`. */
  readonly runAt?: number
}

export interface QueueEventBody {
  readonly type: QueueEventType
  readonly queue: string
  /** For `paused` and `resumed`: only jobs of that name or with that concurrency key; all jobs if neither is set. */
  readonly name?: string
  readonly key?: string
}

/** Why a tick has come to nothing. */
export const MISS_REASONS = ['overlap', 'draining', 'late'] as const
export type MissReason = (typeof MISS_REASONS)[number]

export interface ScheduleEventBody {
  readonly type: ScheduleEventType
  readonly schedule: string
  /** The tick, for `fired` and `skipped`. */
  readonly tick?: number
  /** The job that was created with the event, for `fired` and `triggered`. */
  readonly job?: JobKey
  /** The reason, for `skipped`. */
  readonly reason?: MissReason
}

export interface WorkerEventBody {
  readonly type: WorkerEventType
  /** Its id. */
  readonly worker: string
  /** The number of its session, which tells apart the workers that have had the id. The session's uuid is a secret of its worker. */
  readonly session: string
  /** For `disputed`: the job name for which other defaults than this worker's are in force. */
  readonly name?: string
}

export interface EnginePauseEventBody {
  readonly type: EnginePauseEventType
}

/** An event that is not about a job. */
export type SystemEventBody = QueueEventBody | ScheduleEventBody | WorkerEventBody | EnginePauseEventBody

/** An event of a queue. */
export interface QueueEvent extends Stamp, QueueEventBody {}
/** An event of a schedule. */
export interface ScheduleEvent extends Stamp, ScheduleEventBody {}
/** An event of a worker. */
export interface WorkerEvent extends Stamp, WorkerEventBody {}
/** Events of the engine as a whole. */
export interface EnginePauseEvent extends Stamp, EnginePauseEventBody {}
export type SystemEvent = QueueEvent | ScheduleEvent | WorkerEvent | EnginePauseEvent
export type JournalEvent = JobEvent | SystemEvent

/** The end of a job, as far as it names the job. */
export type JobEnd = Pick<JobEvent, 'seq' | 'jobSeq' | 'node' | 'enqueuedAt' | 'at'>

/** True if a job has ended with this event. */
export function isEnd(type: EventType): boolean {
  return type === 'completed' || type === 'failed' || type === 'cancelled'
}

export function isJobEvent(event: JournalEvent): event is JobEvent {
  return 'jobSeq' in event
}
