/** Values of plain types out: what replies are made of where nobody is in a hurry. */
import { TooLargeError } from '@millrace/core'
import { BOUNDS, UNSAFE_KEYS } from './reader.ts'
import type { Writer } from './writer.ts'

/**
 * Writes a value as others may read it. What has no form in a message, or lies deeper than 8, becomes nil, and an undefined
 * property is left out, as is one whose key no reader takes: what is told of an error is no reason to lose the reply.
 *
 * @throws TooLargeError for an array or a map that is more than readers take
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

/** What no reader would take is refused where it is written. */
export function tooMany(what: string, most: number, count: number): TooLargeError {
  return new TooLargeError(`${what} must have at most ${most.toLocaleString('en-US')} items, got ${count.toLocaleString('en-US')}`)
}
