import { expect, test } from 'vitest'
import { shared } from './clock.ts'

test('a time that several waits share begins with the first that asks', () => {
  let mono = 1_000
  const leftMs = shared(500, () => mono)
  mono = 9_000
  expect(leftMs()).toBe(500)
  mono = 9_200
  expect(leftMs()).toBe(300)
  mono = 60_000
  expect(leftMs()).toBe(0)
  expect(shared(Number.POSITIVE_INFINITY)()).toBe(Number.POSITIVE_INFINITY)
})
