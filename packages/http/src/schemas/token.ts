/** Schemas of tokens and of the audit. */
import { z } from '@hono/zod-openapi'
import { SCOPES } from '@millrace/core'
import { NAME, WHEN, whole } from './plain.ts'

const NAMES = z.array(NAME).min(1)
const ID = z.string().min(1).max(128)

export const TOKEN_PATH = z.strictObject({ id: ID.openapi({ param: { name: 'id', in: 'path' }, description: 'The id, or the name.' }) })

export const NEW_TOKEN = z
  .strictObject({
    name: z.string().max(128).openapi({ description: 'In the audit and the logs; of no other token in use.', example: 'ci' }),
    scopes: z.array(z.enum(SCOPES)).min(1).optional().openapi({ description: 'Default: all of them.' }),
    names: NAMES.optional().openapi({ description: 'With the scope `work`: only these job names.' }),
    queues: NAMES.optional().openapi({ description: 'With the scope `work`: only these queues.' }),
  })
  .openapi('NewToken')

const FACTS = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  names: z.array(z.string()).optional(),
  queues: z.array(z.string()).optional(),
  createdAt: WHEN,
  lastUsedAt: WHEN.optional().openapi({ description: 'To the minute.' }),
  revokedAt: WHEN.optional(),
}

export const TOKEN = z.strictObject(FACTS).openapi('Token')

export const CREATED_TOKEN = z
  .strictObject({ token: z.string().openapi({ description: 'The token itself. No later answer has it.' }), ...FACTS })
  .openapi('CreatedToken')

export const TOKEN_LIST = z.strictObject({ tokens: z.array(TOKEN) }).openapi('TokenList')

export const AUDIT_QUERY = z.strictObject({ limit: whole(1, 1_000).optional().openapi({ description: 'Default 100.' }) })

export const AUDIT_LIST = z
  .strictObject({
    entries: z.array(
      z.strictObject({
        at: WHEN,
        who: z.string(),
        via: z.enum(['http', 'socket']),
        operation: z.string(),
        target: z.record(z.string(), z.unknown()),
        outcome: z.enum(['done', 'refused', 'failed']),
        status: z.number().optional(),
        code: z.string().optional(),
      }),
    ),
  })
  .openapi('AuditList')
