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

function decoded(option: string, pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    const what = `${option} must be a path, or a file: URL whose path is UTF-8 with % written as %25`
    throw new OptionTypeError(option, `${what}, got ${describe(pathname)}: use pathToFileURL of node:url to make the URL`)
  }
}
