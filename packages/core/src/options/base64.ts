/** Bytes in JSON: as base64, where a field `binary` names the payload. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES: ReadonlyMap<number, number> = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]))

/**
 * Returns the bytes of a payload that `binary` names: base64 as a string, or `{ base64 }`, as an export writes it.
 *
 * @throws OptionTypeError, naming `option`, for anything else
 */
export function bytesOption(option: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = typeof value === 'string' ? value : base64Of(value)
  const bytes = text === undefined ? undefined : decoded(text)
  if (bytes !== undefined) return bytes
  const wanted = 'base64, as a string or { "base64": … }, because binary names it'
  throw new OptionTypeError(option, `${option} must be ${wanted}; got ${describe(value)}`)
}

function base64Of(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { base64, ...others } = value as { readonly base64?: unknown }
  return typeof base64 === 'string' && Object.keys(others).length === 0 ? base64 : undefined
}

/** Returns undefined if the string is not the one way to write some bytes (RFC 4648, section 4). */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  let place = 0
  let held = 0
  let bits = 0
  for (let index = 0; index < text.length - padding; index++) {
    const value = VALUES.get(text.charCodeAt(index))
    if (value === undefined) return undefined
    held = (held << 6) | value
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[place++] = held >> bits
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined
}
