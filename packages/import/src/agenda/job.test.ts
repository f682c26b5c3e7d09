// Documents as Agenda 4 to 6 write them.
import { expect, test } from 'vitest'
import { type AgendaDocument, agendaFound, intervalOf, stateOf } from './job.ts'

const NOW = Date.parse('2030-01-01T12:00:00Z')
const at = (ms: number) => new Date(NOW + ms)
const document = (fields: Partial<AgendaDocument>): AgendaDocument => ({
  ...{ _id: '65a0', name: 'mail', type: 'normal', priority: 0, data: { to: 'ada' }, nextRunAt: at(-1), lockedAt: null },
  ...fields,
})
const outcome = (fields: Partial<AgendaDocument>, includeActive = false) => agendaFound(document(fields), NOW, includeActive).outcome

test('a job that is due waits, a later one is scheduled; neither is tried again, as there', () => {
  expect(agendaFound(document({ priority: 10 }), NOW, false)).toEqual({
    ...{ queue: 'mail', state: 'queued', id: '65a0', uses: ['priority'] },
    outcome: {
      as: 'job',
      job: { job: 'mail', data: { to: 'ada' }, options: { maxAttempts: 1, timeout: Number.POSITIVE_INFINITY, priority: 10 } },
    },
  })
  expect(outcome({ nextRunAt: at(60_000), data: null })).toMatchObject({
    job: { data: undefined, options: { runAt: at(60_000), maxAttempts: 1 } },
  })
})

test('what has ended, runs or is disabled is left', () => {
  expect(outcome({ nextRunAt: null })).toEqual({ as: 'left', why: 'it has ended' })
  expect(outcome({ lockedAt: at(-5), nextRunAt: null })).toMatchObject({ as: 'left', why: expect.stringContaining('include active jobs') })
  expect(outcome({ lockedAt: at(-5), nextRunAt: null }, true)).toMatchObject({ as: 'job' })
  expect(outcome({ disabled: true })).toEqual({ as: 'left', why: 'it is disabled' })
  expect(stateOf(document({ nextRunAt: null, lockedAt: undefined }), NOW)).toBe('ended')
})

test('a repeating job is a schedule: by cron in its zone, or from its next run on', () => {
  const cron = { type: 'single', repeatInterval: '0 3 * * *', repeatTimezone: 'Europe/Berlin', nextRunAt: at(1_000) }
  expect(outcome(cron)).toMatchObject({ as: 'schedule', id: 'mail', options: { cron: '0 3 * * *', timezone: 'Europe/Berlin' } })
  const words = { repeatInterval: '3 minutes', nextRunAt: at(1_000), endDate: at(9) }
  expect(outcome(words)).toMatchObject({ as: 'schedule', id: 'mail:65a0', options: { every: 180_000, startAt: at(1_000), endAt: at(9) } })
  expect(outcome({ ...words, nextRunAt: at(-1) })).toMatchObject({ options: { runImmediately: true } })
  // It runs at this moment: the schedule takes the next times.
  expect(outcome({ ...words, lockedAt: at(0) })).toMatchObject({ as: 'schedule' })
  expect(outcome({ ...words, nextRunAt: at(-1), disabled: true }).as === 'schedule' && outcome({ ...words, disabled: true })).toMatchObject(
    {
      options: { paused: true },
    },
  )
  expect(outcome({ repeatAt: '3:30pm' })).toMatchObject({ as: 'unfit', error: { message: expect.stringContaining('3:30pm') } })
  expect(outcome({ ...cron, skipDays: [0, 6] })).toMatchObject({ as: 'unfit', error: { message: expect.stringContaining('skips days') } })
})

test.each([
  ['3 minutes', 180_000],
  ['a minute', 60_000],
  ['1 hour and 30 minutes', 5_400_000],
  ['1.5 days', 129_600_000],
  ['two weeks', 'cannot be read'],
  ['90000', 90_000],
  [5_000, 5_000],
  ['*/5 * * * *', undefined],
] as const)('the interval %j', (interval, expected) => {
  if (typeof expected === 'string') expect(() => intervalOf(interval)).toThrow(expected)
  else expect(intervalOf(interval)).toBe(expected)
})
