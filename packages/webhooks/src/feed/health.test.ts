import fc from 'fast-check'
import { expect, test } from 'vitest'
import { after, type Health } from './health.ts'

const DAY_MS = 86_400_000
const failed = (day: number, error = 'DeliveryFailedError') => ({ type: 'retrying', at: new Date(day * DAY_MS), error }) as const
const completed = (day: number) => ({ type: 'completed', at: new Date(day * DAY_MS) }) as const
const heal = (events: readonly Parameters<typeof after>[1][], health: Health = {}) =>
  events.reduce((so, event) => after(so, event, 5 * DAY_MS), health)

test('five days of nothing but failures', () => {
  expect(heal([failed(0), failed(4.99)]).disabledReason).toBeUndefined()
  expect(heal([failed(0), failed(5)]).disabledReason).toBe('failing')
  expect(heal([failed(0), completed(3), failed(5)]).disabledReason).toBeUndefined()
  expect(heal([failed(0), completed(3), failed(5), failed(10)]).disabledReason).toBe('failing')
})

test('410 is enough', () => {
  expect(heal([{ ...failed(0, 'WebhookGoneError'), type: 'failed' }]).disabledReason).toBe('gone')
})

test.each(['WorkerLostError', 'SecretMissingError'])('%s is not its fault', (error) => {
  expect(heal([failed(0, error), failed(9, error)])).toEqual({})
})

test('disabled as failing: the failures since the last success are so long, and never otherwise', () => {
  const event = fc.record({ day: fc.nat(30), taken: fc.boolean() })
  fc.assert(
    fc.property(fc.array(event, { minLength: 1 }), (events) => {
      const sorted = events.toSorted((one, other) => one.day - other.day)
      const since = sorted.slice(sorted.findLastIndex(({ taken }) => taken) + 1)
      const long = since.length > 0 && (since.at(-1)?.day ?? 0) - (since[0]?.day ?? 0) >= 5
      const { disabledReason } = heal(sorted.map(({ day, taken }) => (taken ? completed(day) : failed(day))))
      expect(disabledReason === 'failing').toBe(long)
    }),
  )
})
