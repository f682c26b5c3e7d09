import { expect, test } from 'vitest'
import { failureOf, queueStats, statsOf } from '../testing/inputs.ts'
import { countsOf } from './counts.ts'

test('counts beside the screens', () => {
  const stats = statsOf({
    queues: { a: queueStats(), b: queueStats() },
    queuesLeftOut: 7,
    workers: 4,
    schedules: { enabled: 3, paused: 2, failing: 0, complete: true },
    states: { ...statsOf().states, failed: 1 },
  })
  expect(countsOf(stats, { failures: [failureOf()] })).toEqual({
    '/errors': { value: 1, isBad: true },
    '/queues': { value: 9 },
    '/schedules': { value: 5 },
    '/workers': { value: 4 },
  })
})

test('nothing is known yet', () => {
  expect(Object.values(countsOf(undefined, undefined)).every((count) => count === undefined)).toBe(true)
})
