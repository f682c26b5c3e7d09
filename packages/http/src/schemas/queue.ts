/** Queues: what they are told, and how they stand. */
import { z } from '@hono/zod-openapi'
import { endlessOf, LIMITS, PURGED_STATES, QUEUE_OPTIONS, type QueueOptions, type QueueSettings } from '@millrace/core'
import { BOUNDS } from '../limits.ts'
import { givenOf, schemasOf, shownOf } from './kind.ts'
import { DURATION, KEY, NAME, RETRYING, STATE_COUNTS, TOTALS, WHEN, whole } from './plain.ts'

export const QUEUE_PATH = z.strictObject({ name: NAME.openapi({ param: { name: 'name', in: 'path' } }) })

export const QUEUE_BODY = z
  .strictObject(schemasOf(QUEUE_OPTIONS, (kind) => givenOf(kind).nullable()))
  .openapi('QueueOptions', { description: 'Fields that are left out stay as they are; null removes a setting.' })

/** As the engine takes them. */
export function queueOptions({ defaults, ...rest }: QueueOptions): QueueOptions {
  return { ...rest, ...(defaults !== undefined && { defaults: defaults && endlessOf(defaults) }) }
}

/** JSON says no limit as null. */
type ShownSettings = Omit<QueueSettings, 'defaults'> & { readonly defaults?: Readonly<Record<string, unknown>> }

const SETTINGS = z.strictObject({
  ...schemasOf(QUEUE_OPTIONS, shownOf),
  draining: z.literal(true).optional(),
}) as unknown as z.ZodType<ShownSettings>

const BUCKET = z.strictObject({
  tokens: z.number().openapi({ description: 'Tokens that are available. A job takes one to start, unless its `tokens` say more.' }),
  nextAt: WHEN.optional().openapi({ description: 'When there is one more; absent if the bucket is full.' }),
})

export const QUEUE = z
  .strictObject({
    name: z.string(),
    settings: SETTINGS,
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
