/** HTTP schemas of answers, from the rows of their fields. */
import { z } from '@hono/zod-openapi'
import { FLOW_STATES, STATES } from '@millrace/core'
import type { Answer, AnswerKind, AnswerOf, AnswerRecord, Answers, ValueOn } from '@millrace/core/answers'
import { BACKOFF_SHOWN, schemasOf, shownOf } from './kind.ts'
import { FLOW_STATE, STATE, WHEN } from './plain.ts'

/** The schemas of a record's fields. */
export type Shape<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends { readonly otherwise: unknown }
    ? SchemaOf<Rows[Name]>
    : Rows[Name] extends { readonly zero: string } | { readonly nil: string } | { readonly missing: string }
      ? z.ZodOptional<SchemaOf<Rows[Name]>>
      : SchemaOf<Rows[Name]>
}

type SchemaOf<Row> = z.ZodType<ValueOn<Row, 'http'>>

/** Words with a schema of their own in the document. */
const NAMED = new Map<readonly string[], z.ZodType>([
  [STATES, STATE],
  [FLOW_STATES, FLOW_STATE],
])

/** Each record is one component of the document, however many fields have its kind. */
const COMPONENTS = new Map<Answers, z.ZodType>()

export function shapeOf<const Rows extends Answers>(rows: Rows): Shape<Rows> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, fieldOf(row)])) as Shape<Rows>
}

/** Returns the schema of a record that no other schema extends. */
export function answerOf<const Of extends AnswerRecord>(of: Of): z.ZodType<AnswerOf<Of, 'http'>> {
  return schemaOf(of) as z.ZodType<AnswerOf<Of, 'http'>>
}

function fieldOf(row: Answer): z.ZodType {
  const { max, example, otherwise, zero, nil, missing } = row
  const whole = row.null === undefined ? schemaOf(row.kind) : schemaOf(row.kind).nullable()
  const schema = max !== undefined && (whole instanceof z.ZodString || whole instanceof z.ZodArray) ? whole.max(max) : whole
  const isThere = otherwise !== undefined || (zero ?? nil ?? missing) === undefined
  const description = descriptionOf(row, isThere)
  return (isThere ? schema : schema.optional()).openapi({ description, ...(example !== undefined && { example }) })
}

function descriptionOf(row: Answer, isThere: boolean): string {
  const { kind, says, zero, nil, missing } = row
  const unit = UNITS[kind.type] ?? ''
  const absent = [nil, missing, zero].filter((each) => each !== undefined).join(', and ')
  return `${says}.${unit}${row.null === undefined ? '' : ` null ${row.null}.`}${isThere ? '' : ` Absent ${absent}.`}`
}

const UNITS: { readonly [Type in AnswerKind['type']]?: string } = {
  stamp: ' In milliseconds since 1970.',
  duration: ' In milliseconds.',
  forever: ' In milliseconds.',
  endless: ' In milliseconds; null: no limit.',
}

function schemaOf(kind: AnswerKind): z.ZodType {
  switch (kind.type) {
    case 'string':
      return z.string()
    case 'key':
    case 'id':
      return z.string().openapi({ example: '01990a5e-7f00-7000-8000-000000400001' })
    case 'count':
    case 'number':
    case 'stamp':
    case 'duration':
    case 'forever':
      return z.number()
    case 'endless':
      return z.number().nullable()
    case 'boolean':
      return z.boolean()
    case 'true':
      return z.literal(true)
    case 'time':
      return WHEN
    case 'data':
    case 'json':
    case 'value':
      return z.unknown()
    case 'fields':
      return z.record(z.string(), z.unknown())
    case 'backoff':
      return BACKOFF_SHOWN
    case 'choice':
      return NAMED.get(kind.words) ?? z.enum(kind.words)
    case 'list':
      return z.array(schemaOf(kind.of))
    case 'map':
      return z.record(z.string(), schemaOf(kind.of))
    case 'options':
      return z.strictObject({ ...schemasOf(kind.rows, shownOf), ...shapeOf(kind.more) })
    case 'record':
      return recordOf(kind)
  }
}

function recordOf({ name, rows, says }: AnswerRecord): z.ZodType {
  const known = COMPONENTS.get(rows)
  if (known !== undefined) return known
  const schema = z.strictObject(shapeOf(rows)).openapi(name, says === undefined ? {} : { description: says })
  COMPONENTS.set(rows, schema)
  return schema
}
