/** What a job may be enqueued with. Ranges that are not here are the engine's own, and it names them. */
import { z } from '@hono/zod-openapi'
import { DEBOUNCE_MODES, type EnqueueOptions, LIMITS } from '@millrace/core'
import { DURATION, KEY, NAME, QUERY_DURATION, TIME, whole } from './plain.ts'

const BACKOFF = z
  .strictObject({
    type: z.enum(['exponential', 'linear', 'fixed']),
    delay: DURATION,
    factor: z.number().min(1).max(1_000).optional(),
    maxDelay: DURATION.optional(),
    jitter: z
      .union([z.number().min(0).max(1), z.enum(['equal', 'full'])], { error: 'must be a fraction from 0 to 1, "equal" or "full"' })
      .optional(),
  })
  .openapi('Backoff')

const RUN = {
  priority: z.number().int().min(-LIMITS.priority).max(LIMITS.priority).optional(),
  weight: z.number().int().min(1).max(LIMITS.weight).optional(),
  maxAttempts: z.number().int().min(1).max(LIMITS.maxAttempts).optional(),
  maxAge: DURATION.optional().openapi({ description: 'No retry begins later than so long after the enqueue.' }),
  backoff: BACKOFF.optional(),
  timeout: DURATION.nullable().optional().openapi({ description: 'null: no limit.' }),
  heartbeatTimeout: DURATION.optional(),
  ttl: DURATION.optional().openapi({ description: 'A job that has not started so long after its enqueue fails.' }),
}

/** Of a queue: for what neither a call nor a definition says. */
export const RUN_OPTIONS = z.strictObject(RUN)

const COMMON = {
  queue: NAME.optional(),
  ...RUN,
  concurrencyKey: KEY.optional(),
  tags: z.array(KEY).max(LIMITS.tagsPerJob).optional(),
  meta: z.unknown().optional(),
}

/** Of one job of a schedule, by hand: an object, since it is put over that of the schedule. */
export const TRIGGER = z.strictObject({ meta: z.record(z.string(), COMMON.meta).optional() }).openapi('ScheduleTrigger')

const WHEN_TO_RUN = { delay: DURATION.optional(), runAt: TIME.optional() }

/** Of the jobs of a schedule. */
export const SCHEDULED_OPTIONS = z.strictObject(COMMON).openapi('ScheduledJobOptions')

/** Of a job in a flow: that has a key as a whole. */
export const NODE_OPTIONS = z.strictObject({ ...COMMON, ...WHEN_TO_RUN }).openapi('FlowNodeOptions')

/** Of the jobs of an import, as its query says them. */
export const QUERY_OPTIONS = {
  priority: whole(-LIMITS.priority, LIMITS.priority).optional(),
  weight: whole(1, LIMITS.weight).optional(),
  maxAttempts: whole(1, LIMITS.maxAttempts).optional(),
  maxAge: QUERY_DURATION.optional(),
  timeout: QUERY_DURATION.optional(),
  heartbeatTimeout: QUERY_DURATION.optional(),
  ttl: QUERY_DURATION.optional(),
  delay: QUERY_DURATION.optional(),
  concurrencyKey: KEY.optional(),
}

export const IDEMPOTENCY = { idempotencyKey: KEY.optional(), idempotencyTtl: DURATION.optional() }

export const ENQUEUE_OPTIONS = z
  .strictObject({
    ...COMMON,
    ...WHEN_TO_RUN,
    ...IDEMPOTENCY,
    unique: z.strictObject({ key: KEY, onConflict: z.enum(['skip', 'replace', 'reschedule', 'error']).optional() }).optional(),
    debounce: z
      .strictObject({ key: KEY, delay: DURATION, mode: z.enum(DEBOUNCE_MODES).optional(), maxDelay: DURATION.optional() })
      .optional(),
    throttle: z.strictObject({ key: KEY, period: DURATION }).optional(),
  })
  .openapi('EnqueueOptions')

type Read = z.infer<typeof ENQUEUE_OPTIONS>

/** As the engine takes them: times as dates, and no limit as Infinity. */
export function enqueueOptions(read: Read | undefined): EnqueueOptions | undefined {
  if (read === undefined) return undefined
  if (read.runAt === undefined && read.timeout !== null) return read as unknown as EnqueueOptions
  const { runAt, timeout, ...rest } = read
  return {
    ...rest,
    ...(runAt !== undefined && { runAt: new Date(runAt) }),
    ...(timeout !== undefined && { timeout: timeout ?? Number.POSITIVE_INFINITY }),
  } as EnqueueOptions
}
