/** Writes values of plain types: the content of replies that need not be fast. */
import { TooLargeError, UNSAFE_KEYS, withCommas } from '@millrace/core'
import { BOUNDS } from './reader.ts'
import type { Writer } from './writer.ts'

/**
 * Writes a value so that others can read it. A value that has no form in a message, or lies deeper than 8, becomes nil. A property
 * is left out if it is undefined, or if no reader accepts its key: the details of an error are no reason to lose the reply.
 *
 * @throws TooLargeError for an array or a map that is larger than readers accept
 */
export function writeValue(out: Writer, value: unknown, depth = 0): void {
  if (typeof value === 'string') out.text(value)
  else if (typeof value === 'number' && !Number.isNaN(value)) out.number(value)
  else if (typeof value === 'boolean') out.bool(value)
  else if (typeof value !== 'object' || value === null) out.nil()
  else if (value instanceof Uint8Array) out.bytes(value)
  else if (depth >= BOUNDS.depth) out.nil()
  else if (Array.isArray(value)) {
    if (value.length > BOUNDS.items) throw tooMany('an array', BOUNDS.items, value.length)
    out.array(value.length)
    for (const item of value) writeValue(out, item, depth + 1)
  } else {
    const entries = Object.entries(value).filter(([key, item]) => item !== undefined && !UNSAFE_KEYS.has(key))
    if (entries.length > BOUNDS.keys) throw tooMany('a map', BOUNDS.keys, entries.length)
    out.map(entries.length)
    for (const [key, item] of entries) {
      if (key.length > BOUNDS.keyLength)
        throw new TooLargeError(`a key must have at most ${BOUNDS.keyLength} UTF-16 units, got ${key.length}`)
      out.text(key)
      writeValue(out, item, depth + 1)
    }
  }
}

/** Returns the error for a value that no reader would accept: it is refused when it is written. */
export function tooMany(what: string, most: number, count: number): TooLargeError {
  return new TooLargeError(`${what} must have at most ${withCommas(most)} items, got ${withCommas(count)}`)
}
