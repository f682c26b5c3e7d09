/** HTTP schemas of core's kinds of values: as a body gives them, as a query does, and as an answer shows them. */
import { z } from '@hono/zod-openapi'
import { type Field, type Kind, LIMITS, type RecordKind, type Row } from '@millrace/core'
import { DURATION, DURATION_OR_FOREVER, FOREVER, NAME, QUERY_DURATION, sized, TIME, WHEN, whole } from './plain.ts'

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

export const BACKOFF_SHOWN = z.strictObject({
  type: z.string(),
  delay: z.number(),
  factor: z.number().optional(),
  maxDelay: z.number().optional(),
  jitter: z.union([z.number(), z.string()]).optional(),
})

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

const KEEP_SHOWN = z.strictObject({ ageMs: z.number(), count: z.number() })

const CRON = z.string().min(1).max(LIMITS.cronLength).openapi({ example: '0 3 * * *' })

const ZONE = z.string().max(128).openapi({ example: 'Europe/Berlin' })

/** The schema of a value as a body gives it. */
export function givenOf(kind: Kind): z.ZodType {
  switch (kind.type) {
    case 'name':
      return NAME
    case 'text':
      return z.string().min(1).max(kind.max)
    case 'integer':
      return z.number().int().min(kind.min).max(kind.max)
    case 'duration':
      if (kind.forever === true) return DURATION_OR_FOREVER
      return kind.endless === undefined ? DURATION : DURATION.nullable()
    case 'choice':
      return z.enum(kind.words)
    case 'boolean':
      return z.boolean()
    case 'time':
      return TIME
    case 'cron':
      return CRON
    case 'zone':
      return ZONE
    case 'backoff':
      return BACKOFF
    case 'keep':
      return KEEP
    case 'record':
      return recordOf(kind, givenOf, ({ required }) => required === true)
    case 'tiers':
      return sized(givenOf(kind.of), LIMITS.keyTiers)
  }
}

/** The same in a query; undefined for what has no form there. */
export function queryOf(kind: Kind): z.ZodType | undefined {
  if (kind.type === 'integer') return whole(kind.min, kind.max)
  if (kind.type !== 'duration') return undefined
  return kind.forever === true ? z.union([FOREVER, QUERY_DURATION]) : QUERY_DURATION
}

/** The schema of a value as an answer shows it: words that stand for its absence are absent. */
export function shownOf(kind: Kind): z.ZodType {
  switch (kind.type) {
    case 'name':
    case 'text':
    case 'cron':
    case 'zone':
      return z.string()
    case 'integer':
      return z.number()
    case 'boolean':
      return z.boolean()
    case 'time':
      return WHEN
    case 'duration':
      return kind.endless === undefined ? z.number() : z.number().nullable()
    case 'choice':
      return z.enum(kind.words.filter((word) => word !== kind.absence))
    case 'backoff':
      return BACKOFF_SHOWN
    case 'keep':
      return KEEP_SHOWN
    case 'record':
      return recordOf(kind, shownOf, ({ required, otherwise }) => required === true || otherwise !== undefined)
    case 'tiers':
      return z.record(z.string(), shownOf(kind.of))
  }
}

function recordOf({ fields }: RecordKind, schemaOf: (kind: Kind) => z.ZodType, isThere: (field: Field) => boolean): z.ZodType {
  const schemas = Object.entries(fields).map(([name, field]) => {
    const schema = isThere(field) ? schemaOf(field.kind) : schemaOf(field.kind).optional()
    return [
      name,
      field.says === undefined ? schema : schema.openapi({ description: descriptionOf({ ...field, says: field.says }) }),
    ] as const
  })
  return z.strictObject(Object.fromEntries(schemas))
}

/** The schemas of a table's rows, without those that have none. Each may be left out. */
export function schemasOf<One extends Row>(
  rows: Readonly<Record<string, One>>,
  schemaOf: (kind: Kind, row: One) => z.ZodType | undefined,
): Readonly<Record<string, z.ZodType>> {
  const schemas: [string, z.ZodType][] = []
  for (const [name, row] of Object.entries(rows)) {
    const schema = schemaOf(row.kind, row)
    if (schema !== undefined) schemas.push([name, schema.optional().openapi({ description: descriptionOf(row) })])
  }
  return Object.fromEntries(schemas)
}

export function descriptionOf({ kind, says, preset }: Row): string {
  const without = preset === undefined ? '' : ` Default ${preset}.`
  return `${says}.${without}${kind.type === 'duration' && kind.endless !== undefined ? ' null: no limit.' : ''}`
}
