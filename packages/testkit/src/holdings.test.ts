import { IndexedHeap } from '@millrace/core'
import { expect, test } from 'vitest'
import { differenceOf, holdingsOf } from './testing/holdings.ts'

class Desk {
  readonly open = new Map([['a', { tags: new Set(['x', 'y']) }]])
  readonly #drawer = new Drawer()
  readonly number = 5
  get drawer(): Drawer {
    return this.#drawer
  }
}

class Drawer {
  readonly #papers: string[] = ['one', 'two', 'three']
  readonly heap = new IndexedHeap<number>(
    (a, b) => a < b,
    () => {},
  )
  #hidden: object | undefined
  hide(object: object): void {
    this.#hidden = object
  }
  get hidden(): object | undefined {
    return this.#hidden
  }
  get papers(): readonly string[] {
    return this.#papers
  }
}

test('every map, set, array and heap is counted by its path, private ones too; what is empty is not', () => {
  const desk = new Desk()
  expect(holdingsOf(desk)).toEqual(
    new Map([
      ['.open', 1],
      ['.open[].tags', 2],
      ['.drawer.papers', 3],
    ]),
  )
  desk.drawer.heap.push(7)
  expect(holdingsOf(desk).get('.drawer.heap.items')).toBe(1)
})

test('collections of one path are counted together; what two paths reach is counted once, at the shorter', () => {
  const shared = new Set([1, 2, 3])
  const desks = [{ far: { away: shared } }, { near: shared }, { near: new Set([4]) }]
  expect([...holdingsOf({ desks })]).toEqual([
    ['.desks', 3],
    ['.desks[].near', 4],
  ])
  const ring: { self?: unknown; list: unknown[] } = { list: [] }
  ring.self = ring
  ring.list.push(ring)
  expect([...holdingsOf(ring)]).toEqual([['.list', 1]])
})

test('what is passed over is a number of entries, or all that an object leads to', () => {
  const desk = new Desk()
  desk.drawer.hide({ deep: [1] })
  expect(holdingsOf(desk).get('.drawer.hidden.deep')).toBe(1)
  const passed = { '.open': 'a cache', '.drawer.hidden': 'the last answer' }
  expect([...holdingsOf(desk, passed).keys()]).toEqual(['.drawer.papers', '.open[].tags'])
})

test('a difference names the path, and both counts', () => {
  const [one, other] = [holdingsOf({ a: [1, 2], b: [1] }), holdingsOf({ a: [1], b: [2], c: new Map([[1, 1]]) })]
  expect(differenceOf(one, other)).toEqual(['.a: 2, 1', '.c: 0, 1'])
  expect(differenceOf(one, one)).toEqual([])
})
