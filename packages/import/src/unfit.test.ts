// Whoever writes the store of another queue decides what is in it: an entry that nobody can read is left out, and the others come.
import { expect, test } from 'vitest'
import { agendaFound } from './agenda/job.ts'
import { jobOf, scheduleOf } from './bullmq/job.ts'
import { SourceError } from './errors.ts'
import { checked } from './plan.ts'
import { graphileFound } from './postgres/graphileJob.ts'
import { pgBossFound, scheduleFound } from './postgres/pgBossJob.ts'
import type { Outcome } from './source.ts'
import { unfitOf, unlessUnfit } from './unfit.ts'

type Entry = Readonly<Record<string, unknown>>

const NOW = Date.parse('2030-01-01T12:00:00Z')
const WRONG = [
  null,
  undefined,
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  'x',
  '',
  '{',
  [],
  {},
  [null],
  true,
  new Date(Number.NaN),
  { id: null },
  { type: 7 },
]

const BULLMQ = { attempts: 3, backoff: { type: 'fixed', delay: 5 }, priority: 2, delay: 5, de: { id: 'd', ttl: 5 }, removeOnComplete: true }
const hashOf = (opts: Entry) => ({ name: 'send', data: '1', opts: JSON.stringify(opts), atm: '1', priority: '2' })
const PGBOSS = {
  ...{ id: '1', name: 'mail', state: 'created', data: '1', later: true, start_after: new Date(NOW), expire_seconds: 5, priority: 1 },
  ...{ retry_limit: 3, retry_count: 1, retry_delay: 1, retry_backoff: true, retry_delay_max: 9, policy: 'exclusive', singleton_key: 'k' },
  ...{ group_id: 'g', dead_letter: 'd' },
}
const PGBOSS_SCHEDULE = { name: 'mail', key: 'k', kind: 'cron', cron: '* * * * *', timezone: 'UTC', options: { retryLimit: 3 }, data: '1' }
const GRAPHILE = {
  ...{ id: '1', task: 'mail', state: 'scheduled', created: '1', payload: '1', priority: 1, attempts: 1, max_attempts: 3 },
  ...{ run_at: new Date(NOW), key: 'k', queue_name: 'q', flags: { a: true } },
}
const AGENDA = {
  ...{ _id: '1', name: 'mail', type: 'normal', priority: 1, data: 1, nextRunAt: new Date(NOW + 1), lockedAt: null, disabled: false },
  ...{
    repeatInterval: '3 minutes',
    repeatTimezone: 'UTC',
    repeatAt: null,
    startDate: new Date(NOW),
    endDate: new Date(NOW + 1e9),
    skipDays: [],
  },
}
const SCHEDULER = { name: 'ping', every: '1000', tz: 'UTC', limit: '5', ic: '1', startDate: '5', endDate: '9', data: '1', opts: '{}' }

const SOURCES: readonly [string, Entry, (entry: Entry) => Outcome][] = [
  ['a job of BullMQ', hashOf(BULLMQ), (hash) => unlessUnfit(() => ({ as: 'job', job: jobOf('mail', hash as never).job }))],
  ['the options of a job of BullMQ', BULLMQ, (opts) => unlessUnfit(() => ({ as: 'job', job: jobOf('mail', hashOf(opts)).job }))],
  [
    'a scheduler of BullMQ',
    SCHEDULER,
    (hash) => unlessUnfit(() => ({ as: 'schedule', id: 'a', ...scheduleOf('mail', 'a', hash as never, { at: 5, as: 'later' }) })),
  ],
  ['a job of pg-boss', PGBOSS, (row) => pgBossFound(row as never, true).outcome],
  ['a schedule of pg-boss', PGBOSS_SCHEDULE, (row) => scheduleFound(row as never, { retry_delay: 1, expire_seconds: 5 } as never).outcome],
  ['a job of Graphile Worker', GRAPHILE, (row) => graphileFound(row as never, true).outcome],
  ['a document of Agenda', AGENDA, (document) => agendaFound(document as never, NOW, true).outcome],
  [
    'a document of Agenda that comes once',
    { ...AGENDA, repeatInterval: null },
    (document) => agendaFound(document as never, NOW, true).outcome,
  ],
]

test.each(SOURCES)('%s: whatever a field is, it is imported, left or unfit', (_what, entry, outcomeOf) => {
  expect(checked(outcomeOf(entry)).as).not.toBe('unfit')
  for (const field of Object.keys(entry))
    for (const wrong of WRONG) {
      const outcome = checked(outcomeOf({ ...entry, [field]: wrong }))
      expect(['job', 'schedule', 'left', 'unfit'], field).toContain(outcome.as)
      if (outcome.as === 'unfit') expect(outcome.error.message, field).not.toBe('')
    }
})

test.each(['null', '7', '"x"', '[]', '[null]', '{"backoff":null,"de":null,"attempts":null}'])(
  'a job of BullMQ with the options %s',
  (opts) => {
    expect(checked(unlessUnfit(() => ({ as: 'job', job: jobOf('mail', { name: 'send', opts }).job }))).as).toBe('job')
  },
)

test('an error that is not about an entry ends the import', () => {
  for (const error of [new SourceError('gone'), new Error('what is this')]) expect(() => unfitOf(error)).toThrow(error)
})
