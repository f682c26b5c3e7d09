/** Whole numbers within bounds. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'

/** A whole number from `min` to `max`. */
export function integerOption(option: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new OptionTypeError(option, `${option} must be a whole number, got ${describe(value)}`)
  if (value < min || value > max) {
    throw new OptionRangeError(option, value < min ? min : max, `${option} must be between ${min} and ${max}, got ${value}`)
  }
  if (!Number.isInteger(value)) throw new OptionTypeError(option, `${option} must be a whole number, got ${value}`)
  return value
}
