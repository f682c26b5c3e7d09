/** The types of the API's answers, for programs that read them: those of the schemas by which the document describes them. */
import type { z } from '@hono/zod-openapi'
import type { FLOW_PAGE } from './schemas/flow.ts'
import type { JOB, JOB_PAGE, MANY_RESULT } from './schemas/job.ts'
import type { EVENT_DATA, FAILURES, HISTORY, STATS, WORKERS } from './schemas/observed.ts'
import type { PURGED, QUEUE, QUEUE_LIST } from './schemas/queue.ts'
import type { SCHEDULE, SCHEDULE_PAGE } from './schemas/schedule.ts'

export type EventAnswer = z.infer<typeof EVENT_DATA>
export type FailuresAnswer = z.infer<typeof FAILURES>
export type FlowAnswer = z.infer<typeof FLOW_PAGE>
export type HistoryAnswer = z.infer<typeof HISTORY>
export type JobAnswer = z.infer<typeof JOB>
export type JobPageAnswer = z.infer<typeof JOB_PAGE>
export type ManyAnswer = z.infer<typeof MANY_RESULT>
export type PurgeAnswer = z.infer<typeof PURGED>
export type QueueAnswer = z.infer<typeof QUEUE>
export type QueueListAnswer = z.infer<typeof QUEUE_LIST>
export type ScheduleAnswer = z.infer<typeof SCHEDULE>
export type SchedulePageAnswer = z.infer<typeof SCHEDULE_PAGE>
export type StatsAnswer = z.infer<typeof STATS>
export type WorkersAnswer = z.infer<typeof WORKERS>
