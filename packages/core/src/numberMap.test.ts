import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberMap } from './numberMap.ts'

/** Few, so that they come again; near each other, far apart, and beyond 32 bits. */
const key = fc.oneof(
  fc.nat(40),
  fc.nat(8).map((of) => of * 2 ** 26),
  fc.nat(8).map((of) => 2 ** 48 - of),
)
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, value: fc.nat() }),
  fc.record({ do: fc.constant('delete' as const), key }),
  fc.record({ do: fc.constantFrom('clear' as const), key }),
)

test('does what a Map does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const map = new NumberMap<number>()
      const model = new Map<number, number>()
      for (const one of steps) {
        if (one.do === 'set') {
          map.set(one.key, one.value)
          model.set(one.key, one.value)
        } else if (one.do === 'delete') expect(map.delete(one.key)).toBe(model.delete(one.key))
        else if (one.key === 40) {
          map.clear()
          model.clear()
        }
        expect(map.size).toBe(model.size)
        for (const [known, value] of model) expect(map.get(known)).toBe(value)
        expect([map.has(one.key), map.get(one.key)]).toEqual([model.has(one.key), model.get(one.key)])
      }
      const sorted = (values: Iterable<number>) => [...values].sort((a, b) => a - b)
      expect(sorted(map.values())).toEqual(sorted(model.values()))
    }),
  )
})

test('many that come and go, first in, first out', () => {
  const map = new NumberMap<number>()
  for (let next = 0; next < 100_000; next++) {
    map.set(next, -next)
    if (next >= 5_000) expect(map.delete(next - 5_000)).toBe(true)
  }
  expect([map.size, map.get(94_999), map.get(95_000), map.get(99_999)]).toEqual([5_000, undefined, -95_000, -99_999])
  for (let next = 95_000; next < 100_000; next++) map.delete(next)
  expect([map.size, map.values()]).toEqual([0, []])
})

test('numbers that are no keys are not there, and cannot be', () => {
  const map = new NumberMap<string>()
  map.set(0, 'zero')
  expect([map.get(-1), map.has(Number.NaN), map.delete(-1), map.size]).toEqual([undefined, false, false, 1])
  for (const wrong of [-1, Number.NaN]) expect(() => map.set(wrong, 'x')).toThrow(RangeError)
})
