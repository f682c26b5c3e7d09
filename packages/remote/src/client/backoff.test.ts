import { expect, test } from 'vitest'
import { Backoff } from './backoff.ts'

const most = () => 1 - Number.EPSILON

test('doubles up to the largest delay, and begins again after a connection that held', () => {
  const backoff = new Backoff(50, 5_000, most)
  expect(Array.from({ length: 9 }, () => backoff.next())).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  backoff.reset()
  expect(backoff.next()).toBe(50)
})

test('each is a random part of that', () => {
  const parts = [0.5, 0, 0.25]
  const backoff = new Backoff(100, 5_000, () => parts.shift() ?? 0)
  expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([50, 0, 100])
})

test('what the server has asked for comes first', () => {
  const backoff = new Backoff(50, 5_000, most)
  expect(backoff.next(30_000)).toBe(30_050)
  expect(new Backoff(50, 5_000, () => 0).next(100)).toBe(100)
})

test('never more than the largest, however often it failed', () => {
  const backoff = new Backoff(1, 60_000, most)
  for (let times = 0; times < 2_000; times++) backoff.next()
  expect(backoff.next()).toBe(60_000)
})
