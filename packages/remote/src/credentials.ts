/** Tokens, certificates and keys as options: the text itself, never a path; and never told in a message. */
import { describe, OptionRangeError, OptionTypeError } from '@millrace/core'
import { BOUNDS } from './limits.ts'

/** A text of 16 to 512 characters. */
export function tokenOption(option: string, value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} is a text, not ${typeof value}`)
  if (value.length < BOUNDS.tokenMin || value.length > BOUNDS.tokenMax) {
    throw new OptionRangeError(
      option,
      value.length < BOUNDS.tokenMin ? BOUNDS.tokenMin : BOUNDS.tokenMax,
      `${option} has ${BOUNDS.tokenMin} to ${BOUNDS.tokenMax} characters, not ${value.length}: make one of 32 random bytes as base64url`,
    )
  }
  return value
}

export function pemOption(option: string, value: unknown): string | Uint8Array {
  const text = value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1') : value
  if (typeof text !== 'string' || !text.includes('-----BEGIN ')) {
    // Never the value: it may be a key.
    const what = typeof text === 'string' ? 'a text without one' : describe(value)
    throw new OptionTypeError(
      option,
      `${option} is PEM, as text or bytes ('-----BEGIN ...'), not ${what}: read the file and give what is in it`,
    )
  }
  return value as string | Uint8Array
}
