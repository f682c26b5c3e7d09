/**
 * Connects only to public addresses. The addresses of a name are checked before the connection, and only those are used. The
 * connected address is checked again before a byte of the request is sent (with https, after the handshake). A name that
 * resolves differently the second time gains nothing.
 */
import type { LookupAddress, LookupAllOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import { blocked } from './target.ts'

/** A function like `lookup` of node:dns. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** True if an address must not be connected to. */
export type Refuses = (address: string) => boolean

/** Refuses a name if any of its addresses is private, so that the result does not depend on which one is used. */
export function guardedLookup(lookup: Lookup, refuses: Refuses): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true } as LookupAllOptions, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) return callback(error ?? notFound(hostname), '')
      const wrong = addresses.find(({ address }) => refuses(address))
      if (wrong !== undefined) return callback(blocked(hostname, wrong.address), '')
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
}

/** Closes a connection to a private address. */
export function guardedConnector(connect: buildConnector.connector, refuses: Refuses): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      const { remoteAddress } = socket
      if (!refuses(remoteAddress ?? '')) return callback(null, socket)
      socket.destroy()
      callback(blocked(options.hostname, remoteAddress ?? 'closed by now'), null)
    })
}
