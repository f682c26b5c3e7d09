/** The filters `data` and `meta`: JSON that the stored JSON contains. */
import { isError, isErrorOf } from '../errorKind.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'

/**
 * Returns JSON to look for as text of at most 1,024 characters. An empty object or array is refused, because it would mean every job with
 * data, and so is everything that `JSON.stringify` drops or changes: the rest would mean more jobs than the caller has in mind.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export function containedOption(option: string, value: unknown): string {
  const path = (name: string) => (name === '' ? option : `${option} has a property '${name}' that`)
  let text: string | undefined
  try {
    text = JSON.stringify(value, (name, each: unknown) => {
      const isKept = each === null || ['string', 'boolean'].includes(typeof each) || Number.isFinite(each) || isPlain(each)
      if (!isKept) throw new OptionTypeError(option, `${path(name)} must be a value of JSON, got ${describe(each)}`)
      return each
    })
  } catch (error) {
    if (isErrorOf(error, 'OptionTypeError')) throw error
    const reason = isError(error) ? error.message.split('\n', 1)[0] : String(error)
    throw new OptionTypeError(option, `${option} must be a value of JSON: ${reason}`)
  }
  if (text === '{}' || text === '[]') {
    const message = `${option} must have a property or an item, got ${text}, which every object or array contains: say what to look for`
    throw new OptionTypeError(option, message)
  }
  if (text.length <= LIMITS.containedLength) return text
  const message = `${option} must have at most ${LIMITS.containedLength} characters of JSON, got ${text.length}: look for a part of it`
  throw new OptionRangeError(option, LIMITS.containedLength, message)
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]'
}

/** True if a text is what `containedOption` returns, or as good as that: JSON with something in it. */
export function isContained(text: string): boolean {
  if (text.length > LIMITS.containedLength) return false
  try {
    return containedOption('it', JSON.parse(text)) !== ''
  } catch {
    return false
  }
}
