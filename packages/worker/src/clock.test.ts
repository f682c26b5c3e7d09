import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newSessionId, systemClock } from './clock.ts'

const DAY = 86_400_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

test.for([0, 1, 1_000, 2 ** 31 - 1, 2 ** 31, 30 * DAY, 100 * DAY])('a timer of %s ms fires once, when it is due', (ms) => {
  const wake = vi.fn()
  systemClock.setTimer(ms, wake)
  vi.advanceTimersByTime(Math.max(0, ms - 1))
  expect(wake).toHaveBeenCalledTimes(ms === 0 ? 1 : 0)
  vi.advanceTimersByTime(1)
  vi.advanceTimersByTime(200 * DAY)
  expect(wake).toHaveBeenCalledTimes(1)
})

test.for([0, 29])('a timer of 30 days that is cancelled after %s days never fires', (days) => {
  const wake = vi.fn()
  const cancel = systemClock.setTimer(30 * DAY, wake)
  vi.advanceTimersByTime(days * DAY)
  cancel()
  vi.advanceTimersByTime(60 * DAY)
  expect(wake).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('a timer without end never fires, and can be cancelled', () => {
  const wake = vi.fn()
  const cancel = systemClock.setTimer(Number.POSITIVE_INFINITY, wake)
  vi.advanceTimersByTime(400 * DAY)
  expect(wake).not.toHaveBeenCalled()
  cancel()
  expect(vi.getTimerCount()).toBe(0)
})

test('both clocks go on; sessions are named at random', () => {
  const before = systemClock.read()
  vi.advanceTimersByTime(5_000)
  const after = systemClock.read()
  expect([after.wall - before.wall, after.mono - before.mono]).toEqual([5_000, 5_000])
  expect(newSessionId()).not.toBe(newSessionId())
})
