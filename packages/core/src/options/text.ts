/** Keys and tags: any text that survives storage as it is. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'

/** A text of 1 to `max` UTF-16 units without lone surrogates, which no UTF-8 file could tell apart. */
export function textOption(option: string, value: unknown, max: number = LIMITS.keyLength): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}`)
  if (value.length === 0 || value.length > max) {
    const remedy = value.length === 0 ? 'leave it out if there is none' : 'shorten it, or use a hash of it'
    const message = `${option} must have 1 to ${max} characters, got ${value.length}: ${remedy}`
    throw new OptionRangeError(option, max, message)
  }
  if (!value.isWellFormed()) throw new OptionTypeError(option, `${option} must be well-formed Unicode, got half of a surrogate pair`)
  return value
}

/** At most 32 tags; equal ones count once. */
export function tagsOption(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new OptionTypeError(option, `${option} must be an array of strings, got ${describe(value)}`)
  const tags = [...new Set(value.map((tag, index) => textOption(`${option}[${index}]`, tag)))]
  if (tags.length > LIMITS.tagsPerJob) {
    throw new OptionRangeError(
      option,
      LIMITS.tagsPerJob,
      `a job must have at most ${LIMITS.tagsPerJob} tags, got ${tags.length}: put the rest into meta`,
    )
  }
  return tags
}
