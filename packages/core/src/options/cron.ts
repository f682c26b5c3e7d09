/** Cron expressions and time zones as strings: a calendar reads them. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'

export function cronOption(option: string, value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}`)
  if (value.length === 0 || value.length > LIMITS.cronLength)
    throw new OptionRangeError(option, LIMITS.cronLength, `${option} must have 1 to ${LIMITS.cronLength} characters, got ${value.length}`)
  return value
}

/** A name of the time zone database. */
export function zoneOption(option: string, value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}`)
  return value
}
