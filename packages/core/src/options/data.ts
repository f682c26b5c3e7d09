/** Values as they are stored: bytes as they are, all else as JSON. The one place that encodes and decodes. */
import { isError } from '../errorKind.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import type { Data } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from './utf8.ts'

/**
 * A value as it is stored: null for undefined, bytes (a Uint8Array, another view or an ArrayBuffer) as they are, all else as JSON text.
 *
 * @throws OptionTypeError, naming `option` and the reason, for what JSON cannot hold: functions, symbols, BigInt, cycles, a Map, a Set, a
 * Promise
 * @throws OptionRangeError for more than `maxBytes` bytes
 */
export function encodeData(option: string, value: unknown, maxBytes: number): Data {
  if (value === undefined) return null
  const data = bytesOf(value) ?? toJson(option, value)
  const wrong = findTooLarge(option, data, maxBytes)
  if (wrong !== undefined) throw wrong
  return data
}

/** Returns the bytes of any object that holds bytes: JSON would make an empty object of it. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  // Another thread may write to it meanwhile.
  if (value instanceof SharedArrayBuffer) return new Uint8Array(value).slice()
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined
}

/** Returns the error of data that has more than `maxBytes` bytes; undefined if it fits. */
export function findTooLarge(option: string, data: Data, maxBytes: number): OptionRangeError | undefined {
  // No UTF-16 unit takes more than three bytes of UTF-8: most texts need no count.
  if (data === null || data.length * (typeof data === 'string' ? 3 : 1) <= maxBytes) return undefined
  const bytes = typeof data !== 'string' || data.length > maxBytes ? data.length : utf8Bytes(data)
  if (bytes <= maxBytes) return undefined
  const message = `${option} has at least ${bytes} bytes, and at most ${maxBytes} are stored: keep large content elsewhere and store its address, or raise maxDataBytes of openEngine`
  return new OptionRangeError(option, maxBytes, message)
}

/** The value that was stored; undefined for null. Throws SyntaxError for a text that is no JSON. */
export function decodeData(data: Data): unknown {
  if (data === null) return undefined
  return typeof data === 'string' ? JSON.parse(data) : data
}

/** `meta` as JSON text of at most 16 KiB. */
export function encodeMeta(value: unknown): string {
  return encodeBounded('meta', value, LIMITS.metaBytes, 'put the rest into data')
}

/** Encodes a value that a run reports as its progress, as JSON text of at most 16 KiB. */
export function encodeProgress(value: unknown): string {
  return encodeBounded('progress', value, LIMITS.progressBytes, 'store the rest with checkpoint')
}

function encodeBounded(option: string, value: unknown, maxBytes: number, remedy: string): string {
  const text = toJson(option, value)
  const bytes = utf8Bytes(text)
  if (bytes <= maxBytes) return text
  throw new OptionRangeError(option, maxBytes, `${option} must have at most ${maxBytes} bytes of JSON, got ${bytes}: ${remedy}`)
}

function toJson(option: string, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    const reason = isError(cause) ? (cause.message.split('\n', 1)[0] as string) : String(cause)
    throw new OptionTypeError(option, `${option} cannot be stored as JSON: ${reason}. ${REMEDY}`)
  }
  if (text === undefined) {
    throw new OptionTypeError(
      option,
      `${option} cannot be stored as JSON: ${typeof value === 'object' ? 'its toJSON returns nothing' : `it is a ${typeof value}`}. ${REMEDY}`,
    )
  }
  if (text === '{}') assertKept(option, value)
  return text
}

/** JSON silently drops the content of a Map, a Set, a Promise or an Error. */
function assertKept(option: string, value: unknown): void {
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (kind === 'Object') return
  const hint = kind === 'Promise' ? 'Await it first' : REMEDY
  throw new OptionTypeError(option, `${option} cannot be stored as JSON: it has the type ${kind}, which JSON drops. ${hint}`)
}

const REMEDY = 'Give plain values (a BigInt as text, a Map or a Set as an array), or a Uint8Array for bytes'
