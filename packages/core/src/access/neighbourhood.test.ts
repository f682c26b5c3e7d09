import { expect, test } from 'vitest'
import { isLoopbackNeighbourhood, neighbourhoodOf } from './neighbourhood.ts'

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['::FFFF:10.0.0.7', '10.0.0.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
  ['::2:3:4:5:6', '0:0:0:2::/64'],
  ['2001:0DB8:0:0002::1', '2001:db8:0:2::/64'],
  ['64:ff9b::10.0.0.7', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s is counted as %s', (address, counted) => {
  expect(neighbourhoodOf(address)).toBe(counted)
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['10.127.0.1', false],
  ['2001:db8::1', false],
  ['fe80::1', false],
])('%s is of this machine: %s', (address, loopback) => {
  expect(isLoopbackNeighbourhood(neighbourhoodOf(address))).toBe(loopback)
})
