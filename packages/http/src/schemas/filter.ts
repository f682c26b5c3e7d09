/** Schemas of the fields that select jobs, from core's table: in a query, and in a body. */
import { z } from '@hono/zod-openapi'
import { FILTER_FIELDS, FILTER_NAMES, type FilterField, type FilterKind } from '@millrace/core'
import { KEY, NAME, STATE, TIME } from './plain.ts'

const FINGERPRINT = z.string().regex(/^[0-9a-f]{14}$/, 'must be 14 hexadecimal digits, as /v1/failures gives them')

const BODY: { readonly [Kind in FilterKind]: z.ZodType } = {
  state: STATE,
  name: NAME,
  text: KEY,
  boolean: z.boolean(),
  time: TIME,
  fingerprint: FINGERPRINT,
}

const QUERY: { readonly [Kind in FilterKind]: z.ZodType } = {
  ...BODY,
  boolean: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .openapi({ type: 'boolean' }),
}

function schemas(kinds: { readonly [Kind in FilterKind]: z.ZodType }): Readonly<Record<FilterField, z.ZodType>> {
  const described = FILTER_NAMES.map((name) => {
    const { kind, says } = FILTER_FIELDS[name]
    return [name, kinds[kind].optional().openapi({ description: `Jobs ${says}.` })]
  })
  return Object.fromEntries(described)
}

export const FILTER_QUERY = schemas(QUERY)
export const FILTER_BODY = schemas(BODY)
