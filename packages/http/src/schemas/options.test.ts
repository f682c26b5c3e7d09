import { newJobFrom } from '@millrace/core'
import { expect, test } from 'vitest'
import { ENQUEUE_OPTIONS, enqueueOptions } from './options.ts'
import { QUEUE_BODY } from './queue.ts'

const jobOf = (options: unknown) => newJobFrom('a', null, enqueueOptions(ENQUEUE_OPTIONS.parse(options)), undefined)

test('null is no limit for options that may have none, and refused for the others', () => {
  const never = newJobFrom('a', null, { timeout: Number.POSITIVE_INFINITY, ttl: Number.POSITIVE_INFINITY }, undefined)
  expect(jobOf({ timeout: null, ttl: null })).toEqual(never)
  for (const option of ['maxAge', 'heartbeatTimeout', 'priority', 'weight', 'maxAttempts', 'backoff'])
    expect(ENQUEUE_OPTIONS.safeParse({ [option]: null }).success, option).toBe(false)
})

test('the ranges are those of the engine', () => {
  expect(jobOf({ priority: -1_000_000, weight: 1_000_000, maxAge: '1h', runAt: '2030-01-31T12:00:00Z' })).toMatchObject({
    priority: -1_000_000,
    weight: 1_000_000,
    maxAge: 3_600_000,
    runAt: Date.UTC(2030, 0, 31, 12),
  })
  for (const wrong of [{ priority: 1_000_001 }, { weight: 0 }, { maxAttempts: 1.5 }, { maxAge: 'soon' }, { queue: 'a b' }, { levity: 1 }])
    expect(ENQUEUE_OPTIONS.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
  expect(QUEUE_BODY.safeParse({ defaults: { queue: 'a' } }).success).toBe(false)
})
