/** Checks which URLs may be called at all, before their names are resolved. */
import { isIP } from 'node:net'
import { describe, OptionTypeError } from '@millrace/core'
import { SsrfBlockedError } from '../errors.ts'
import { isPrivate } from './addresses.ts'

export interface TargetRules {
  readonly allowPrivate: boolean
  readonly allowHttp: boolean
  readonly ports: ReadonlySet<number> | 'any'
  /** True for allowed hosts. Undefined allows all. */
  readonly allowHosts: ((hostname: string) => boolean) | undefined
}

/** @throws SsrfBlockedError */
export function checkTarget(url: URL, { allowPrivate, allowHttp, ports, allowHosts }: TargetRules): void {
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw new SsrfBlockedError(
      `webhooks go to https only${allowHttp ? ' or http' : ' (the option allowHttp allows http)'}, not to ${url.protocol}//`,
    )
  }
  if (url.username !== '' || url.password !== '')
    throw new SsrfBlockedError('the URL of a webhook has no user name and no password: use a header')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  if (ports !== 'any' && !ports.has(port)) {
    throw new SsrfBlockedError(`webhooks go to the ports ${[...ports].join(', ')} (option ports), not to ${port}`)
  }
  // The URL parser has already turned 2130706433, 0x7f.1, 127.1 and 0 into dotted addresses.
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  if (allowHosts !== undefined && !allowHosts(hostname)) throw new SsrfBlockedError(`${hostname} is not one of allowHosts`)
  if (!allowPrivate && isIP(hostname) !== 0 && isPrivate(hostname)) throw blocked(hostname, hostname)
}

export function blocked(hostname: string, address: string): SsrfBlockedError {
  const what = hostname === address ? address : `${hostname} (${address})`
  return new SsrfBlockedError(`${what} is no public address: the option allowPrivate allows private ones`)
}

/** Returns a host as the URL parser writes it, because it is compared with such hosts. Undefined if no URL can have it. */
export function hostPattern(text: string): string | undefined {
  const [, below = '', host = ''] = /^(\*\.)?([^*/\\?#@\s]+)$/.exec(text) ?? []
  const isIPv6 = isIP(host.replace(/^\[|\]$/g, '')) === 6
  // The parser would drop a port if it is that of https.
  if (!isIPv6 && host.includes(':')) return undefined
  const parsed = URL.parse(`https://${isIPv6 && !host.startsWith('[') ? `[${host}]` : host}/`)
  const hostname = parsed?.hostname.replace(/^\[|\]$|\.$/g, '') ?? ''
  return hostname === '' || (below !== '' && isIP(hostname) !== 0) ? undefined : `${below}${hostname}`
}

/** @param patterns of `hostPattern`: `example.com` is that host, `*.example.com` its subdomains */
export function hostTest(patterns: readonly string[]): (hostname: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.startsWith('*.')))
  const below = patterns.filter((pattern) => pattern.startsWith('*.')).map((pattern) => pattern.slice(1))
  // A trailing dot names the same host.
  return (given) => {
    const hostname = given.replace(/\.$/, '')
    return exact.has(hostname) || below.some((suffix) => hostname.endsWith(suffix))
  }
}

/** Checks patterns of hosts, and returns them as `hostTest` accepts them. @throws OptionTypeError */
export function hostsOption(option: string, hosts: unknown): readonly string[] {
  if (!Array.isArray(hosts)) throw new OptionTypeError(option, `${option} must be an array of host names, got ${describe(hosts)}`)
  return hosts.map((host, index) => {
    const pattern = typeof host === 'string' ? hostPattern(host) : undefined
    if (pattern !== undefined) return pattern
    throw new OptionTypeError(
      `${option}[${index}]`,
      `${option} must have host names without ports (those are the option ports), as 'example.com' or '*.example.com', got ${describe(host)}`,
    )
  })
}
