/** The schema as a list: every setting by its key, with the variable and the flag that set it. */
import type { z } from 'zod'
import { hasCredentials } from './hidden.ts'
import { SCHEMA } from './schema/schema.ts'
import { type About, aboutOf } from './schema/setting.ts'

/** A node of the schema, by its kind. */
export type Place =
  | { readonly kind: 'section'; readonly shape: Readonly<Record<string, z.ZodType>> }
  /** Sections or settings under names that the user chooses. */
  | { readonly kind: 'named'; readonly value: z.ZodType }
  | { readonly kind: 'setting' }

export interface Key {
  /** The key, such as `http.port` or `queues.<name>.maxLength`. */
  readonly key: string
  readonly text: string
  readonly secret: About['secret']
  /** The default as it is written; undefined if there is none. */
  readonly preset: unknown
  readonly schema: z.ZodType
}

interface Definition {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly valueType?: z.ZodType
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly defaultValue?: unknown
}

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition

export function placeOf(schema: z.ZodType): Place {
  if (aboutOf(schema) !== undefined) return { kind: 'setting' }
  const { type, innerType, shape, valueType } = definitionOf(schema)
  if (type === 'object') return { kind: 'section', shape: shape ?? {} }
  if (type === 'record') return { kind: 'named', value: valueType as z.ZodType }
  return placeOf(innerType as z.ZodType)
}

/** Every setting. Settings under user-chosen names appear once, with `<name>` in the key. */
export const KEYS: readonly Key[] = keysOf(SCHEMA, '')

/** Keys of sections whose entries have user-chosen names, such as `queues`, `schedules` and `exec`. */
export const NAMED: readonly string[] = Object.entries(SCHEMA.shape)
  .filter(([, schema]) => placeOf(schema as z.ZodType).kind === 'named')
  .map(([name]) => name)

function keysOf(schema: z.ZodType, key: string): Key[] {
  const place = placeOf(schema)
  if (place.kind === 'section')
    return Object.entries(place.shape).flatMap(([name, value]) => keysOf(value, key === '' ? name : `${key}.${name}`))
  if (place.kind === 'named') return keysOf(place.value, `${key}.<name>`)
  const { text = '', secret } = aboutOf(schema) ?? {}
  const { type, defaultValue } = definitionOf(schema)
  return [{ key, text, secret, preset: type === 'prefault' ? defaultValue : undefined, schema }]
}

/** Returns the variable of a key: `MILLRACE_HTTP_MAX_BODY_BYTES` for `http.maxBodyBytes`. Dots and capitals begin a word. */
export function variableOf(key: string): string {
  return `MILLRACE_${key
    .replace(/([A-Z])/g, '_$1')
    .replaceAll('.', '_')
    .toUpperCase()}`
}

/** Returns the flag of a key: `--http-max-body-bytes` for `http.maxBodyBytes`. */
export function flagOf(key: string): string {
  return `--${key
    .replace(/([A-Z])/g, '-$1')
    .replaceAll('.', '-')
    .toLowerCase()}`
}

/** Keys that one variable or flag sets: every setting without a name in its key, and each section with names as a whole, in JSON. */
export const SETTABLE: readonly string[] = [...KEYS.map(({ key }) => key).filter((key) => !key.includes('<')), ...NAMED]

/** Returns the setting that a key with names in it belongs to: `queues.<name>.maxLength` for `queues.mail.maxLength`. */
export function keyOf(path: readonly (string | number)[]): Key | undefined {
  const pattern = path.map((part, index) => (index === 1 && NAMED.includes(String(path[0])) ? '<name>' : part)).join('.')
  return BY_KEY.get(pattern)
}

const BY_KEY = new Map(KEYS.map((key) => [key.key, key]))

/**
 * Returns the secret setting that a string for this key sets: `token`, or `exec.report.env.set`. A URL with credentials is one, too.
 * Undefined if it sets none.
 */
export function secretIn(key: string, text: string): string | undefined {
  if (hasCredentials(text)) return key
  if (!NAMED.includes(key)) return isSecret(BY_KEY.get(key)?.secret) ? key : undefined
  const names = Object.entries(objectOf(text))
  for (const inner of KEYS.filter((each) => isSecret(each.secret) && each.key.startsWith(`${key}.<name>`))) {
    const path = [...inner.key.split('.').slice(2), ...(inner.secret === true ? [] : (inner.secret as readonly string[]))]
    for (const [name, value] of names) {
      const found = path.reduce<unknown>((outer, part) => objectOf(outer)[part], value)
      if (found !== undefined) return [key, name, ...path].join('.')
    }
  }
  return undefined
}

/** True if the setting has a secret whatever it is: a URL mostly has none. */
function isSecret(secret: About['secret']): boolean {
  return secret !== undefined && secret !== 'url'
}

/** Returns the value if it is an object, or parses it if it is an object as JSON. Returns an empty object for anything else. */
function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  if (typeof value !== 'string') return {}
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}
