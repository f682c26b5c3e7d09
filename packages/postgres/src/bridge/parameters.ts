/**
 * Writes parameters as the protocol has them: texts, of which an array is one, and bytes. The store's thread does it, since a long text goes to
 * the other thread in less time than thousands of values.
 */
import type { Parameter } from './message.ts'
import { escaped } from './nul.ts'
import type { Value } from './statement.ts'

export function parameterOf(value: Value): Parameter {
  if (value === null || value instanceof Uint8Array) return value
  if (typeof value === 'string') return escaped(value)
  return typeof value === 'number' ? String(value) : arrayOf(value)
}

function arrayOf(values: readonly Value[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ','
    text += elementOf(values[index] as Value)
  }
  return `${text}}`
}

function elementOf(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return quoted(escaped(value))
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`
  return typeof value === 'number' ? String(value) : arrayOf(value)
}

const SPECIAL = /["\\]/g

function quoted(text: string): string {
  return `"${text.includes('"') || text.includes('\\') ? text.replace(SPECIAL, '\\$&') : text}"`
}
