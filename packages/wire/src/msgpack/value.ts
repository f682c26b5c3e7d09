/** Values of plain types out: what replies are made of where nobody is in a hurry. */
import { BOUNDS } from './reader.ts'
import type { Writer } from './writer.ts'

/**
 * Writes a value as others may read it. What has no form in a message, or lies deeper than 8, becomes nil, and an undefined
 * property is left out: what is told of an error is no reason to lose the reply.
 */
export function writeValue(out: Writer, value: unknown, depth = 0): void {
  if (typeof value === 'string') out.text(value)
  else if (typeof value === 'number' && !Number.isNaN(value)) out.number(value)
  else if (typeof value === 'boolean') out.bool(value)
  else if (typeof value !== 'object' || value === null) out.nil()
  else if (value instanceof Uint8Array) out.bytes(value)
  else if (depth >= BOUNDS.depth) out.nil()
  else if (Array.isArray(value)) {
    out.array(value.length)
    for (const item of value) writeValue(out, item, depth + 1)
  } else {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    out.map(entries.length)
    for (const [key, item] of entries) {
      out.text(key)
      writeValue(out, item, depth + 1)
    }
  }
}
