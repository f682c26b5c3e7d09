/** Who counts as one client on a network, for limits that are by address. */

/**
 * An IPv4 address is itself, whichever way it is written. Of IPv6, whoever has one address has the 2^64 of its network: the first 64 bits
 * count.
 */
export function neighbourhoodOf(remoteAddress: string): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!address.includes(':')) return address
  const [before = [], after = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  // What is behind the gap counts from the end, and an IPv4 address there is two groups.
  const length = 8 - before.length - after.length - (address.includes('.') ? 1 : 0)
  const gap = address.includes('::') ? Array.from({ length }, () => '0') : []
  const network = [...before, ...gap, ...after].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** True for what `neighbourhoodOf` answers for addresses of this machine: 127.0.0.0/8 and ::1. */
export function isLoopbackNeighbourhood(neighbourhood: string): boolean {
  return neighbourhood.startsWith('127.') || neighbourhood === '0:0:0:0::/64'
}
