import { expect, test } from 'vitest'
import { jobOf, onFailureOf, scheduleOf } from './job.ts'

const options = (opts: object, hash: Record<string, string> = {}) =>
  jobOf('mail', { name: 'send', opts: JSON.stringify(opts), ...hash }).job.options
const later = { at: 5_000, as: 'later' } as const

test('attempts and delays continue where they were', () => {
  const backoff = { type: 'exponential', delay: 1_000 }
  expect(options({ attempts: 5, backoff }, { atm: '2' })).toMatchObject({ maxAttempts: 3, backoff: { type: 'exponential', delay: 4_000 } })
  expect(options({ attempts: 5, backoff }, { attemptsMade: '1' })).toMatchObject({ maxAttempts: 4, backoff: { delay: 2_000 } })
  expect(options({ attempts: 3, backoff: 700 })).toMatchObject({ backoff: { type: 'fixed', delay: 700 } })
  // BullMQ tries again at once.
  expect(options({ attempts: 3 })).toMatchObject({ backoff: { type: 'fixed', delay: 0 } })
  expect(options({})).toEqual({ queue: 'mail', maxAttempts: 1, timeout: Number.POSITIVE_INFINITY })
  expect(options({ attempts: 2, backoff: { type: 'mine' } })).not.toHaveProperty('backoff')
})

test.each([0.2, 0.5, 1])('jitter %d has the range that BullMQ has', (jitter) => {
  const { backoff } = options({ attempts: 2, backoff: { type: 'fixed', delay: 10_000, jitter } }) as {
    readonly backoff: { readonly delay: number; readonly jitter: number }
  }
  expect(backoff.delay * (1 + backoff.jitter)).toBeCloseTo(10_000)
  expect(backoff.delay * (1 - backoff.jitter)).toBeCloseTo(10_000 * (1 - jitter))
})

test('a job without a name gets that of its queue; what is not JSON is refused', () => {
  expect(jobOf('mail', { name: '__default__', data: '1' }).job).toMatchObject({ job: 'mail', data: 1 })
  expect(() => jobOf('mail', { name: 'send', opts: '{' })).toThrow(/options are not JSON/)
  expect(() => jobOf('mail', { name: 'send', data: '{' })).toThrow(/data is not JSON/)
})

test('what a failure means is said by each child', () => {
  const of = (opts: object) => onFailureOf({ opts: JSON.stringify(opts) })
  expect([of({}), of({ fpof: true }), of({ idof: true }), of({ rdof: true })]).toEqual(['fail', 'fail', 'continue', 'ignore'])
  expect(() => of({ cpof: true })).toThrow(/continueParentOnFailure/)
})

test('a scheduler keeps its phase, and the runs that are left', () => {
  const every = { name: 'ping', every: '1000', ic: '3', limit: '5' }
  expect(scheduleOf('mail', 'beat', every, later).options).toEqual({ every: 1_000, startAt: 5_000, maxRuns: 3 })
  expect(scheduleOf('mail', 'beat', every, { at: 5_000, as: 'job' }).options).toEqual({ every: 1_000, startAt: 5_000, maxRuns: 2 })
  expect(scheduleOf('mail', 'beat', every, { at: 5_000, as: 'due' }).options).toMatchObject({ runImmediately: true, maxRuns: 3 })
  expect(() => scheduleOf('mail', 'beat', { ...every, ic: '6' }, later)).toThrow(/limit/)
  const cron = scheduleOf('mail', 'night', { name: 'report', pattern: '0 3 * * *', endDate: '9' }, later)
  expect(cron).toMatchObject({ options: { cron: '0 3 * * *', timezone: 'UTC', endAt: 9 }, job: { options: { queue: 'mail' } } })
  expect([...cron.uses]).toEqual(['timezone'])
  expect(() => scheduleOf('mail', 'old:::x:* * * * *', {}, later)).toThrow(/before schedulers/)
})
