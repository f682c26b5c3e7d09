/** Values as they are stored: bytes as they are, all else as JSON. The one place that encodes and decodes. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import type { Data } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from './utf8.ts'

/**
 * A value as it is stored: null for undefined, a Uint8Array as it is, all else as JSON text.
 *
 * @throws OptionTypeError, naming `option` and the reason, for what JSON cannot hold: functions, symbols, BigInt, cycles
 * @throws OptionRangeError for more than `maxBytes` bytes
 */
export function encodeData(option: string, value: unknown, maxBytes: number): Data {
  if (value === undefined) return null
  const data = value instanceof Uint8Array ? value : toJson(option, value)
  const wrong = findTooLarge(option, data, maxBytes)
  if (wrong !== undefined) throw wrong
  return data
}

/** What is wrong with data of more than `maxBytes` bytes; undefined for any other. */
export function findTooLarge(option: string, data: Data, maxBytes: number): OptionRangeError | undefined {
  // No UTF-16 unit takes more than three bytes of UTF-8: most texts need no count.
  if (data === null || data.length * (typeof data === 'string' ? 3 : 1) <= maxBytes) return undefined
  const bytes = typeof data !== 'string' || data.length > maxBytes ? data.length : utf8Bytes(data)
  if (bytes <= maxBytes) return undefined
  const message = `${option} is at least ${bytes} bytes, and at most ${maxBytes} are stored: keep large content elsewhere and store where it is, or raise maxDataBytes of openEngine`
  return new OptionRangeError(option, maxBytes, message)
}

/** The value that was stored; undefined for null. Throws SyntaxError for a text that is no JSON. */
export function decodeData(data: Data): unknown {
  if (data === null) return undefined
  return typeof data === 'string' ? JSON.parse(data) : data
}

/** `meta` as JSON text of at most 16 KiB. */
export function encodeMeta(value: unknown): string {
  const text = toJson('meta', value)
  const bytes = utf8Bytes(text)
  if (bytes > LIMITS.metaBytes) {
    throw new OptionRangeError(
      'meta',
      LIMITS.metaBytes,
      `meta has at most ${LIMITS.metaBytes} bytes of JSON, not ${bytes}: put the rest into data`,
    )
  }
  return text
}

function toJson(option: string, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n', 1)[0] as string) : String(cause)
    throw new OptionTypeError(option, `${option} cannot be stored as JSON: ${reason}. ${REMEDY}`)
  }
  if (text === undefined) {
    throw new OptionTypeError(option, `${option} cannot be stored as JSON: it is a ${typeof value}. ${REMEDY}`)
  }
  return text
}

const REMEDY = 'Give plain values (a BigInt as text), or a Uint8Array for bytes'
