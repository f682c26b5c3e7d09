import { describe, expect, test } from 'vitest'
import { before, columnsOf, failingOf, NOW, nameOf, queueOf, queueStats, statsOf, workerOf } from '../../testing/inputs.ts'
import { type CheckName, diagnosisOf, type Inputs } from './checks.ts'
import { endedPerSecond, lastHourOf } from './history.ts'
import { nameRows } from './names.ts'
import { listOf } from './rows.ts'
import { changesOf, errorsOf, fieldsOf, type Settings } from './settings.ts'

const MIN = 60_000
const mail = queueOf('mail', {})
const waiting = { ...mail.states, waiting: 600, active: 8 }
const served = statsOf({ names: [nameOf('mail', 'charge', 100), nameOf('other', 'resize', 5)], queues: { mail: queueStats(waiting) } })
const inputs = (changes: Partial<Inputs> = {}): Inputs => ({
  ...{
    queue: { ...mail, states: waiting, oldestWaitingMs: 900 },
    stats: served,
    workers: [workerOf()],
    recent: columnsOf(() => ({ completed: 60 })),
  },
  ...changes,
})
const toneOf = (name: CheckName, given: Inputs) => diagnosisOf(given).checks.find((check) => check.name === name)?.tone

describe('what holds a queue back', () => {
  test('nothing, and how long the backlog lasts', () => {
    expect(diagnosisOf(inputs())).toMatchObject({
      verdict: 'Nothing holds it back',
      tone: 'good',
      note: expect.stringMatching(/lasts 10 m 00 s$/),
    })
  })

  test('a rate says how many jobs may start now', () => {
    const rate = queueOf('mail', { rateLimit: { limit: 9, period: 1_000, burst: 9 } })
    const said = (queue: typeof rate) => diagnosisOf(inputs({ queue })).checks.find(({ name }) => name === 'rate')?.text
    expect(said({ ...rate, rate: { tokens: 1 } })).toMatch(/^At most 9 per s; .* 1 job may start now\.$/)
    expect(said(rate)).not.toMatch(/may start/)
  })

  test.each(['mail', 'm*', '*'])('a worker of %s serves the queue', (pattern) => {
    expect(toneOf('workers', inputs({ workers: [workerOf({ queues: ['other', pattern] })] }))).toBe('good')
  })

  test('no job waits', () => {
    expect(diagnosisOf(inputs({ queue: mail }))).toMatchObject({ verdict: 'No job waits', tone: 'good', note: '' })
  })

  test.each<[string, CheckName, string, Partial<Inputs>]>([
    ['a pause', 'starts', 'bad', { queue: { ...mail, states: waiting, paused: true } }],
    ['a pause of all', 'starts', 'bad', { stats: statsOf({ paused: true }) }],
    ['a pause of an empty queue', 'starts', 'warn', { queue: { ...mail, paused: true } }],
    ['a drain', 'starts', 'warn', { queue: queueOf('mail', { draining: true }) }],
    ['a paused name', 'starts', 'warn', { queue: { ...mail, states: waiting, pausedJobs: ['charge'] } }],
    ['no worker', 'workers', 'bad', { workers: [] }],
    ['workers of other names', 'workers', 'bad', { workers: [workerOf({ names: ['resize'] })] }],
    ['workers of other queues', 'workers', 'bad', { workers: [workerOf({ queues: ['other'] })] }],
    ['workers of queues with another prefix', 'workers', 'bad', { workers: [workerOf({ queues: ['post-*', 'mail-*'] })] }],
    ['workers that are paused', 'workers', 'bad', { workers: [workerOf({ paused: true })] }],
    ['workers that leave', 'workers', 'bad', { workers: [workerOf({ draining: true })] }],
    ['workers without a slot', 'workers', 'warn', { workers: [workerOf({ runningWeight: 16 })] }],
    ['a name without a handler', 'names', 'bad', { stats: statsOf({ unserved: [{ queue: 'mail', name: 'post', waiting: 3 }] }) }],
    ['a full limit', 'slots', 'warn', { queue: { ...queueOf('mail', { concurrencyLimit: 8 }), states: waiting } }],
    [
      'a full limit of several queues',
      'slots',
      'warn',
      { queue: { ...queueOf('mail', { sharedLimit: { name: 'smtp', limit: 9 } }), states: waiting, sharedActive: 9 } },
    ],
    [
      'a limit of several queues with room',
      'slots',
      'none',
      { queue: { ...queueOf('mail', { sharedLimit: { name: 'smtp', limit: 9 } }), states: waiting, sharedActive: 8 } },
    ],
    ['a limit with room', 'slots', 'good', { queue: { ...queueOf('mail', { concurrencyLimit: 9 }), states: waiting } }],
    [
      'a used rate',
      'rate',
      'warn',
      { queue: { ...queueOf('mail', { rateLimit: { limit: 1, period: 1_000, burst: 1 } }), states: waiting } },
    ],
    [
      'a rate with room',
      'rate',
      'good',
      { queue: { ...queueOf('mail', { rateLimit: { limit: 9, period: 1_000, burst: 1 } }), states: waiting } },
    ],
    ['keys, if nothing else does', 'keys', 'warn', { queue: { ...queueOf('mail', { perKeyLimit: 1 }), states: waiting } }],
    [
      'not keys, if the slots are taken',
      'keys',
      'good',
      { queue: { ...queueOf('mail', { perKeyLimit: 1, concurrencyLimit: 8 }), states: waiting } },
    ],
    ['a name that loses jobs', 'failures', 'bad', { stats: statsOf({ failing: [failingOf({ queue: 'mail' })] }) }],
    [
      'a name whose runs are tried again',
      'failures',
      'warn',
      { stats: statsOf({ failing: [failingOf({ queue: 'mail', failedJobs: 0 })] }) },
    ],
    ['a name that fails elsewhere', 'failures', 'good', { stats: statsOf({ failing: [failingOf()] }) }],
    ['an old job', 'oldest', 'warn', { queue: { ...mail, states: waiting, oldestWaitingMs: 2 * MIN } }],
    [
      'an old job within alertAfter',
      'oldest',
      'good',
      { queue: { ...mail, settings: { alertAfter: 3 * MIN }, states: waiting, oldestWaitingMs: 2 * MIN } },
    ],
    [
      'a job older than alertAfter',
      'oldest',
      'bad',
      { queue: { ...mail, settings: { alertAfter: MIN }, states: waiting, oldestWaitingMs: 2 * MIN } },
    ],
    ['a very old job', 'oldest', 'bad', { queue: { ...mail, states: waiting, oldestWaitingMs: 11 * MIN } }],
  ])('%s', (_what, name, tone, changes) => {
    expect(toneOf(name, inputs(changes))).toBe(tone)
  })

  test('what stops jobs goes before what slows them down; age is no cause', () => {
    const queue = { ...queueOf('mail', { concurrencyLimit: 8 }), states: waiting, oldestWaitingMs: 20 * MIN }
    expect(diagnosisOf(inputs({ queue })).verdict).toMatch(/^All 8 slots are taken/)
    expect(diagnosisOf(inputs({ queue, workers: [] })).verdict).toBe('No worker serves the queue')
    expect(diagnosisOf(inputs({ queue: { ...queue, settings: {} } })).verdict).toBe('Nothing holds it back')
  })

  test('a queue of which no job waits is not well while its jobs fail', () => {
    const stats = statsOf({ failing: [failingOf({ queue: 'mail' }), failingOf({ queue: 'mail', name: 'refund' })] })
    expect(diagnosisOf(inputs({ queue: mail, stats }))).toMatchObject({
      tone: 'bad',
      verdict: 'charge fails: 66 of 300 runs failed in 15 min (22 %), 66 jobs permanently; 1 other name too',
    })
    expect(toneOf('keys', inputs({ queue: { ...mail, states: waiting, settings: { perKeyLimit: 1 } }, stats }))).toBe('warn')
  })

  test('the list of queues begins with one whose jobs fail', () => {
    const queues = { idle: queueStats(), billing: queueStats({ failed: 730 }), late: queueStats({ waiting: 1, oldestWaitingMs: 61_000 }) }
    const { rows } = listOf({ stats: statsOf({ queues, failing: [failingOf()] }), queues: [], recent: undefined, now: NOW }, '')
    expect(rows.map(({ name, severity }) => [name, severity])).toEqual([
      ['billing', 'bad'],
      ['late', 'warn'],
      ['idle', undefined],
    ])
  })

  test('workers are not judged before they are known', () => {
    expect(toneOf('workers', inputs({ workers: undefined }))).toBeUndefined()
  })
})

