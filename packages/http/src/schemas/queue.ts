/** Queues: what they are told, and how they stand. */
import { z } from '@hono/zod-openapi'
import type { QueueOptions } from '@millrace/core'
import { endlessOf, LIMITS, PURGED_STATES } from '@millrace/core'
import { BOUNDS } from '../limits.ts'
import { QUEUE_DEFAULTS } from './options.ts'
import { DURATION, FOREVER, KEY, NAME, RETRYING, STATE_COUNTS, sized, TOTALS, WHEN, whole } from './plain.ts'

export const QUEUE_PATH = z.strictObject({ name: NAME.openapi({ param: { name: 'name', in: 'path' } }) })

const SLOTS = z.number().int().min(1).max(LIMITS.concurrencyLimit)
const LIMIT = SLOTS.nullable().optional()
const COUNT = z.number().int().min(1).max(1_000_000_000)
const STARTS = z.strictObject({ limit: COUNT, period: DURATION.optional(), burst: COUNT.optional() })
const RATE_LIMIT = STARTS.nullable().optional()
const KEEP = z.union(
  [
    z.strictObject({
      age: z.union([FOREVER, DURATION]).optional(),
      count: z.union([FOREVER, z.number().int().min(0)]).optional(),
    }),
    FOREVER,
    DURATION,
  ],
  { error: "must be a duration, { age, count }, or 'forever'" },
)

export const QUEUE_OPTIONS = z
  .strictObject({
    concurrencyLimit: LIMIT,
    sharedLimit: z
      .strictObject({ name: NAME, limit: SLOTS })
      .nullable()
      .optional()
      .openapi({ description: 'A job starts only while fewer than `limit` jobs run in all queues that name the same limit.' }),
    perKeyLimit: LIMIT,
    rateLimit: RATE_LIMIT,
    perKeyRateLimit: RATE_LIMIT,
    keyTiers: sized(z.strictObject({ perKeyLimit: SLOTS.optional(), perKeyRateLimit: STARTS.optional() }), LIMITS.keyTiers)
      .nullable()
      .optional()
      .openapi({
        description: 'Limits of tiers, by name, in place of the queue’s. A key is in the tier that stands before its first colon.',
      }),
    keyOrder: z.enum(['turns', 'strict']).nullable().optional(),
    maxLength: COUNT.nullable().optional(),
    onFull: z.enum(['reject', 'drop-oldest']).nullable().optional(),
    share: z.number().int().min(1).max(1_000).nullable().optional(),
    fairness: z.enum(['none', 'name']).nullable().optional(),
    deadLetter: NAME.nullable().optional(),
    repeats: z.enum(['silent', 'event']).nullable().optional(),
    retention: z.strictObject({ completed: KEEP.optional(), failed: KEEP.optional(), cancelled: KEEP.optional() }).nullable().optional(),
    defaults: QUEUE_DEFAULTS.nullable().optional(),
  })
  .openapi('QueueOptions', { description: 'Fields that are left out stay as they are; null removes a setting.' })

/** As the engine takes them. */
export function queueOptions({ defaults, ...rest }: z.infer<typeof QUEUE_OPTIONS>): QueueOptions {
  return { ...rest, ...(defaults !== undefined && { defaults: defaults && endlessOf(defaults) }) } as QueueOptions
}

const RATE = z.strictObject({ limit: z.number(), period: z.number(), burst: z.number() })
const KEPT = z.strictObject({ ageMs: z.number(), count: z.number() }).optional()

const BUCKET = z.strictObject({
  tokens: z.number().openapi({ description: 'Tokens that are available. A job takes one to start, unless its `tokens` say more.' }),
  nextAt: WHEN.optional().openapi({ description: 'When there is one more; absent if the bucket is full.' }),
})

