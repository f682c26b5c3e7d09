import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { isPrivate, PRIVATE_RANGES } from './addresses.ts'

/** As a number of 32 or 128 bits, by other means than those under test. */
function bitsOf(address: string): { readonly value: bigint; readonly width: number } {
  if (!address.includes(':')) return { value: address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n), width: 32 }
  const [head = '', tail] = address.split('::') as [string, string?]
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const given = groups(head)
  const rest = tail === undefined ? [] : groups(tail)
  const all = [...given, ...Array.from({ length: 8 - given.length - rest.length }, () => '0'), ...rest]
  return { value: all.reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n), width: 128 }
}

function inRange(address: string, range: string): boolean {
  const [network, prefix] = range.split('/') as [string, string]
  const [one, other] = [bitsOf(address), bitsOf(network)]
  const shift = BigInt(one.width - Number(prefix))
  return one.width === other.width && one.value >> shift === other.value >> shift
}

const ipv4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => parts.join('.'))
const hex = (groups: readonly number[]) => groups.map((group) => group.toString(16)).join(':')
const ipv6 = fc.array(fc.nat(65_535), { minLength: 8, maxLength: 8 }).map(hex)
/** Near the edges of what is blocked, where mistakes are. */
const edges = fc.constantFrom(...PRIVATE_RANGES).chain((range) => {
  const [network, prefix] = range.split('/') as [string, string]
  const { value, width } = bitsOf(network)
  const size = 1n << BigInt(width - Number(prefix))
  return fc
    .constantFrom(-1n, 0n, 1n, size - 1n, size)
    .map((step) => textOf((value + step + (1n << BigInt(width))) % (1n << BigInt(width)), width))
})

function textOf(value: bigint, width: number): string {
  const size = width === 32 ? 8n : 16n
  const parts = Array.from({ length: width === 32 ? 4 : 8 }, (_, index) =>
    Number((value >> (size * BigInt((width === 32 ? 3 : 7) - index))) % (1n << size)),
  )
  return width === 32 ? parts.join('.') : hex(parts)
}

/** `::ffff:0:0/96` holds IPv4 addresses, and is blocked as they are. */
function expected(address: string): boolean {
  const { value, width } = bitsOf(address)
  if (width === 128 && value >> 32n === 0xffffn) return expected(textOf(value % (1n << 32n), 32))
  return PRIVATE_RANGES.some((range) => inRange(address, range))
}

test('an address is private where one of the ranges has it', () => {
  fc.assert(
    fc.property(fc.oneof(ipv4, ipv6, edges), (address) => {
      expect(isPrivate(address), address).toBe(expected(address))
    }),
    { numRuns: runs(3_000) },
  )
})

test('IPv4 in IPv6 is what it is in IPv4', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        ipv4,
        edges.filter((address) => !address.includes(':')),
      ),
      (address) => isPrivate(`::ffff:${address}`) === isPrivate(address),
    ),
  )
})

describe.each([
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['0.0.0.0', true],
  ['10.1.2.3', true],
  ['100.64.0.1', true],
  ['100.127.255.255', true],
  ['169.254.169.254', true],
  ['168.63.129.16', true],
  ['172.31.255.255', true],
  ['192.168.0.1', true],
  ['255.255.255.255', true],
  ['::', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:7f00:1', true],
  ['::7f00:1', true],
  ['::ffff:168.63.129.16', true],
  ['64:ff9b::7f00:1', true],
  ['::ffff:0:7f00:1', true],
  ['::ffff:0:127.0.0.1', true],
  ['100:0:0:1::1', true],
  ['100:0:0:2::1', true],
  ['200::1', true],
  ['400::1', true],
  ['1fff:ffff::1', true],
  ['4000::1', true],
  ['5f00::1', true],
  ['8000::1', true],
  ['e000::1', true],
  ['2002:7f00:1::', true],
  ['fc00::1', true],
  ['fd12:3456::1', true],
  ['fe80::1', true],
  ['fe80::1%eth0', true],
  ['ff02::1', true],
  ['no address', true],
  ['', true],
  ['1.1.1.1', false],
  ['100.63.255.255', false],
  ['168.63.129.15', false],
  ['168.63.129.17', false],
  ['100.128.0.0', false],
  ['172.32.0.0', false],
  ['8.8.8.8', false],
  ['::ffff:8.8.8.8', false],
  ['2606:4700:4700::1111', false],
  ['2001:200::1', false],
  ['3ffe:ffff::1', false],
  ['3000::1', false],
])('%s', (address, wanted) => {
  test(wanted ? 'is private' : 'is public', () => expect(isPrivate(address)).toBe(wanted))
})
