/** Files by URL. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'

/** A `file:` URL, as `new URL('jobs.db', import.meta.url)` makes it. */
export interface FileUrl {
  readonly protocol: string
  readonly host: string
  readonly pathname: string
}

/** Returns the path of a `file:` URL, and anything else as it is. @throws OptionTypeError for another URL */
export function withoutUrl(option: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('protocol' in value && 'host' in value && 'pathname' in value)) return value
  const { protocol, host, pathname } = value as FileUrl
  if (protocol !== 'file:' || host !== '' || /%2f|%5c|%00/i.test(pathname))
    throw new OptionTypeError(option, `${option} must be a path, or a file: URL of this machine, got ${describe(String(value))}`)
  // `/C:/jobs.db` of Windows.
  return decoded(option, pathname).replace(/^\/(?=[A-Za-z]:)/, '')
}

/** Returns a path, also of a `file:` URL. @throws OptionTypeError */
export function pathOption(option: string, value: unknown): string {
  const path = withoutUrl(option, value)
  if (typeof path !== 'string' || path.length === 0)
    throw new OptionTypeError(option, `${option} must be a path or a file: URL, got ${describe(path)}`)
  return withoutNul(option, path)
}

/** @throws OptionTypeError */
export function withoutNul(option: string, path: string): string {
  const nul = path.indexOf('\0')
  if (nul >= 0) throw new OptionTypeError(option, `${option} has a control character (U+0000) at position ${nul}`)
  return path
}

function decoded(option: string, pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    const what = `${option} must be a path, or a file: URL whose path is UTF-8 with % written as %25`
    throw new OptionTypeError(option, `${what}, got ${describe(pathname)}: use pathToFileURL of node:url to make the URL`)
  }
}
