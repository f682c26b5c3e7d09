/** The types of the API's answers, for programs that read them: those of the schemas by which the document describes them. */
import type { z } from '@hono/zod-openapi'
import type { FLOW_LIST, FLOW_PAGE } from './schemas/flow.ts'
import type { EXPLANATION, JOB, JOB_PAGE, MANY_RESULT } from './schemas/job.ts'
import type { EVENT_DATA, FAILURES, HISTORY, STATS, WORKERS } from './schemas/observed.ts'
import type { PURGED, QUEUE, QUEUE_KEYS, QUEUE_LIST } from './schemas/queue.ts'
import type { SCHEDULE, SCHEDULE_PAGE } from './schemas/schedule.ts'
import type { AUDIT_LIST, CREATED_TOKEN, TOKEN_LIST } from './schemas/token.ts'
import type { WEBHOOK_LIST } from './schemas/webhook.ts'

/** The JSON that answers a request for the audit. */
export type AuditAnswer = z.infer<typeof AUDIT_LIST>
/** The JSON that answers a request for a new token. */
export type CreatedTokenAnswer = z.infer<typeof CREATED_TOKEN>
/** The JSON of one event in a stream, or of a gap. */
export type EventAnswer = z.infer<typeof EVENT_DATA>
/** The JSON that answers the question why a job has not run. */
export type ExplanationAnswer = z.infer<typeof EXPLANATION>
/** The JSON that answers a request for groups of failures. */
export type FailuresAnswer = z.infer<typeof FAILURES>
/** The JSON that answers a request for a page of a flow. */
export type FlowAnswer = z.infer<typeof FLOW_PAGE>
/** The JSON that answers a request for a list of flows. */
export type FlowListAnswer = z.infer<typeof FLOW_LIST>
/** The JSON that answers a request for the history of a queue. */
export type HistoryAnswer = z.infer<typeof HISTORY>
/** The JSON that answers a request for a job. */
export type JobAnswer = z.infer<typeof JOB>
/** The JSON that answers a request for a page of jobs. */
export type JobPageAnswer = z.infer<typeof JOB_PAGE>
/** The JSON that answers a request for an operation on many jobs. */
export type ManyAnswer = z.infer<typeof MANY_RESULT>
/** The JSON that answers a request for a purge. */
export type PurgeAnswer = z.infer<typeof PURGED>
/** The JSON that answers a request for a queue. */
export type QueueAnswer = z.infer<typeof QUEUE>
/** The JSON that answers a request for the keys of a queue. */
export type QueueKeysAnswer = z.infer<typeof QUEUE_KEYS>
/** The JSON that answers a request for a list of queues. */
export type QueueListAnswer = z.infer<typeof QUEUE_LIST>
/** The JSON that answers a request for a schedule. */
export type ScheduleAnswer = z.infer<typeof SCHEDULE>
/** The JSON that answers a request for a page of schedules. */
export type SchedulePageAnswer = z.infer<typeof SCHEDULE_PAGE>
/** The JSON that answers a request for the numbers of the engine. */
export type StatsAnswer = z.infer<typeof STATS>
/** The JSON that answers a request for the tokens. */
export type TokenListAnswer = z.infer<typeof TOKEN_LIST>
/** The JSON that answers a request for the endpoints of webhooks. */
export type WebhookListAnswer = z.infer<typeof WEBHOOK_LIST>
/** The JSON that answers a request for the attached workers. */
export type WorkersAnswer = z.infer<typeof WORKERS>
