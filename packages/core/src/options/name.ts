/** Names of queues, jobs and workers. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'

/** A regular expression for names. URLs have no path with `.` or `..` in it, so these are no names. */
export const NAME_PATTERN = `^(?![.][.]?$)[A-Za-z0-9_.:/-]{1,${LIMITS.nameLength}}$`

const CHARACTERS = /^[A-Za-z0-9_.:/-]+$/
const STRANGE = /[^A-Za-z0-9_.:/-]/u

/** A name of 1 to 128 of the characters `A-Z a-z 0-9 _ . : / -`, except `.` and `..`. */
export function nameOption(option: string, value: unknown): string {
  const name = prefixOption(option, value)
  if (name !== '.' && name !== '..') return name
  throw new OptionTypeError(option, `${option} must not be '${name}', because no URL can have it in its path: choose another name`)
}

/** The beginning of names. */
export function prefixOption(option: string, value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}`)
  if (value.length === 0 || value.length > LIMITS.nameLength) {
    const remedy = value.length === 0 ? 'give it a name' : 'choose a shorter name, or put the rest into data'
    const message = `${option} must have 1 to ${LIMITS.nameLength} characters, got ${value.length}: ${remedy}`
    throw new OptionRangeError(option, LIMITS.nameLength, message)
  }
  if (!CHARACTERS.test(value)) throw new OptionTypeError(option, `${option} ${wrong(value)}; allowed are A-Z a-z 0-9 _ . : / -`)
  return value
}

function wrong(value: string): string {
  const strange = STRANGE.exec(value) as RegExpExecArray
  const code = value.codePointAt(strange.index) as number
  if (code < 32 || (code >= 127 && code < 160)) {
    return `has a control character (U+${code.toString(16).toUpperCase().padStart(4, '0')}) at position ${strange.index}`
  }
  return `has ${JSON.stringify(strange[0])} at position ${strange.index}`
}
