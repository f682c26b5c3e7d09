import fc from 'fast-check'
import { expect, test } from 'vitest'
import { share } from './share.ts'

test('equals the new value, whatever the old one was', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (old, next) => {
      expect(share(old, next)).toEqual(next)
    }),
  )
})

test('a value that equals the old one is the old one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (old) => {
      expect(share(old, structuredClone(old))).toBe(old)
    }),
  )
})

test('a field that is gone, or is new, makes another object; the rest stays', () => {
  const old = { a: { b: 1 }, c: { d: 2 } }
  const less = share(old, { a: { b: 1 } })
  expect(less).toEqual({ a: { b: 1 } })
  expect((less as typeof old).a).toBe(old.a)
  const more = share(old, { a: { b: 1 }, c: { d: 2 }, e: undefined })
  expect(more).not.toBe(old)
  expect(Object.keys(more)).toEqual(['a', 'c', 'e'])
})

test('rows in another order keep their objects, and the list is another one', () => {
  const old = [
    { name: 'a', n: 1 },
    { name: 'b', n: 2 },
  ]
  const next = share(old, [
    { name: 'b', n: 2 },
    { name: 'a', n: 1 },
  ])
  expect(next).not.toBe(old)
  expect(next[0]).toBe(old[1])
  expect(next[1]).toBe(old[0])
})

test('names of objects are keys like others', () => {
  const next = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')
  expect(share({}, next)).toEqual(next)
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})