describe('the history of one queue', () => {
  test('minutes without jobs are zeros', () => {
    const { from, total } = lastHourOf([{ at: before(5 * MIN), enqueued: 3, completed: 2, failed: 1, cancelled: 0 }], NOW)
    expect(from).toBe('2025-11-23T02:12:00.000Z')
    expect(total.enqueued).toHaveLength(61)
    expect(total.enqueued.flatMap((value, place) => (value === 0 ? [] : [[place, value]]))).toEqual([[55, 3]])
  })

  test('the rate leaves out the minute that has begun', () => {
    expect(
      endedPerSecond(columnsOf((minute) => (minute === 59 ? { completed: 9_999 } : { completed: 30, failed: 20, cancelled: 10 }))),
    ).toBe(1)
  })
})

test('times of a name are known once it has started, and once a run has ended', () => {
  const name = (changes: object) => nameRows(mail, statsOf({ names: [{ ...nameOf('mail', 'a', 1), ...changes }] }), undefined)[0]
  expect(name({})).toMatchObject({ wait: { p50: 1 }, run: { p50: 20 } })
  expect(name({ completed: 0 })).toMatchObject({ wait: { p50: 1 }, run: undefined })
  expect(name({ started: 0, completed: 0 })).toMatchObject({ wait: undefined, run: undefined })
})

