/** Tests the list of the keys with the most jobs, and what is left of a rate. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { World } from '../../testing/world.ts'
import { rateNow } from '../records/bucket.ts'
import type { Queue } from '../records/lane.ts'
import { heaviest } from './heaviest.ts'
import { mostParked, topKeys } from './topKeys.ts'

test('the heaviest items are those that a sort finds, and equal ones keep their order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 5 })), fc.integer({ min: 1, max: 6 }), (weights, limit) => {
      const items = weights.map((weight, index) => ({ weight, index }))
      const sorted = items.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)
      expect(heaviest(items, limit, ({ weight }) => weight)).toEqual(sorted.slice(0, limit))
    }),
    { numRuns: runs(200) },
  )
})

function queueOf(world: World): Queue {
  return world.tables.queues.get('default') as Queue
}

test('a key counts its jobs of all names: in line, parked and running', () => {
  const world = new World()
  world.configure('default', { perKeyLimit: 2 })
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  for (const name of ['a', 'b', 'a', 'b', 'a', 'a']) world.enqueue(name, { concurrencyKey: 'k' })
  world.enqueue('b', { concurrencyKey: 'other' })
  world.enqueue('a', { concurrencyKey: 'later', delay: 1_000 })
  expect(topKeys(queueOf(world), 9, world.tables.dispatchable.pauseEnds, world.now).keys).toEqual([
    { key: 'k', waiting: 5, active: 1, paused: false },
    { key: 'other', waiting: 1, active: 0, paused: false },
  ])
  expect(mostParked(queueOf(world), 9).map(({ key, lane, parked }) => [key.text, lane.name, parked])).toEqual([
    ['k', 'a', 2],
    ['k', 'b', 1],
  ])
})

test('the list of top keys looks at a bounded number of keys, those known longest, and reports that it is partial', () => {
  const world = new World()
  world.configure('default', { perKeyLimit: 1 })
  for (const concurrencyKey of ['a', 'b', 'c', 'c']) world.enqueue('a', { concurrencyKey })
  const keysOf = (looked: number) => {
    const { keys, ...rest } = topKeys(queueOf(world), 9, world.tables.dispatchable.pauseEnds, world.now, looked)
    return { keys: keys.map(({ key }) => key), ...rest }
  }
  expect(keysOf(3)).toEqual({ keys: ['c', 'a', 'b'], known: 3, tracked: true })
  expect(keysOf(2)).toEqual({ keys: ['a', 'b'], known: 3, tracked: true, partial: true })
})

test('a queue without limits of keys counts no key', () => {
  const world = new World()
  world.enqueue('a', { concurrencyKey: 'k' })
  expect(topKeys(queueOf(world), 9, world.tables.dispatchable.pauseEnds, world.now)).toEqual({ keys: [], known: 0, tracked: false })
})

test('a rate shows its remaining tokens, and when the next token comes', () => {
  const rate = { limit: 2, period: 1_000, burst: 3 }
  const at = (fullMono: number) => rateNow(rate, fullMono, { wall: 10_000, mono: 100 })
  expect(at(0)).toEqual({ tokens: 3, nextAt: 0 })
  expect(at(100)).toEqual({ tokens: 3, nextAt: 0 })
  expect(at(600)).toEqual({ tokens: 2, nextAt: 10_500 })
  expect(at(1_100)).toEqual({ tokens: 1, nextAt: 10_500 })
  expect(at(1_600)).toEqual({ tokens: 0, nextAt: 10_500 })
  expect(at(1_350)).toEqual({ tokens: 0, nextAt: 10_250 })
})

test('a token that comes after the last instant of a Date is shown at that instant', () => {
  const perYear = { limit: 1, period: 365 * 86_400_000, burst: 1 }
  const { nextAt } = rateNow(perYear, 1_000_000_000 * perYear.period, { wall: 10_000, mono: 100 })
  expect(new Date(nextAt).toISOString()).toBe('+275760-09-13T00:00:00.000Z')
})
