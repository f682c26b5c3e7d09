/** Schemas of endpoints that receive events. */
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES } from '@millrace/core'
import { NAME, WHEN } from './plain.ts'

const ID = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 of the characters A-Z a-z 0-9 _ -')

export const WEBHOOK_PATH = z.strictObject({ id: ID.openapi({ param: { name: 'id', in: 'path' }, example: 'billing' }) })

const TYPES = z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length)
const NAMES = z.array(NAME).min(1)

export const NEW_WEBHOOK = z
  .strictObject({
    url: z.string().max(8_192).openapi({ example: 'https://example.com/hooks' }),
    secret: z.string().max(128).optional().openapi({
      description: 'The name of a secret of the worker that delivers, never the secret itself. No other endpoint may have it.',
    }),
    headers: z.record(z.string(), z.string()).optional().openapi({ description: 'Headers of each delivery. They are not shown again.' }),
    events: TYPES.openapi({ example: ['completed', 'failed'] }),
    queues: NAMES.optional().openapi({ description: 'Only events of these queues and of the jobs in them.' }),
    names: NAMES.optional().openapi({ description: 'Only events of jobs with these names.' }),
  })
  .openapi('NewWebhook')

export const WEBHOOK = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    secret: z.string().optional(),
    events: TYPES,
    queues: z.array(z.string()).optional(),
    names: z.array(z.string()).optional(),
    enabled: z.boolean(),
    createdAt: WHEN,
    cursor: z.number().openapi({ description: 'The last event that was posted to it, or that was not for it.' }),
    failingSince: WHEN.optional(),
    disabledReason: z.enum(['gone', 'failing', 'invalid']).optional(),
  })
  .openapi('Webhook')

export const WEBHOOK_LIST = z.strictObject({ webhooks: z.array(WEBHOOK) })

export const WEBHOOK_TEST = z.strictObject({ jobId: z.string() }).openapi('WebhookTest')

export const ENABLE = z.strictObject({
  replay: z.boolean().optional().openapi({ description: 'From where it was disabled, as far as that is kept; default from now on.' }),
})
