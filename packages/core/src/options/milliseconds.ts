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
  /** Whether Infinity is allowed. */
  readonly infinity?: boolean
}

/** Whole milliseconds of a duration; fractions of one are rounded up. */
export function durationOption(
  option: string,
  value: unknown,
  { min = 0, max = LIMITS.durationMs, infinity = false }: DurationBounds = {},
): number {
  const ms = parseDuration(value)
  if (ms === undefined) {
    const hint = typeof value === 'string' && /^\d+$/.test(value) ? ` (a bare number is milliseconds: ${value})` : ''
    throw new OptionTypeError(option, `${option} is a duration: milliseconds, '5m' or { minutes: 5 }, not ${describe(value)}${hint}`)
  }
  if (infinity && ms === Number.POSITIVE_INFINITY) return ms
  if (ms < min) throw new OptionRangeError(option, min, `${option} is at least ${min} ms, not ${ms}`)
  if (ms > max) {
    const remedy = infinity ? '; Infinity stands for no limit' : ''
    throw new OptionRangeError(option, max, `${option} is at most ${formatDuration(max)} (${max} ms), not ${ms}${remedy}`)
  }
  return Math.ceil(ms)
}

/** The last instant that a Date can hold. */
const TIME_MAX_MS = 8_640_000_000_000_000

/** Milliseconds since 1970 of a Date or a number; a time that has passed means at once. */
export function timeOption(option: string, value: unknown): number {
  const ms = value instanceof Date ? value.getTime() : value
  if (typeof ms !== 'number' || Number.isNaN(ms)) {
    const what = value instanceof Date ? 'an invalid Date' : describe(value)
    throw new OptionTypeError(option, `${option} is a Date, or milliseconds since 1970, not ${what}`)
  }
  if (ms < 0 || ms > TIME_MAX_MS) {
    throw new OptionRangeError(
      option,
      ms < 0 ? 0 : TIME_MAX_MS,
      `${option} is from 1970 to the last instant of a Date (${TIME_MAX_MS} ms), not ${ms}`,
    )
  }
  return Math.ceil(ms)
}
