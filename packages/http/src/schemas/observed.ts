/** Schemas of the data that the engine reports about itself. */
import { z } from '@hono/zod-openapi'
import {
  DEFINITION_DETAILS,
  describe,
  EVENT_TYPES,
  FAILURES_ORDERS,
  FAILURES_TRENDS,
  HISTORY_STEPS,
  LIMITS,
  NAME_DETAILS,
} from '@millrace/core'
import {
  ENGINE_EVENT,
  EVENTS_GAP,
  FAILURE,
  HISTORY_POINT,
  JOB_EVENT,
  QUEUE_EVENT,
  QUEUES_HISTORY,
  SCHEDULE_EVENT,
  STATS as STATS_ROWS,
  WORKER,
  WORKER_EVENT,
} from '@millrace/core/answers'
import { answerOf, shapeOf } from './answer.ts'
import { DURATION, NAME, TIME, whole } from './plain.ts'

export const STATS_QUERY = z.strictObject({
  names: z
    .enum(NAME_DETAILS)
    .optional()
    .openapi({ description: 'How much `names` has of each job name: `histograms` (and percentiles; default), `percentiles`, or `none`.' }),
  definitions: z.enum(DEFINITION_DETAILS).optional().openapi({ description: 'Which `definitions` are returned; default `all`.' }),
})

export const STATS = z
  .strictObject({
    ...shapeOf(STATS_ROWS.rows),
    schedules: z.strictObject({ enabled: z.number(), paused: z.number(), failing: z.number(), complete: z.boolean() }).openapi({
      description:
        'Counts of at most 2,000 schedules; `complete` is false if there are more. `failing`: enabled ones whose last job has failed.',
    }),
    version: z.string().optional().openapi({ description: 'The version of the program that serves the API, if it says one.' }),
    uptimeMs: z.number().openapi({ description: 'The time since the API was built.' }),
  })
  .openapi('Stats')

export const WORKERS = z.strictObject({ workers: z.array(answerOf(WORKER)) }).openapi('Workers')

export const WORKER_PATH = z.strictObject({ id: NAME.openapi({ param: { name: 'id', in: 'path' } }) })

export const STOP_WORKER = z
  .strictObject({ timeout: DURATION.nullable().optional().openapi({ description: 'null: as long as it takes.' }) })
  .openapi('StopWorker')

export const HISTORY_QUERY = z.strictObject({
  queue: NAME.optional().openapi({ description: 'Default `default`: one queue, not the sum of all.' }),
  queues: z.literal('*').optional().openapi({ description: 'In place of `queue`: all queues, in columns.' }),
  limit: whole(0, LIMITS.historyQueues)
    .optional()
    .openapi({ description: `Of \`queues\`: the number of queues to return one by one, the busiest; default ${LIMITS.historyQueues}.` }),
  step: z.enum(HISTORY_STEPS).optional(),
  from: TIME.optional(),
  to: TIME.optional(),
})

const POINTS = z.strictObject({ points: z.array(answerOf(HISTORY_POINT)) }).openapi('History')

export const HISTORY = z.union([POINTS, answerOf(QUEUES_HISTORY)])

export const FAILURES_QUERY = z.strictObject({
  queue: NAME.optional(),
  name: NAME.optional(),
  limit: whole(1, LIMITS.pageFailures).optional(),
  order: z
    .enum(FAILURES_ORDERS)
    .optional()
    .openapi({ description: '`last` (the default): the kinds seen last first. `count`: those with the most failed runs first.' }),
  trend: z
    .enum(FAILURES_TRENDS)
    .optional()
    .openapi({ description: '`hour`: with the failed runs of each kind in each of the last 24 hours.' }),
})

export const FAILURES = z.strictObject({ failures: z.array(answerOf(FAILURE)) }).openapi('Failures')

const ANY = EVENT_TYPES.join('|').replaceAll('.', '[.]')
const TYPES = new RegExp(`^(?:${ANY})(?:,(?:${ANY}))*$`)

export const EVENTS_QUERY = z.strictObject({
  after: z
    .union([z.literal('now'), whole(0, Number.MAX_SAFE_INTEGER)], {
      error: (issue) => `must be the id of an event, 0 or more, or 'now', got ${describe(issue.input)}`,
    })
    .optional()
    .openapi({
      description:
        'The `id` of the last event that is known, or `now` for those that come; 0 (default) begins with the oldest that is kept.',
    }),
  types: z
    .string()
    .regex(TYPES, `some of ${EVENT_TYPES.join(',')}`)
    .optional()
    .openapi({ description: 'With commas in between.', example: 'completed,failed' }),
  queue: NAME.optional(),
  name: NAME.optional(),
  jobId: z.string().max(128).optional(),
})

/** The `data` of each event of the stream. */
export const EVENT_DATA = z.union([
  answerOf(JOB_EVENT),
  answerOf(QUEUE_EVENT),
  answerOf(SCHEDULE_EVENT),
  answerOf(WORKER_EVENT),
  answerOf(ENGINE_EVENT),
  answerOf(EVENTS_GAP),
])