export const QUEUE = z
  .strictObject({
    name: z.string(),
    settings: z.strictObject({
      concurrencyLimit: z.number().optional(),
      sharedLimit: z.strictObject({ name: z.string(), limit: z.number() }).optional(),
      perKeyLimit: z.number().optional(),
      rateLimit: RATE.optional(),
      perKeyRateLimit: RATE.optional(),
      keyTiers: z.record(z.string(), z.strictObject({ perKeyLimit: z.number().optional(), perKeyRateLimit: RATE.optional() })).optional(),
      keyOrder: z.enum(['turns', 'strict']).optional(),
      maxLength: z.number().optional(),
      onFull: z.literal('drop-oldest').optional(),
      share: z.number().optional(),
      fairness: z.literal('name').optional(),
      deadLetter: z.string().optional(),
      repeats: z.literal('event').optional(),
      retention: z.strictObject({ completed: KEPT, failed: KEPT, cancelled: KEPT }).optional(),
      draining: z.literal(true).optional(),
      defaults: z.record(z.string(), z.unknown()).optional(),
    }),
    paused: z.boolean(),
    pausedJobs: z.array(z.string()),
    pausedKeys: z.array(z.string()),
    pausedUntil: WHEN.optional().openapi({ description: 'When the pause of the whole queue ends; absent if it has no end.' }),
    pauseEnds: z
      .array(z.strictObject({ job: z.string().optional(), key: z.string().optional(), until: WHEN }))
      .optional()
      .openapi({ description: 'When pauses of names and keys end, the next first.' }),
    pausedLeftOut: z.number().optional().openapi({ description: 'Paused names and keys that are not listed here.' }),
    states: STATE_COUNTS,
    retrying: RETRYING,
    totals: TOTALS,
    oldestWaitingMs: z.number(),
    sharedActive: z.number().optional().openapi({ description: 'Jobs that run in all queues that name its `sharedLimit`.' }),
    rate: BUCKET.optional().openapi({ description: 'The token bucket of its `rateLimit`.' }),
  })
  .openapi('Queue')

export const KEYS_QUERY = z.strictObject({ limit: whole(1, LIMITS.pageKeys).optional() })

export const QUEUE_KEYS = z
  .strictObject({
    keys: z.array(
      z
        .strictObject({
          key: z.string(),
          waiting: z.number().openapi({ description: 'As far as they are counted: fewer than there are if some are only on disk.' }),
          active: z.number(),
          paused: z.boolean(),
          pausedUntil: WHEN.optional().openapi({ description: 'When its pause ends; absent if it has no end.' }),
          rate: BUCKET.optional().openapi({ description: 'The token bucket of the key, in a queue with a `perKeyRateLimit`.' }),
        })
        .openapi('QueueKey'),
    ),
    known: z.number().openapi({ description: 'How many keys are in memory.' }),
    tracked: z.boolean().openapi({ description: 'False if the queue neither limits nor pauses keys: then none is counted.' }),
    partial: z.boolean().optional().openapi({ description: 'There were more keys than a request looks at.' }),
  })
  .openapi('QueueKeys')

export const QUEUE_LIST = z.strictObject({ queues: z.array(QUEUE) }).openapi('QueueList')

export const QUEUES_QUERY = z.strictObject({
  after: NAME.optional().openapi({ description: 'The name of the last queue of the page before.' }),
  limit: whole(1, LIMITS.pageQueues).optional().openapi({ description: 'Without it, all queues.' }),
})

export const RESUME = z
  .strictObject({ job: NAME.optional(), key: KEY.optional() })
  .openapi('ResumeOptions', { description: 'Only jobs of this name, or with this `concurrencyKey`.' })

export const PAUSE = RESUME.extend({
  for: DURATION.optional().openapi({ description: 'The pause ends after this time. Without it, it lasts until the queue is resumed.' }),
}).openapi('PauseOptions', { description: 'Only jobs of this name, or with this `concurrencyKey`.' })

export const DRAIN = z
  .strictObject({
    waitMs: z
      .number()
      .int()
      .min(1)
      .max(BOUNDS.drainWaitMs)
      .optional()
      .openapi({ description: 'How long this request waits for the queue to be empty; default 50. The queue continues to drain.' }),
  })
  .openapi('DrainOptions')

export const DRAINED = z.strictObject({ drained: z.boolean() }).openapi('DrainResult')

export const PURGE = z
  .strictObject({
    states: z.array(z.enum(PURGED_STATES)).min(1).max(PURGED_STATES.length).optional(),
    dryRun: z.boolean().optional().openapi({ description: 'Default true: it only counts.' }),
  })
  .openapi('PurgeOptions')

export const PURGED = z
  .strictObject({
    dryRun: z.boolean(),
    states: z.record(z.string(), z.number()),
    count: z.number(),
    active: z.number().openapi({ description: 'Jobs that run: they are left.' }),
  })
  .openapi('PurgeResult')
