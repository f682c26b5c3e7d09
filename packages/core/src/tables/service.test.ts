import { expect, test } from 'vitest'
import { newLane, newQueue } from './lane.ts'
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
  const service = new Service('', new Set(['a']), undefined)
  const [first, second] = [newQueue(1, 'first'), newQueue(2, 'second')]
  for (const queue of [first, second]) service.markReady(newLane(queue.id, queue, 'a'))
  expect([...service.ready.keys()]).toEqual([first, second])
  service.rotate(first, service.ready.get(first) ?? new Set())
  expect([...service.ready.keys()]).toEqual([second, first])
  service.markReady(newLane(3, second, 'b'))
  expect([...service.ready.values()].map((lanes) => lanes.size)).toEqual([2, 1])
  expect([...service.ready.keys()]).toEqual([second, first])
})
