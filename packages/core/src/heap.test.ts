import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { IndexedHeap } from './heap.ts'

interface Item {
  key: number
  place: number
}

const newHeap = () =>
  new IndexedHeap<Item>(
    (a, b) => a.key < b.key,
    (item, place) => {
      item.place = place
    },
  )

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('push' as const), key: fc.integer({ min: 0, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pop' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rekey' as const), pick: fc.nat(), key: fc.integer({ min: 0, max: 20 }) }) },
)

test('agrees with a sorted array, and no item ever loses its place', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200, size: 'max' }), (actions) => {
      const heap = newHeap()
      const model: Item[] = []
      const forget = (item: Item) => {
        heap.removeAt(item.place)
        model.splice(model.indexOf(item), 1)
        expect(item.place).toBe(-1)
      }
      for (const action of actions) {
        if (action.kind === 'push') {
          const item = { key: action.key, place: -1 }
          model.push(item)
          heap.push(item)
        } else if (model.length === 0) {
          expect(heap.peek()).toBeUndefined()
        } else if (action.kind === 'pop') {
          forget(heap.peek() as Item)
        } else {
          const item = model[action.pick % model.length] as Item
          if (action.kind === 'remove') forget(item)
          else {
            item.key = action.key
            heap.update(item.place)
          }
        }
        const items = [...heap.values()]
        expect(items.map((item) => item.place)).toEqual(items.map((_, index) => index))
        expect(new Set(items)).toEqual(new Set(model))
        expect(heap.size).toBe(model.length)
        expect(heap.peek()?.key).toBe(model.length === 0 ? undefined : Math.min(...model.map((item) => item.key)))
      }
    }),
    { numRuns: runs(200) },
  )
})

test('comes out in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (keys) => {
      const heap = newHeap()
      for (const key of keys) heap.push({ key, place: -1 })
      const out: number[] = []
      for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
        out.push(first.key)
        heap.removeAt(first.place)
      }
      expect(out).toEqual([...keys].sort((a, b) => a - b))
    }),
  )
})

test('a place that is not there is refused, and nothing is lost', () => {
  const heap = newHeap()
  heap.push({ key: 1, place: -1 })
  for (const place of [-1, 1, 99]) {
    expect(() => heap.removeAt(place)).toThrow(RangeError)
    expect(() => heap.update(place)).toThrow(RangeError)
  }
  expect(heap.size).toBe(1)
  expect(heap.peek()?.key).toBe(1)
})
