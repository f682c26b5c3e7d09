/** Bytes in JSON are base64. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** The value of each digit by its code. */
const VALUES = new Uint8Array(128)
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value

/**
 * Returns the bytes of a payload that `binary` names: base64 as a string, or `{ base64 }`, as an export writes it.
 *
 * @throws OptionTypeError, naming `option`, for anything else
 */
export function bytesOption(option: string, value: unknown): Uint8Array<ArrayBuffer> {
  const text = typeof value === 'string' ? value : base64Of(value)
  if (text !== undefined && isBase64(text)) return decoded(text)
  const wanted = 'base64, as a string or { "base64": … }, because binary names it'
  throw new OptionTypeError(option, `${option} must be ${wanted}; got ${describe(value)}`)
}

function base64Of(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { base64, ...others } = value as { readonly base64?: unknown }
  return typeof base64 === 'string' && Object.keys(others).length === 0 ? base64 : undefined
}

/**
 * Tests whether the string is base64: the one way to write some bytes (RFC 4648, section 4), with padding and without spare bits. A single
 * class of characters before the end keeps the pattern within its stack, however long the string is.
 */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/.test(text)
}

/** Returns the bytes of a string that is base64. Core knows no Buffer, and `Uint8Array.fromBase64` begins with Node 25. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  const digit = (index: number) => VALUES[text.charCodeAt(index)] as number
  // The bytes that the padding stands for would be beyond the end, where an array of bytes stores nothing.
  for (let from = 0, to = 0; from < text.length; from += 4) {
    const held = (digit(from) << 18) | (digit(from + 1) << 12) | (digit(from + 2) << 6) | digit(from + 3)
    bytes[to++] = held >> 16
    bytes[to++] = held >> 8
    bytes[to++] = held
  }
  return bytes
}
