/** The address that a server listens at, as a string: `unix:/run/app.sock`, `pipe:name`, `tcp://127.0.0.1:7411`, `tls://host:7411`. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { describe, OptionRangeError, OptionTypeError } from '@millrace/core'
import { BOUNDS } from './limits.ts'

export type Address =
  /** A Unix socket, or a Windows pipe. */
  { readonly kind: 'unix' | 'pipe'; readonly path: string } | { readonly kind: 'tcp' | 'tls'; readonly host: string; readonly port: number }

/** @throws OptionTypeError, OptionRangeError, which name the option `url` */
export function parseAddress(url: unknown, platform: NodeJS.Platform = process.platform): Address {
  if (typeof url !== 'string') throw new OptionTypeError('url', `url must be a string such as ${EXAMPLES}, got ${describe(url)}`)
  const scheme = /^([a-z]+):/.exec(url)?.[1]
  const rest = url.slice((scheme?.length ?? 0) + 1)
  if (scheme === 'unix') return { kind: 'unix', path: socketPath(rest, platform) }
  if (scheme === 'pipe') return { kind: 'pipe', path: pipePath(rest, platform) }
  if (scheme === 'tcp' || scheme === 'tls') return { kind: scheme, ...hostAndPort(url) }
  throw new OptionTypeError('url', `url must be one of ${EXAMPLES}, got ${describe(url)}`)
}

export function formatAddress(address: Address): string {
  switch (address.kind) {
    case 'unix':
      return `unix:${address.path}`
    case 'pipe':
      return `pipe:${address.path.slice(PIPES.length)}`
    default:
      return `${address.kind}://${isIP(address.host) === 6 ? `[${address.host}]` : address.host}:${address.port}`
  }
}

/** True if only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

const EXAMPLES = "'unix:/run/app.sock', 'pipe:name' (Windows), 'tcp://127.0.0.1:7411' or 'tls://host:7411'"
const PIPES = '\\\\.\\pipe\\'

function socketPath(text: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') {
    throw new OptionTypeError('url', `Node has no Unix sockets on Windows: give 'pipe:name' there, got ${describe(`unix:${text}`)}`)
  }
  if (text.length === 0 || text.includes('\0')) {
    throw new OptionTypeError('url', `url must be the path of a socket, 'unix:/run/app.sock', got ${describe(`unix:${text}`)}`)
  }
  const path = resolve(text)
  const bytes = Buffer.byteLength(path)
  if (bytes > BOUNDS.pathBytes) {
    throw new OptionRangeError(
      'url',
      BOUNDS.pathBytes,
      `the path of a Unix socket has at most ${BOUNDS.pathBytes} bytes, and ${path} has ${bytes}: choose a shorter one, such as in /run or $XDG_RUNTIME_DIR`,
    )
  }
  return path
}

function pipePath(name: string, platform: NodeJS.Platform): string {
  if (platform !== 'win32') {
    throw new OptionTypeError('url', `pipes exist only on Windows: give 'unix:/run/app.sock' here, got ${describe(`pipe:${name}`)}`)
  }
  if (!/^[\w.-]{1,128}$/.test(name)) {
    throw new OptionTypeError('url', `the name of a pipe must have 1 to 128 of the characters A-Z a-z 0-9 _ . -, got ${describe(name)}`)
  }
  return PIPES + name
}

function hostAndPort(text: string): { host: string; port: number } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '' || url.port === '') {
    throw new OptionTypeError('url', `url must have a host and a port, as 'tcp://127.0.0.1:7411', got ${describe(text)}`)
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '' || !/^\/?$/.test(url.pathname)) {
    throw new OptionTypeError('url', `url must have only a host and a port: the token is an option, and there is no path`)
  }
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port) }
}
