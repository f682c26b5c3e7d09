import { VirtualClock } from '@millrace/testkit'
import { expect, test } from 'vitest'
import type { End } from '../link.ts'
import { Gate, type Pass } from './gate.ts'

const LIMITS = { maxConnections: 10, maxConnectionsPerAddress: 3, maxUnauthenticated: 2 }

function start(limits: Partial<typeof LIMITS> = {}) {
  const crowdedOut: End[] = []
  const clock = new VirtualClock()
  const gate = new Gate({ ...LIMITS, ...limits }, clock)
  const enter = (address?: string): Pass => {
    const pass = gate.enter(address, (end) => crowdedOut.push(end))
    if ('code' in pass) throw new Error(pass.message)
    return pass
  }
  return { clock, gate, enter, crowdedOut }
}

test('so many before their greeting', () => {
  const { gate, enter } = start()
  const first = enter()
  enter()
  expect(gate.enter(undefined, () => {})).toMatchObject({ code: 'BUSY', message: expect.stringContaining('maxUnauthenticated') })
  first.greeted()
  first.greeted()
  enter()
  expect(gate.enter(undefined, () => {})).toMatchObject({ code: 'BUSY' })
})

test('before their greeting, those of one address make room for another, and keep what else they have', () => {
  const { gate, enter, crowdedOut } = start()
  const first = enter('a')
  enter('a')
  enter('b').greeted()
  expect(crowdedOut).toMatchObject([{ code: 'BUSY', retryAfterMs: 500, message: expect.stringContaining('maxUnauthenticated') }])
  // It is counted until it has gone.
  expect(gate.connections).toBe(3)
  first.leave()
  expect(gate.connections).toBe(2)
  enter('b')
  expect(gate.enter('b', () => {})).toMatchObject({ code: 'BUSY' })
})

test('one that leaves before its greeting makes room, once', () => {
  const { gate, enter } = start()
  const first = enter()
  enter()
  first.leave()
  first.leave()
  enter()
  expect(gate.enter(undefined, () => {})).toMatchObject({ code: 'BUSY' })
  expect(gate.connections).toBe(2)
})

test('so many in all', () => {
  const { gate, enter } = start()
  const passes = Array.from({ length: 10 }, () => {
    const pass = enter()
    pass.greeted()
    return pass
  })
  expect(gate.enter(undefined, () => {})).toMatchObject({
    code: 'BUSY',
    retryAfterMs: 500,
    message: expect.stringContaining('maxConnections'),
  })
  passes[0]?.leave()
  expect(gate.enter(undefined, () => {})).not.toHaveProperty('code')
})

test('so many of one address, and others are none of its business', () => {
  const { gate, enter } = start()
  const passes = Array.from({ length: 3 }, () => {
    const pass = enter('a')
    pass.greeted()
    return pass
  })
  expect(gate.enter('a', () => {})).toMatchObject({ code: 'BUSY', message: expect.stringContaining('maxConnectionsPerAddress') })
  enter('b').greeted()
  passes[0]?.leave()
  expect(gate.enter('a', () => {})).not.toHaveProperty('code')
})

test('an address that has sent too many wrong tokens still enters: its good ones pass', async () => {
  const { clock, enter } = start()
  const fail = (address?: string) => {
    const pass = enter(address)
    const wrong = pass.failed()
    pass.leave()
    return wrong && [wrong.kind, wrong.blockedMs]
  }
  for (let times = 0; times < 4; times++) expect(fail('a')).toEqual(['counted', 0])
  expect(fail('a')).toEqual(['limit', 30_000])
  await clock.advance(1)
  expect(fail('a')).toEqual(['beyond', 29_999])
  expect(fail('b')).toEqual(['counted', 0])
  expect(fail()).toBeUndefined()
  const good = enter('a')
  expect(good.address).toBe('a')
  good.greeted()
})
