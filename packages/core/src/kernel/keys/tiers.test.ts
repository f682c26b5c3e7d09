/** Tests limits by the tier of a key, which count before those of the queue. */

import { expect, test } from 'vitest'
import type { RunKey } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import { ACTIVE } from '../../lifecycle.ts'
import type { Command } from '../../operations.ts'
import { keyLimitsOf, type QueueChanges } from '../../queueSettings.ts'
import { attaching, enqueueing, type Granted, World } from '../../testing/world.ts'

const rate = (limit: number) => ({ limit, period: 1_000, burst: limit })
const configure = (changes: QueueChanges): Command => ({ op: 'configure', queue: 'default', changes })
const worker = attaching('s', ['a'], { minConcurrency: 50, maxConcurrency: 50 })
const jobs = (...keys: readonly string[]) => enqueueing(...keys.map((concurrencyKey) => ({ name: 'a', concurrencyKey })))

function keysOf(world: World, grants: readonly Granted[]): (string | undefined)[] {
  return grants.map(({ seq }) => world.store.rows.get(seq)?.extras?.concurrencyKey)
}

function runningOf(world: World): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state, extras } of world.store.rows.values())
    if (state === ACTIVE) counts[`${extras?.concurrencyKey}`] = (counts[`${extras?.concurrencyKey}`] ?? 0) + 1
  return counts
}

const MANY = ['gold:a', 'gold:b', 'trial:c', 'plain', 'silver:d', ':e'].flatMap((key) => Array.from({ length: 5 }, () => key))

test('a key runs as many jobs as its tier allows, or as many as the queue allows if it is in no tier', () => {
  const world = new World()
  world.run(configure({ perKeyLimit: 2, keyTiers: { gold: { perKeyLimit: 3 }, trial: { perKeyLimit: 1 } } }), jobs(...MANY), worker)
  expect(runningOf(world)).toEqual({ 'gold:a': 3, 'gold:b': 3, 'trial:c': 1, plain: 2, 'silver:d': 2, ':e': 2 })
  world.reload('s')
  const { grants } = world.run(worker)
  expect(keysOf(world, grants).filter((key) => key === 'gold:a')).toHaveLength(3)
  expect(runningOf(world)).toEqual({ 'gold:a': 3, 'gold:b': 3, 'trial:c': 1, plain: 2, 'silver:d': 2, ':e': 2 })
})

test('a queue without a limit of its own limits only keys in tiers', () => {
  const world = new World()
  world.run(configure({ keyTiers: { trial: { perKeyLimit: 1 } } }), jobs(...MANY), worker)
  expect(runningOf(world)).toEqual({ 'gold:a': 5, 'gold:b': 5, 'trial:c': 1, plain: 5, 'silver:d': 5, ':e': 5 })
})

test('waiting jobs start when the limit of their tier is raised, and the limit of the queue counts when the tier is removed', () => {
  const world = new World()
  world.run(
    configure({ perKeyLimit: 4, keyTiers: { trial: { perKeyLimit: 1 } } }),
    jobs(...Array.from({ length: 6 }, () => 'trial:c')),
    worker,
  )
  expect(runningOf(world)).toEqual({ 'trial:c': 1 })
  expect(world.run(configure({ keyTiers: { trial: { perKeyLimit: 2 } } })).grants).toHaveLength(1)
  expect(world.run(configure({ keyTiers: null })).grants).toHaveLength(2)
  world.run(configure({ perKeyLimit: 5 }))
  expect(runningOf(world)).toEqual({ 'trial:c': 5 })
})

test('the end of a job gives its place to the next job of the same key', () => {
  const world = new World()
  world.run(configure({ keyTiers: { trial: { perKeyLimit: 1 } } }), jobs('trial:c', 'trial:c', 'trial:d'), worker)
  const running = [...world.store.rows.values()].find(({ state, extras }) => state === ACTIVE && extras?.concurrencyKey === 'trial:c')
  expect(keysOf(world, world.complete(running as RunKey).grants)).toEqual(['trial:c'])
})

test('a key starts jobs as often as the rate of its tier allows, also after a restart and a change', () => {
  const world = new World()
  world.run(configure({ perKeyRateLimit: rate(1), keyTiers: { gold: { perKeyRateLimit: rate(3) } } }), jobs(...MANY), worker)
  expect(runningOf(world)).toEqual({ 'gold:a': 3, 'gold:b': 3, 'trial:c': 1, plain: 1, 'silver:d': 1, ':e': 1 })
  world.reload('s')
  expect(world.run(worker).grants).toEqual([])
  expect(world.after(333).grants).toEqual([])
  expect(keysOf(world, world.after(1).grants)).toEqual(['gold:a', 'gold:b'])
  // Two tokens of three are missing, and there is one from now on: the next comes when that one does.
  world.run(configure({ keyTiers: null }))
  expect(world.after(998).grants.length).toBeGreaterThan(0)
  expect(keysOf(world, world.after(2).grants)).toContain('gold:a')
})

test('a limit of the tier counts beside the rate of the queue, and a rate of the tier beside the limit of the queue', () => {
  expect(keyLimitsOf({ perKeyLimit: 2, perKeyRateLimit: rate(1), keyTiers: { gold: { perKeyLimit: 9 } } }, 'gold:x')).toEqual({
    perKeyLimit: 9,
    perKeyRateLimit: rate(1),
  })
  expect(keyLimitsOf({ perKeyLimit: 2, keyTiers: { gold: { perKeyRateLimit: rate(1) } } }, 'gold:x')).toEqual({
    perKeyLimit: 2,
    perKeyRateLimit: rate(1),
  })
  // The name of a tier is nothing that objects have by themselves.
  for (const key of ['toString:x', 'hasOwnProperty:x', 'gold', 'goldx:', '', ':', ':gold:x'])
    expect(keyLimitsOf({ perKeyLimit: 2, keyTiers: { gold: { perKeyLimit: 9 } } }, key).perKeyLimit, key).toBe(2)
})

test('a tier with room for two jobs of a key is refused beside a strict order, whichever comes first', () => {
  const world = new World()
  world.run(configure({ keyOrder: 'strict', keyTiers: { gold: { perKeyLimit: 1 } } }))
  expect(world.run(configure({ keyTiers: { gold: { perKeyLimit: 2 } } })).replies[0]).toBeInstanceOf(Refused)
  const other = new World()
  other.run(configure({ keyTiers: { gold: { perKeyLimit: 2 } } }))
  expect(other.run(configure({ keyOrder: 'strict' })).replies[0]).toBeInstanceOf(Refused)
})
