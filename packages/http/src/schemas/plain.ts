/** Names, times and durations, which all other schemas use. */
import { z } from '@hono/zod-openapi'
import { describe, FLOW_STATES, LIMITS, NAME_PATTERN, STATES } from '@millrace/core'

export const NAME = z
  .string()
  .regex(new RegExp(NAME_PATTERN), 'must have 1 to 128 of the characters A-Z a-z 0-9 _ . : / -, and be neither . nor ..')
  .openapi({ example: 'media' })

/** A key or a tag. */
export const KEY = z.string().min(1).max(LIMITS.keyLength)

export const TIME = z.iso
  .datetime({
    offset: true,
    error: (issue) => `must be a time in ISO 8601 with its zone (2026-01-31T12:00:00Z), got ${describe(issue.input)}`,
  })
  .openapi({ example: '2026-01-31T12:00:00.000Z' })

/** A time in an answer. */
export const WHEN = z.iso.datetime()

type Wrong = (issue: { readonly input?: unknown }) => string

const noDuration: Wrong = ({ input }) =>
  `must be a duration: milliseconds, '5m' (ms, s, m, h, d, w) or { minutes: 5 }, got ${describe(input)}`

const noTime: Wrong = ({ input }) =>
  `must be a duration (milliseconds, '5m' with ms, s, m, h, d or w, { minutes: 5 }) or 'forever', got ${describe(input)}`

const durationOf = (text: RegExp, error: Wrong) =>
  z.union(
    [
      z.number().min(0),
      z.string().regex(text, { error }),
      z.strictObject({
        milliseconds: z.number().optional(),
        seconds: z.number().optional(),
        minutes: z.number().optional(),
        hours: z.number().optional(),
        days: z.number().optional(),
        weeks: z.number().optional(),
      }),
    ],
    { error },
  )

/** In place of a duration, where there may be no end. */
export const FOREVER = z.literal('forever')

export const DURATION_OR_FOREVER = durationOf(/^(?:forever|\d+(?:\.\d+)? ?(?:ms|s|m|h|d|w))$/, noTime)

export const DURATION = durationOf(/^\d+(?:\.\d+)? ?(?:ms|s|m|h|d|w)$/, noDuration).openapi('Duration', {
  description: 'Milliseconds, a string such as `5m`, or parts that are added up.',
  example: '5m',
})

export const STATE = z.enum(STATES).openapi('State')

export const FLOW_STATE = z.enum(FLOW_STATES).openapi('FlowState', {
  description: 'It runs while one of its jobs has yet to end. Then it has failed if a job has, or was cancelled if a job was.',
})

export const SAFE_COUNT = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER)

/** A whole number in a query. */
export function whole(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d{1,16}$/, `must be a whole number between ${min} and ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number between ${min} and ${max}`)
    .openapi({ type: 'integer', minimum: min, maximum: max })
}

/** A duration in a query. Digits alone are milliseconds. */
export const QUERY_DURATION = z
  .string()
  .regex(/^\d{1,16}$|^\d{1,16}(?:\.\d{1,16})? ?(?:ms|s|m|h|d|w)$/, "must be a duration: milliseconds or '5m' (ms, s, m, h, d, w)")
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : text))
  .openapi({ type: 'string', description: 'Milliseconds, or a string such as `5m`.', example: '5m' })

export const CURSOR = z.string().max(512).openapi({ description: '`next` of the page before.' })

/**
 * A record with a limit of its keys. Zod checks each value and keeps a fault of each, which costs six times the parsing of the body, so the keys
 * are counted first.
 */
export function sized<Value extends z.ZodType>(value: Value, most: number) {
  const record = z.record(z.string(), value).openapi({ maxProperties: most })
  return z.preprocess((input, { issues }) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input) || Object.keys(input).length <= most) return input
    issues.push({ code: 'too_big', origin: 'object', maximum: most, input })
    return z.NEVER
  }, record)
}
