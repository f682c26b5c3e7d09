/** Schemas of the fields that select jobs, from core's table: in a query, and in a body. */
import { z } from '@hono/zod-openapi'
import { checkJsonText, FILTER_FIELDS, FILTER_OPTIONS, type FilterOption, type FilterOptionKind, LIMITS, STATES } from '@millrace/core'
import { KEY, NAME, STATE, TIME } from './plain.ts'

const FINGERPRINT = z.string().regex(/^[0-9a-f]{14}$/, 'must be 14 hexadecimal digits, as /v1/failures gives them')

const BODY: { readonly [Kind in FilterOptionKind]: z.ZodType } = {
  state: z.union([STATE, z.array(STATE).min(1).max(STATES.length)]),
  name: NAME,
  text: KEY,
  boolean: z.boolean(),
  time: TIME,
  fingerprint: FINGERPRINT,
  json: z.unknown(),
  job: z.string().max(128),
}

const QUERY: { readonly [Kind in FilterOptionKind]: z.ZodType } = {
  ...BODY,
  state: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(STATE))
    .openapi({ type: 'string', example: 'failed,cancelled' }),
  boolean: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .openapi({ type: 'boolean' }),
  json: z
    .string()
    .max(LIMITS.containedLength)
    .transform((text, context) => jsonOf(text, context))
    .openapi({ type: 'string', example: '{"customer":7}' }),
}

function jsonOf(text: string, context: z.RefinementCtx): unknown {
  try {
    checkJsonText('it', text)
    return JSON.parse(text)
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON, whose numbers are kept as they are written' })
    return z.NEVER
  }
}

function schemas(kinds: { readonly [Kind in FilterOptionKind]: z.ZodType }): Readonly<Record<FilterOption, z.ZodType>> {
  const described = FILTER_OPTIONS.map((name) => {
    const { kind, says } = FILTER_FIELDS[name]
    return [name, kinds[kind].optional().openapi({ description: `Jobs ${says}.` })]
  })
  return Object.fromEntries(described)
}

export const FILTER_QUERY = schemas(QUERY)
export const FILTER_BODY = schemas(BODY)