test('job names: unserved first, then paused, then by runs', () => {
  const stats = statsOf({
    names: [nameOf('mail', 'a', 1), { ...nameOf('mail', 'b', 1), started: 99 }, nameOf('other', 'c', 1)],
    unserved: [{ queue: 'mail', name: 'd', waiting: 7 }],
  })
  const rows = nameRows({ ...mail, pausedJobs: ['a', 'e'] }, stats, [workerOf({ names: ['b'] }), workerOf({ names: ['b'] })])
  expect(rows.map(({ name, unserved, isPaused, workers }) => [name, unserved, isPaused, workers])).toEqual([
    ['d', 7, false, 0],
    ['a', undefined, true, 0],
    ['e', undefined, true, 0],
    ['b', undefined, false, 1],
  ])
})

describe('settings', () => {
  const settings: Settings = {
    concurrencyLimit: 8,
    rateLimit: { limit: 20, period: 1_000, burst: 20 },
    keyTiers: { gold: { perKeyLimit: 1_000 } },
    retention: { completed: { ageMs: 100 * 365 * 86_400_000, count: 5 } },
    defaults: { timeout: null, maxAttempts: 3, keep: 100 * 365 * 86_400_000 },
  }
  const fields = fieldsOf(settings)

  test('become fields', () => {
    expect(fields).toEqual({
      concurrencyLimit: '8',
      ...{ 'rateLimit.limit': '20', 'rateLimit.period': '1s', 'rateLimit.burst': '20' },
      keyTiers: '{"gold":{"perKeyLimit":1000}}',
      ...{ 'retention.completed.age': 'forever', 'retention.completed.count': '5' },
      ...{ 'defaults.timeout': 'none', 'defaults.maxAttempts': '3', 'defaults.keep': 'forever' },
    })
  })

  test.each<[Record<string, string>, unknown]>([
    [{}, {}],
    [{ concurrencyLimit: '1,200' }, { concurrencyLimit: 1_200 }],
    [{ concurrencyLimit: ' ' }, { concurrencyLimit: null }],
    [{ 'rateLimit.period': '10 s' }, { rateLimit: { limit: 20, period: '10 s', burst: 20 } }],
    [{ 'rateLimit.limit': '', 'rateLimit.period': '', 'rateLimit.burst': '' }, { rateLimit: null }],
    [{ keyTiers: ' {"gold": {"perKeyLimit": 1000}}' }, {}],
    [{ keyTiers: '{"gold": {"perKeyLimit": 1000}, "free":{}}' }, { keyTiers: { gold: { perKeyLimit: 1_000 }, free: {} } }],
    [{ keyTiers: '' }, { keyTiers: null }],
    [{ 'retention.failed.age': '90d' }, { retention: { completed: { age: 'forever', count: 5 }, failed: { age: '90d' } } }],
    [{ 'defaults.timeout': '1h' }, { defaults: { timeout: '1h', maxAttempts: 3, keep: 'forever' } }],
    [{ 'defaults.maxAttempts': '' }, { defaults: { timeout: null, keep: 'forever' } }],
    [{ 'defaults.keep': '1h' }, { defaults: { timeout: null, maxAttempts: 3, keep: '1h' } }],
    [
      { 'defaults.backoff.type': 'fixed', 'defaults.backoff.jitter': 'full' },
      { defaults: { timeout: null, maxAttempts: 3, keep: 'forever', backoff: { type: 'fixed', jitter: 'full' } } },
    ],
    [
      { keyOrder: 'strict', fairness: 'name', repeats: 'event' },
      { keyOrder: 'strict', fairness: 'name', repeats: 'event' },
    ],
  ])('%j asks for %j', (changes, body) => {
    expect(changesOf(fields, { ...fields, ...changes })).toEqual(body)
  })

  test('what cannot be read is named, with what can', () => {
    expect(
      errorsOf({
        concurrencyLimit: 'many',
        'rateLimit.period': '1s',
        'defaults.timeout': 'soon',
        keyTiers: '["gold"]',
        share: '2',
        'defaults.backoff.type': 'fixed',
      }),
    ).toEqual({
      'defaults.backoff.type': 'needs Delay',
      concurrencyLimit: 'must be a whole number, got many',
      'rateLimit.period': 'needs Starts',
      keyTiers: 'must be a JSON object, got ["gold"]',
      'defaults.timeout': 'must be a duration, such as 500ms, 30s, 5m, 2h or 7d, or none, got soon',
    })
    expect(errorsOf(fields)).toEqual({})
  })
})
