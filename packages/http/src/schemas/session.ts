/** Schemas of sessions. */
import { z } from '@hono/zod-openapi'
import { SCOPES } from '@millrace/core'
import { BOUNDS } from '../limits.ts'

const { sessionTokenLength: LENGTH } = BOUNDS

export const LOG_IN = z
  .strictObject({
    token: z
      .string()
      .max(LENGTH)
      .regex(/^[!-~]+$/, 'must be a token: ASCII characters without spaces'),
  })
  .openapi('LogIn')

export const SESSION = z
  .strictObject({
    name: z.string().openapi({ description: 'The name of the token.' }),
    scopes: z.array(z.enum(SCOPES)),
    open: z.boolean().openapi({ description: 'True if the API needs no token.' }),
  })
  .openapi('Session')
