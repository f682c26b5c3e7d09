/** Values of settings as they are shown: without their secrets. */
import type { About } from './schema/setting.ts'

const HIDDEN = '[redacted]'

/** A user, a password or both between the scheme of a URL and its host. A password may have been written with a slash. */
const CREDENTIALS = /(?<=\b\w[\w+.-]*:\/\/)(?:[^\s/?#@"]*:[^\s"]*|[^\s/?#@"]*)(?=@)/g

/** True if a string has a URL with a user or a password. */
export function hasCredentials(text: string): boolean {
  return text.search(CREDENTIALS) !== -1
}

/** Returns the value with `[redacted]` in place of its secret parts. */
export function shown(value: unknown, secret: About['secret']): unknown {
  if (secret === true) return HIDDEN
  if (secret === 'url') return hostOf(value)
  if (secret === undefined) return withoutCredentials(value)
  const [name, ...rest] = secret as [string, ...string[]]
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return withoutCredentials(value)
  const inner = (value as Readonly<Record<string, unknown>>)[name]
  return { ...(withoutCredentials(value) as object), [name]: shown(inner, rest.length === 0 ? true : rest) }
}

function hostOf(value: unknown): unknown {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) return HIDDEN
  const { protocol, username, password, host, pathname, search, hash } = url
  const credentials = username === '' && password === '' ? '' : `${HIDDEN}@`
  const rest = pathname.replace(/^\/$/, '') + search + hash
  return `${protocol}//${credentials}${host}${rest === '' ? '' : `/${HIDDEN}`}`
}

function withoutCredentials(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(CREDENTIALS, HIDDEN)
  if (Array.isArray(value)) return value.map(withoutCredentials)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutCredentials(inner)]))
}
