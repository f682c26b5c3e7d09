/**
 * The names under which the API may be reached. A page can point its own name at this address after it was loaded (DNS rebinding), and
 * then be of the same origin. Only the name tells.
 */
import { describe, OptionTypeError } from '@millrace/core'
import { HttpError } from '../errors.ts'

/** The options of the API that decide which names count. */
interface Settings {
  readonly authenticate: unknown
  readonly allowedHosts: readonly string[] | 'any' | undefined
}

/** A name in lower case without its port, or one below which every name is meant. */
const NAME = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
/** A host with an optional port, and nothing else that a URL could have. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i
/** An address as the URL parser writes it: a name cannot end in a number, or have brackets. */
const ADDRESS = /^(?:\d+(?:\.\d+){3}|\[.*\])$/

/** @throws OptionTypeError */
export function allowedHostsOption(value: unknown): readonly string[] | 'any' {
  if (value === 'any') return value
  if (!Array.isArray(value))
    throw new OptionTypeError('allowedHosts', `allowedHosts must be an array of names or 'any', got ${describe(value)}`)
  return value.map((host, index) => {
    const name = typeof host === 'string' ? host.toLowerCase() : ''
    if (NAME.test(name)) return name
    const wanted = "a name without a port, as 'jobs.example.com' or '*.example.com'"
    throw new OptionTypeError(`allowedHosts[${index}]`, `allowedHosts[${index}] must be ${wanted}, got ${describe(host)}`)
  })
}

/** Returns the host that a request names, with its port if it has one. */
export function hostOf({ headers, url }: Request): string {
  return headers.get('host') ?? new URL(url).host
}

/**
 * Returns a function that throws for a request to a host that is not allowed. With tokens every host is allowed by default: a page under
 * another name has no cookie of this one. An open API has nothing but the name, so it allows only those that it was given.
 */
export function hostCheckOf({ authenticate, allowedHosts }: Settings): (request: Request) => void {
  const allowed = allowedHosts ?? (authenticate === undefined ? [] : 'any')
  return allowed === 'any' ? () => {} : (request) => refuseHost(request, allowed)
}

/** Refuses a request to a name that is not allowed. An address and this machine's own names always are: nobody can rebind them. */
function refuseHost(request: Request, allowed: readonly string[]): void {
  const host = hostOf(request)
  const name = nameOf(host)
  if (name !== undefined && (isOwn(name) || allowed.some((pattern) => matches(name, pattern)))) return
  const message = `the host ${host.slice(0, 200)} is not allowed here: if the API is served under this name, add it to allowedHosts`
  throw new HttpError('HOST_NOT_ALLOWED', message)
}

/** Returns the name as the URL parser writes it, which is how a browser compares names. */
function nameOf(host: string): string | undefined {
  return HOST.test(host) ? URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') : undefined
}

/** True if a request names an address or `localhost`, as no page under another name can, not even a rebound one. */
export function namesAddress(request: Request): boolean {
  const name = nameOf(hostOf(request))
  return name !== undefined && isOwn(name)
}

function isOwn(name: string): boolean {
  return ADDRESS.test(name) || name === 'localhost' || name.endsWith('.localhost')
}

function matches(name: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern
}
