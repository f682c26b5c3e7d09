import { expect, test } from 'vitest'
import { QUEUE_OPTIONS } from './options/queue.ts'
import { changeSettings, type QueueChanges, type QueueSettings } from './queueSettings.ts'
import { World } from './testing/world.ts'

test.each(Object.keys(QUEUE_OPTIONS) as (keyof QueueSettings)[])('%s stays the same object if it is set to an equal value', (name) => {
  const value = { limit: 1, period: 2 }
  const before = changeSettings({}, { [name]: value })
  const again = (changed: unknown) => changeSettings(before, { [name]: changed } as QueueChanges)[name]
  expect(before[name]).toBe(value)
  expect(again({ period: 2, limit: 1 })).toBe(value)
  expect(again({ limit: 2, period: 2 })).toEqual({ limit: 2, period: 2 })
})

test("a limit set to its value writes no bucket of its queue's keys", () => {
  const world = new World()
  world.attach('s', ['a'])
  const perKeyRateLimit = { limit: 1, period: 1_000, burst: 1 }
  const bucketsWritten = (burst: number) => {
    let written = 0
    world.addEffects = ({ buckets }) => {
      written = buckets.length
    }
    world.call<'configure'>({ op: 'configure', queue: 'q', changes: { perKeyRateLimit: { ...perKeyRateLimit, burst } } })
    return written
  }
  bucketsWritten(1)
  world.enqueue('a', { queue: 'q', concurrencyKey: 'k' })
  expect([bucketsWritten(1), bucketsWritten(2)]).toEqual([0, 1])
})
