/**
 * Unique keys that are made of a job's data. The key of a value is `sha256:` and the SHA-256 of its canonical JSON (RFC 8785) in
 * hexadecimal. It is the same in every version, process and language.
 */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import type { Data } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { sha256 } from '../sha256.ts'
import { encodeData } from './data.ts'
import { describe } from './describe.ts'
import { checkJsonText } from './jsonText.ts'
import { textOption } from './text.ts'
import { utf8Encoded } from './utf8.ts'

/** The part of the data that makes calls repeats: all of it, or the fields at these paths (`['customer', 'order.id', 'items.0']`). */
export type UniqueBy = 'data' | readonly string[]

/** The number of field names that a message lists, and the length of each. */
const LISTED_MAX = 8
const SHOWN_MAX = 64

/**
 * Returns the unique key of a value: that of a job with this data and `unique: { by: 'data' }`. The key of fields is the key of an object
 * whose properties are their paths: `uniqueKeyOf({ customer: 'c1', 'order.id': 7 })`.
 *
 * @throws OptionTypeError, OptionRangeError for what cannot be data
 */
export function uniqueKeyOf(value: unknown): string {
  return uniqueKeyBy(encodeData('data', value, Number.POSITIVE_INFINITY), 'data')
}

/** @throws OptionTypeError, OptionRangeError */
export function uniqueKeyBy(data: Data, by: unknown): string {
  if (by !== 'data') return keyOf(utf8Encoded(canonical(Object.fromEntries(fieldsOf(data, pathsOption(by))))))
  if (data === null) return keyOf(new Uint8Array())
  return keyOf(typeof data === 'string' ? utf8Encoded(canonical(parsed(data))) : data)
}

function keyOf(bytes: Uint8Array): string {
  return `sha256:${sha256(bytes)}`
}

function pathsOption(by: unknown): readonly string[] {
  if (!Array.isArray(by) || by.length === 0) {
    const one = typeof by === 'string' && by !== '' ? ': put the path of a single field into an array' : ''
    const message = `unique.by must be 'data' or an array of paths as in ['customer', 'order.id'], got ${Array.isArray(by) ? 'an empty array' : describe(by)}${one}`
    throw new OptionTypeError('unique.by', message)
  }
  if (by.length > LIMITS.uniquePaths) {
    const message = `unique.by must have at most ${LIMITS.uniquePaths} paths, got ${by.length}: use 'data', or a key of your own`
    throw new OptionRangeError('unique.by', LIMITS.uniquePaths, message)
  }
  return by.map((path, index) => textOption(`unique.by[${index}]`, path))
}

function fieldsOf(data: Data, paths: readonly string[]): [path: string, value: unknown][] {
  if (typeof data !== 'string') {
    const has = data === null ? 'no data' : 'bytes as its data'
    throw new OptionTypeError('unique.by', `unique.by names the field ${describe(paths[0])}, and the job has ${has}: use 'data'`)
  }
  const value = parsed(data)
  return paths.map((path) => [path, valueAt(value, path)])
}

/** A field that is missing is a mistake: all calls without it would count as one. */
function valueAt(data: unknown, path: string): unknown {
  let value = data
  const names = path.split('.')
  for (const [index, name] of names.entries()) {
    const isField = Array.isArray(value) ? /^(?:0|[1-9]\d*)$/.test(name) : typeof value === 'object' && value !== null
    if (!isField || !Object.hasOwn(value as object, name)) {
      const place = index === 0 ? 'the data' : describe(names.slice(0, index).join('.'))
      const message = `unique.by names the field ${describe(path)}, and ${place} ${contentOf(value)}: correct the path, or set the field to null if it has no value`
      throw new OptionTypeError('unique.by', message)
    }
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Names fields and kinds, and shows no values. */
function contentOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `is ${value === null ? 'null' : `a ${typeof value}`}`
  if (Array.isArray(value)) return `is an array of length ${value.length}`
  const names = Object.keys(value)
  if (names.length === 0) return 'is an empty object'
  const shown = names.slice(0, LISTED_MAX).map((name) => (name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}...` : name))
  return `has the fields ${shown.join(', ')}${names.length > LISTED_MAX ? ' and others' : ''}`
}

function parsed(text: string): unknown {
  checkJsonText('data', text)
  return JSON.parse(text)
}

/** Returns JSON as RFC 8785 says: names in the order of their UTF-16 units, numbers and strings as ECMAScript writes them. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const object = value as Readonly<Record<string, unknown>>
  const fields = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`)
  return `{${fields.join(',')}}`
}
