import { expect, test } from 'vitest'
import { newJob } from '../job.ts'
import { WAITING } from '../lifecycle.ts'
import { DEFAULT_POLICY } from '../policy.ts'
import { Doors } from './doors.ts'
import { type Lane, newLane, newQueue } from './lane.ts'
import type { ReadyLanes } from './readyLanes.ts'
import { Service } from './service.ts'

test('what serves the same has the same key, in whatever order it is named', () => {
  expect(Service.keyOf(['a', 'b'], undefined)).toBe(Service.keyOf(['b', 'a'], undefined))
  expect(Service.keyOf(['a'], ['x', 'y'])).toBe(Service.keyOf(['a'], ['y', 'x']))
})

test('what serves something else has another key', () => {
  const keys = [
    Service.keyOf(['a'], undefined),
    Service.keyOf(['a'], []),
    Service.keyOf(['a'], ['a']),
    Service.keyOf(['a', 'b'], undefined),
    Service.keyOf(['a,b'], undefined),
    Service.keyOf([], ['a']),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})

test('naming leaves the order of the names as it was', () => {
  const names = ['b', 'a']
  Service.keyOf(names, undefined)
  expect(names).toEqual(['b', 'a'])
})

test('E2: its names in every queue, or in those that it names', () => {
  const everywhere = new Service('', new Set(['a']), undefined)
  expect([everywhere.serves('q', 'a'), everywhere.serves('q', 'b')]).toEqual([true, false])
  const somewhere = new Service('', new Set(['a']), new Set(['q']))
  expect([somewhere.serves('q', 'a'), somewhere.serves('r', 'a'), somewhere.serves('q', 'b')]).toEqual([true, false, false])
})

test('queues take turns: the one that was served goes to the end', () => {
  const service = new Service('', new Set(['a', 'b']), undefined)
  const [first, second] = [newQueue(1, 'first'), newQueue(2, 'second')]
  const lanes = [newLane(1, first, 'a'), newLane(2, second, 'a'), newLane(3, second, 'b')] as const
  const make = (lane: Lane) => {
    const at = { priority: 0, weight: 1, runAt: 0, expiresAt: 0 }
    lane.window.insert(newJob({ seq: lane.id, node: 1, enqueuedAt: 0 }, lane, WAITING, at, DEFAULT_POLICY, undefined, ''))
    service.markReady(lane)
  }
  for (const lane of lanes.slice(0, 2)) make(lane)
  expect([...service.ready.keys()]).toEqual([first, second])
  service.rotate(first, service.ready.get(first) as ReadyLanes)
  expect([...service.ready.keys()]).toEqual([second, first])
  make(lanes[2])
  expect([...service.ready.values()].map((ready) => [...ready.lanes()].length)).toEqual([2, 1])
  expect([...service.ready.keys()]).toEqual([second, first])
})

test('a queue that is closed is out of sight, with what comes to it meanwhile, and is there again when it is opened', () => {
  const service = new Service('', new Set(['a', 'b']), undefined)
  const queue = newQueue(1, 'q')
  const services = new Map([['', service]])
  const doors = new Doors(services)
  const make = (id: number, name: string) => {
    const lane = newLane(id, queue, name)
    const at = { priority: 0, weight: 1, runAt: 0, expiresAt: 0 }
    lane.window.insert(newJob({ seq: id, node: 1, enqueuedAt: 0 }, lane, WAITING, at, DEFAULT_POLICY, undefined, ''))
    service.markReady(lane)
    return lane
  }
  const lane = make(1, 'a')
  doors.close(queue)
  make(2, 'b')
  expect(service.ready.size).toBe(0)
  doors.open(queue)
  expect([...(service.ready.get(queue)?.lanes() ?? [])]).toHaveLength(2)
  doors.close(queue)
  for (const { window } of [lane, ...(service.ready.get(queue)?.lanes() ?? [])]) window.removeFirst()
  doors.forget(queue)
  doors.open(queue)
  expect(service.ready.size).toBe(0)
})
