/** Tests groups of sessions that serve the same names and queues, and the turns of their queues. */

import { expect, test } from 'vitest'
import { WAITING } from '../../lifecycle.ts'
import { DEFAULT_POLICY } from '../../policy.ts'
import { ConsumerGroup, type Tier } from './consumerGroup.ts'
import { Dispatchable } from './dispatchable.ts'
import { newJob } from './job.ts'
import { type Lane, newLane, newQueue } from './lane.ts'
import type { ReadyLanes } from './readyLanes.ts'

const serving = (names: readonly string[], queues?: readonly string[], order?: 'strict') => ({
  handlers: names.map((name) => ({ name, defaults: {} })),
  ...(queues && { queues }),
  ...(order && { order }),
})
const keyOf = (...served: Parameters<typeof serving>) => ConsumerGroup.keyOf(serving(...served))

test('two sessions that serve the same names and queues have the same group key, in whatever order they name them', () => {
  expect(keyOf(['a', 'b'], undefined)).toBe(keyOf(['b', 'a'], undefined))
  expect(keyOf(['a'], ['x', 'y'])).toBe(keyOf(['a'], ['y', 'x']))
})

test('two sessions that serve different names, queues or orders have different group keys', () => {
  const keys = [
    keyOf(['a'], undefined),
    keyOf(['a'], []),
    keyOf(['a'], ['a']),
    keyOf(['a', 'b'], undefined),
    keyOf(['a,b'], undefined),
    keyOf([], ['a']),
    keyOf(['a'], ['x', 'y']),
    keyOf(['a'], ['x', 'y'], 'strict'),
    keyOf(['a'], ['y', 'x'], 'strict'),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})

test('the group key is computed without changing the order of the names', () => {
  const names = ['b', 'a']
  keyOf(names, undefined)
  expect(names).toEqual(['b', 'a'])
})

test('E2: a group serves its names in every queue, or only in the queues that it names', () => {
  const everywhere = new ConsumerGroup('', serving(['a']))
  expect([everywhere.serves('q', 'a'), everywhere.serves('q', 'b')]).toEqual([true, false])
  const somewhere = new ConsumerGroup('', serving(['a'], ['q']))
  expect([somewhere.serves('q', 'a'), somewhere.serves('r', 'a'), somewhere.serves('q', 'b')]).toEqual([true, false, false])
})

test('a group that names a prefix serves the queues that begin with it, and no others', () => {
  const group = new ConsumerGroup('', serving(['a'], ['mail', 'shop-*']))
  const served = ['mail', 'mail-1', 'shop-', 'shop-1', 'shop', 'ashop-1', '*', 'shop-*'].filter((queue) => group.serves(queue, 'a'))
  expect(served).toEqual(['mail', 'shop-', 'shop-1', 'shop-*'])
  expect(group.serves('shop-1', 'b')).toBe(false)
  expect(new ConsumerGroup('', serving(['a'], ['*'])).serves('any', 'a')).toBe(true)
})

test('a queue in a strict order has the place of the first name or prefix that matches it, and queues of one prefix share a place', () => {
  const group = new ConsumerGroup('', serving(['a'], ['urgent', 'shop-*', 'shop-vip', '*', 'low'], 'strict'))
  const places = ['urgent', 'shop-1', 'shop-vip', 'low', 'any'].map((queue, id) => group.tiers.indexOf(group.tierOf(newQueue(id, queue))))
  expect(places).toEqual([0, 1, 1, 3, 3])
  expect(group.tiers).toHaveLength(5)
})

test('queues take turns: a queue that was served goes to the end', () => {
  const group = new ConsumerGroup('', serving(['a', 'b']))
  const ready = group.tiers[0] as Tier
  const [first, second] = [newQueue(1, 'first'), newQueue(2, 'second')]
  const lanes = [newLane(1, first, 'a'), newLane(2, second, 'a'), newLane(3, second, 'b')] as const
  const make = (lane: Lane) => {
    const at = { priority: 0, weight: 1, runAt: 0, expiresAt: 0 }
    lane.window.insert(newJob({ seq: lane.id, node: 1, enqueuedAt: 0 }, lane, WAITING, at, DEFAULT_POLICY, undefined, ''))
    group.markReady(lane)
  }
  for (const lane of lanes.slice(0, 2)) make(lane)
  expect([...ready.keys()]).toEqual([first, second])
  group.rotate(ready, first, ready.get(first) as ReadyLanes)
  expect([...ready.keys()]).toEqual([second, first])
  make(lanes[2])
  expect([...ready.values()].map((ready) => [...ready.lanes()].length)).toEqual([2, 1])
  expect([...ready.keys()]).toEqual([second, first])
})

test('a suspended queue is not ready, nor are the jobs that come meanwhile, and all are ready again when it is resumed', () => {
  const group = new ConsumerGroup('', serving(['a', 'b']))
  const ready = group.tiers[0] as Tier
  const queue = newQueue(1, 'q')
  const groups = new Map([['', group]])
  const dispatchable = new Dispatchable(groups)
  const make = (id: number, name: string) => {
    const lane = newLane(id, queue, name)
    const at = { priority: 0, weight: 1, runAt: 0, expiresAt: 0 }
    lane.window.insert(newJob({ seq: id, node: 1, enqueuedAt: 0 }, lane, WAITING, at, DEFAULT_POLICY, undefined, ''))
    group.markReady(lane)
    return lane
  }
  const lane = make(1, 'a')
  dispatchable.suspend(queue)
  make(2, 'b')
  expect(ready.size).toBe(0)
  dispatchable.resume(queue)
  expect([...(ready.get(queue)?.lanes() ?? [])]).toHaveLength(2)
  dispatchable.suspend(queue)
  for (const { window } of [lane, ...(ready.get(queue)?.lanes() ?? [])]) window.removeFirst()
  dispatchable.forget(queue)
  dispatchable.resume(queue)
  expect(ready.size).toBe(0)
})
