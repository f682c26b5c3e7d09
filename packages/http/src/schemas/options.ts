/** The options of an enqueue. Ranges that are not here are the engine's own, and its errors name them. */
import { z } from '@hono/zod-openapi'
import { DEBOUNCE_MODES, type EnqueueOptions, endlessOf, JOB_TEXTS, LIMITS, RUN_OPTIONS, UNIQUE_UNTILS } from '@millrace/core'
import { givenOf, queryOf, schemasOf } from './kind.ts'
import { DURATION, KEY, NAME, QUERY_DURATION, TIME } from './plain.ts'

/** The options that core's table describes, but for the queue, whose name HTTP bounds by itself. */
const { queue: _queue, ...ROWS } = RUN_OPTIONS
const RUN = schemasOf(ROWS, givenOf)

/** The same in a query, without the options that have no form there. */
const QUERY_RUN = schemasOf(ROWS, queryOf)

const COMMON = {
  queue: NAME.optional(),
  ...RUN,
  ...schemasOf(JOB_TEXTS, givenOf),
  tags: z.array(KEY).max(LIMITS.tagsPerJob).optional(),
  meta: z.unknown().optional(),
}

/** The options of a job that is triggered by hand. `meta` is an object, since it is merged over that of the schedule. */
export const TRIGGER = z.strictObject({ meta: z.record(z.string(), COMMON.meta).optional() }).openapi('ScheduleTrigger')

const WHEN_TO_RUN = { delay: DURATION.optional(), runAt: TIME.optional() }

/** The options of a schedule's jobs. */
export const SCHEDULED_OPTIONS = z.strictObject(COMMON).openapi('ScheduledJobOptions')

/** The options of a job in a flow, which has an idempotency key as a whole. */
export const NODE_OPTIONS = z.strictObject({ ...COMMON, ...WHEN_TO_RUN }).openapi('FlowNodeOptions')

/** The options of the jobs of an import, as its query has them. */
export const QUERY_OPTIONS = { ...QUERY_RUN, ...schemasOf(JOB_TEXTS, givenOf), delay: QUERY_DURATION.optional() }

export const IDEMPOTENCY = { idempotencyKey: KEY.optional(), idempotencyTtl: DURATION.optional() }

const UNIQUE = z
  .strictObject({
    key: KEY.optional(),
    by: z
      .union([z.literal('data'), z.array(KEY).min(1).max(LIMITS.uniquePaths)], { error: 'must be "data" or an array of paths' })
      .optional()
      .openapi({ description: 'In place of a key: makes one of the data, or of its fields at these paths.' }),
    onConflict: z.enum(['skip', 'replace', 'reschedule', 'error']).optional(),
    until: z.enum(UNIQUE_UNTILS).optional().openapi({ description: 'When the key is free again. Default end.' }),
  })
  .openapi('UniqueOptions')

export const ENQUEUE_OPTIONS = z
  .strictObject({
    ...COMMON,
    ...WHEN_TO_RUN,
    ...IDEMPOTENCY,
    unique: UNIQUE.optional(),
    debounce: z
      .strictObject({ key: KEY, delay: DURATION, mode: z.enum(DEBOUNCE_MODES).optional(), maxDelay: DURATION.optional() })
      .optional(),
    throttle: z.strictObject({ key: KEY, period: DURATION }).optional(),
  })
  .openapi('EnqueueOptions')

type Read = z.infer<typeof ENQUEUE_OPTIONS>

/** Returns the options as the engine takes them: times as dates, and no limit as Infinity. */
export function enqueueOptions(read: Read | undefined): EnqueueOptions | undefined {
  if (read === undefined) return undefined
  const options = endlessOf(read)
  return (options.runAt === undefined ? options : { ...options, runAt: new Date(options.runAt) }) as EnqueueOptions
}
