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

test('five wrong tokens within a minute shut an address out for 30 s', async () => {
  const { clock, gate, enter } = start()
  for (let times = 0; times < 4; times++) {
    const pass = enter('a')
    pass.failed()
    pass.leave()
  }
  enter('a').leave()
  const fifth = enter('a')
  fifth.failed()
  fifth.leave()
  expect(gate.enter('a', () => {})).toMatchObject({ code: 'BUSY', retryAfterMs: 30_000 })
  enter('b').leave()
  await clock.advance(29_999)
  expect(gate.enter('a', () => {})).toMatchObject({ code: 'BUSY', retryAfterMs: 1 })
  await clock.advance(1)
  enter('a').leave()
})

test('failures a minute apart do not add up', async () => {
  const { clock, enter } = start()
  for (let times = 0; times < 10; times++) {
    const pass = enter('a')
    pass.failed()
    pass.leave()
    await clock.advance('30s')
  }
})
