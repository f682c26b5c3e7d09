/** Addresses that a webhook has no business with: one's own machine and network, and what leads there by another name. */
import { BlockList, isIP } from 'node:net'

const IPV4 = [
  '0.0.0.0/8', // this network; 0 is one's own machine
  '10.0.0.0/8',
  '100.64.0.0/10', // carriers' own
  '127.0.0.0/8',
  '168.63.129.16/32', // metadata of one cloud, though the address is a public one
  '169.254.0.0/16', // link-local: clouds' metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation, as the two further down
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
] as const

/** IPv4 in IPv6 (`::ffff:a.b.c.d`) is looked up as the IPv4 address that it is. */
const IPV6 = [
  '::/96', // unspecified, loopback, IPv4-compatible
  '::ffff:0:0:0/96', // IPv4-translated: an IPv4 address inside, as the next two (NAT64)
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64', // discard
  '100:0:0:1::/64', // a prefix for what leads nowhere
  '2001::/23', // protocols' own: Teredo, ORCHID
  '2001:db8::/32', // documentation, as 3fff
  '2002::/16', // 6to4: an IPv4 address inside
  '3fff::/20',
  '5f00::/16', // segment routing
  'fc00::/7', // unique local
  'fe80::/10', // link-local
  'fec0::/10', // site-local
  'ff00::/8', // multicast
] as const

/** For the docs and the tests. */
export const PRIVATE_RANGES: readonly string[] = [...IPV4, ...IPV6]

const BLOCKED = new BlockList()
for (const range of PRIVATE_RANGES) {
  const [network, prefix] = range.split('/') as [string, string]
  BLOCKED.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4')
}

/** Also of what is no address at all: that is not known to be a public one. */
export function isPrivate(address: string): boolean {
  // `fe80::1%eth0`
  const [bare] = address.split('%', 1) as [string]
  const family = isIP(bare)
  return family === 0 || BLOCKED.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}
