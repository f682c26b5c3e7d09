/** Durations as options take them, and points in time. */
import { formatDuration, parseDuration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'

export interface DurationBounds {
  /** Smallest value in milliseconds; default 0. */
  readonly min?: number
  /** Largest value in milliseconds; default a hundred years. */
  readonly max?: number
  /** True if Infinity is allowed. */
  readonly infinity?: boolean
  /** True if `'forever'` is allowed: it stands for `max`. */
  readonly forever?: boolean
}

/** No end: for as long as until somebody deletes it. */
export type Forever = 'forever'

export const FOREVER: Forever = 'forever'

/** Whole milliseconds of a duration; fractions of one are rounded up. */
export function durationOption(
  option: string,
  value: unknown,
  { min = 0, max = LIMITS.durationMs, infinity = false, forever = false }: DurationBounds = {},
): number {
  if (forever && value === FOREVER) return max
  const ms = parseDuration(value)
  if (ms === undefined) {
    const hint = typeof value === 'string' && /^\d+$/.test(value) ? ` (a bare number is milliseconds: ${value})` : ''
    const forms = forever ? "milliseconds, '5m', { minutes: 5 } or 'forever'" : "milliseconds, '5m' or { minutes: 5 }"
    throw new OptionTypeError(option, `${option} must be a duration: ${forms}, got ${describe(value)}${hint}`)
  }
  if (infinity && ms === Number.POSITIVE_INFINITY) return ms
  if (ms < min) throw new OptionRangeError(option, min, `${option} must be at least ${min} ms, got ${ms}`)
  if (ms > max) {
    const remedy = infinity ? '; use Infinity for no limit' : forever ? "; use 'forever' for no end" : ''
    throw new OptionRangeError(option, max, `${option} must be at most ${formatDuration(max)} (${max} ms), got ${ms}${remedy}`)
  }
  return Math.ceil(ms)
}

/** A Date, milliseconds since 1970, or an ISO 8601 string with its zone, such as `'2030-01-31T12:00:00Z'`. */
export type Time = Date | number | string

/** Matches ISO 8601; without a zone, nobody knows which clock a time means. */
const ISO = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/** Milliseconds since 1970 of a Time; a time that has passed means at once. */
export function timeOption(option: string, value: unknown): number {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? parseIso(value) : value
  if (typeof ms !== 'number' || Number.isNaN(ms)) {
    const what = value instanceof Date ? 'an invalid Date' : describe(value)
    const zone =
      typeof value === 'string' && ISO.exec(value)?.[2] === undefined && ISO.test(value) ? `: write its zone, as in '${value}Z'` : ''
    const forms = "a Date, milliseconds since 1970, or an ISO 8601 string with its zone ('2030-01-31T12:00:00Z')"
    throw new OptionTypeError(option, `${option} must be ${forms}, got ${what}${zone}`)
  }
  if (ms < 0 || ms > LIMITS.timeMs) {
    throw new OptionRangeError(
      option,
      ms < 0 ? 0 : LIMITS.timeMs,
      `${option} must be between 1970 and the last instant of a Date (${LIMITS.timeMs} ms), got ${ms}`,
    )
  }
  return Math.ceil(ms)
}

/** NaN for what is no instant: without a zone, or of a day that its month does not have. */
function parseIso(text: string): number {
  const [, day, zone] = ISO.exec(text) ?? []
  if (day === undefined || zone === undefined || new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== Number(day)) return Number.NaN
  return Date.parse(text)
}
