/** Where a request came from, as far as whoever mounts this says so. */

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

/** IPv4 is itself, whichever way it is written; of IPv6 the first 64 bits count: whoever has one of its addresses has them all. */
function neighbourhoodOf(remote: string): string {
  const address = remote.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!address.includes(':')) return address
  const [before = [], after = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const length = 8 - before.length - after.length - (address.includes('.') ? 1 : 0)
  const gap = address.includes('::') ? Array.from({ length }, () => '0') : []
  const network = [...before, ...gap, ...after].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
