/** Finds the address that a request came from, if the server that mounts the API provides it. */
import { neighbourhoodOf } from '@millrace/core'

interface NodeEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly remoteAddress?: unknown
}

/**
 * Returns the address in `env`: `remoteAddress`, else that of the connection, as @hono/node-server gives it. Undefined for Unix sockets, or
 * if there is none.
 */
export function addressOf(env: unknown): string | undefined {
  const { incoming, remoteAddress } = (env ?? {}) as NodeEnv
  const address = remoteAddress ?? incoming?.socket?.remoteAddress
  return typeof address === 'string' && address !== '' ? neighbourhoodOf(address) : undefined
}
