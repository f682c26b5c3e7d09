/** Decides which addresses count as one client on a network, for limits per address. */

/**
 * Returns the client that an address counts as. An IPv4 address counts as itself, in any notation. An IPv6 address counts by its
 * first 64 bits, because the holder of one address has all 2^64 of its network.
 */
export function neighbourhoodOf(remoteAddress: string): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!address.includes(':')) return address
  const [before = [], after = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  // Groups behind the gap count from the end, and an IPv4 address there counts as two groups.
  const length = 8 - before.length - after.length - (address.includes('.') ? 1 : 0)
  const gap = address.includes('::') ? Array.from({ length }, () => '0') : []
  const network = [...before, ...gap, ...after].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** True if `neighbourhoodOf` returns this for addresses of this machine: 127.0.0.0/8 and ::1. */
export function isLoopbackNeighbourhood(neighbourhood: string): boolean {
  return neighbourhood.startsWith('127.') || neighbourhood === '0:0:0:0::/64'
}
