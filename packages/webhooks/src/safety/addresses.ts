/** Addresses that a webhook must not reach: its own machine and network, and other names for them. */
import { BlockList, isIP } from 'node:net'

const IPV4 = [
  '0.0.0.0/8', // this network; 0 is this machine
  '10.0.0.0/8',
  '100.64.0.0/10', // networks of carriers
  '127.0.0.0/8',
  '168.63.129.16/32', // metadata of one cloud, although the address is public
  '169.254.0.0/16', // link-local: metadata of clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation, like the two further down
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
] as const

/** Only 2000::/3 is in use between networks. IPv4 in IPv6 (`::ffff:a.b.c.d`) is checked as the IPv4 address that it is. */
const IPV6 = [
  '::/3', // loopback, embedded IPv4 (NAT64 too), discard, and unassigned addresses
  '2001::/23', // protocol assignments: Teredo, ORCHID
  '2001:db8::/32', // documentation, like 3fff
  '2002::/16', // 6to4: contains an IPv4 address
  '3fff::/20',
  '4000::/2', // unassigned, like 8000; segment routing
  '8000::/1', // unique local, link-local, site-local, multicast
] as const

/** All blocked ranges, for the docs and the tests. */
export const PRIVATE_RANGES: readonly string[] = [...IPV4, ...IPV6]

const BLOCKED = { 4: listOf(IPV4), 6: listOf(IPV6) }
const IPV4_IN_IPV6 = listOf(['::ffff:0:0/96'])

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network, prefix] = range.split('/') as [string, string]
    list.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}

/** True if the address is private. Anything that is not an address counts as private, because it is not known to be public. */
export function isPrivate(address: string): boolean {
  // `fe80::1%eth0`
  const [bare] = address.split('%', 1) as [string]
  const family = isIP(bare)
  if (family === 0) return true
  if (family === 4) return BLOCKED[4].check(bare, 'ipv4')
  return (IPV4_IN_IPV6.check(bare, 'ipv6') ? BLOCKED[4] : BLOCKED[6]).check(bare, 'ipv6')
}
