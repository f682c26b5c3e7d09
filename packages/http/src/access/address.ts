/** Where a request came from, as far as whoever mounts this says so. */
import { neighbourhoodOf } from '@millrace/core'

interface NodeEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly remoteAddress?: unknown
}

/** `env` as @hono/node-server gives it, or `{ remoteAddress }`; undefined for Unix sockets, and where nobody says. */
export function addressOf(env: unknown): string | undefined {
  const { incoming, remoteAddress } = (env ?? {}) as NodeEnv
  const address = incoming?.socket?.remoteAddress ?? remoteAddress
  return typeof address === 'string' && address !== '' ? neighbourhoodOf(address) : undefined
}
