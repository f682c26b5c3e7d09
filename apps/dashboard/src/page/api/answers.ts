/** The answers of the API by their path. The types are those of the schemas that check and document them. */
import type {
  StatsAnswer as AnsweredStats,
  AuditAnswer,
  FailuresAnswer,
  FlowAnswer,
  FlowListAnswer,
  JobAnswer,
  JobPageAnswer,
  ManyAnswer,
  QueueAnswer,
  QueueKeysAnswer,
  QueueListAnswer,
  ScheduleAnswer,
  SchedulePageAnswer,
  Scope,
  TokenListAnswer,
  WebhookListAnswer,
  WorkersAnswer,
} from '@millrace/http'

export interface Session {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** True if no token is needed. */
  readonly open: boolean
}

export interface Info {
  readonly version?: string
  readonly instance: { readonly name?: string; readonly colour?: string }
  readonly node: number
  readonly startedAt: string
  readonly now: string
  readonly on: Readonly<Record<'webhooks' | 'control' | 'tokens' | 'tokenStore', boolean>>
  /** Jobs that the overview offers to enqueue. */
  readonly samples: readonly Sample[]
}

export interface Sample {
  readonly title: string
  readonly job: string
  readonly data?: unknown
  readonly options: object
}

/** Counts in columns: one number for each step from `from` on. */
export interface Columns {
  readonly enqueued: readonly number[]
  readonly completed: readonly number[]
  readonly failed: readonly number[]
  readonly cancelled: readonly number[]
}

export interface QueuesHistory {
  readonly from: string
  readonly step: 'minute' | 'hour'
  readonly total: Columns
  /** The busiest queues. */
  readonly queues: Readonly<Record<string, Columns>>
}

/** `retrying` counts scheduled jobs that have failed and wait for another attempt. */
export type StatsAnswer = AnsweredStats & { readonly retrying?: number }

export interface Answers {
  readonly '/v1/session': Session
  readonly '/v1/info': Info
  readonly '/v1/stats': StatsAnswer
  readonly '/v1/failures': FailuresAnswer
  readonly '/v1/audit': AuditAnswer
  readonly '/v1/tokens': TokenListAnswer
  readonly '/v1/webhooks': WebhookListAnswer
  readonly '/v1/workers': WorkersAnswer
  readonly '/v1/history': QueuesHistory
  readonly '/v1/queues': QueueListAnswer
  readonly '/v1/jobs': JobPageAnswer
  readonly '/v1/schedules': SchedulePageAnswer
  readonly '/v1/flows': FlowListAnswer
  readonly [job: `/v1/jobs/${string}`]: JobAnswer
  readonly [flow: `/v1/flows/${string}`]: FlowAnswer
  readonly [queue: `/v1/queues/${string}`]: QueueAnswer
  readonly [schedule: `/v1/schedules/${string}`]: ScheduleAnswer
}

export type Path = keyof Answers
/** A time that moves with the clock: the question stays the same one, and its answers begin later each time. */
interface Past {
  readonly agoMs: number
}
export type Query = Readonly<Record<string, string | number | boolean | Past | undefined>>
export type { FailuresAnswer, FlowAnswer, JobAnswer, ManyAnswer, QueueAnswer, QueueKeysAnswer, ScheduleAnswer, Scope, WorkersAnswer }
export type FailingName = StatsAnswer['failing'][number]
export type Failure = FailuresAnswer['failures'][number]
export type FlowSummary = FlowListAnswer['flows'][number]
export type FlowJob = FlowAnswer['jobs'][number]
export type Schedule = SchedulePageAnswer['schedules'][number]
export type Worker = WorkersAnswer['workers'][number]
