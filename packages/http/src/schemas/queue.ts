/** Queues: what they are told, and how they stand. */
import { z } from '@hono/zod-openapi'
import { endlessOf, LIMITS, PURGED_STATES, QUEUE_OPTIONS, type QueueOptions } from '@millrace/core'
import { QUEUE_KEYS as QUEUE_KEYS_ROWS, QUEUE as QUEUE_ROWS } from '@millrace/core/answers'
import { BOUNDS } from '../limits.ts'
import { answerOf } from './answer.ts'
import { givenOf, schemasOf } from './kind.ts'
import { DURATION, KEY, NAME, whole } from './plain.ts'

export const QUEUE_PATH = z.strictObject({ name: NAME.openapi({ param: { name: 'name', in: 'path' } }) })

export const QUEUE_BODY = z
  .strictObject(schemasOf(QUEUE_OPTIONS, (kind) => givenOf(kind).nullable()))
  .openapi('QueueOptions', { description: 'Fields that are left out stay as they are; null removes a setting.' })

/** As the engine takes them. */
export function queueOptions({ defaults, ...rest }: QueueOptions): QueueOptions {
  return { ...rest, ...(defaults !== undefined && { defaults: defaults && endlessOf(defaults) }) }
}

export const QUEUE = answerOf(QUEUE_ROWS)

export const KEYS_QUERY = z.strictObject({ limit: whole(1, LIMITS.pageKeys).optional() })

export const QUEUE_KEYS = answerOf(QUEUE_KEYS_ROWS)

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
