import { describe, expect, test } from 'vitest'
import type { Failure, StatsAnswer } from '../../api/answers.ts'
import {
  before,
  failingOf,
  failureOf,
  inputsOf,
  NOW,
  nameOf,
  queueOf,
  queueStats,
  scheduleOf,
  statsOf,
  workerOf,
  writerOf,
} from '../../testing/inputs.ts'
import type { Inputs } from './problems/problem.ts'
import { crowdedSince } from './problems/writer.ts'
import { problemsOf } from './problems.ts'

const MIN = 60_000
const H = 60 * MIN

/** Severity, title and text of each problem. */
const told = (inputs: Partial<Inputs>) => problemsOf(inputsOf(inputs)).map(({ severity, title, text }) => `${severity}: ${title} ${text}`)
const ids = (inputs: Partial<Inputs>) => problemsOf(inputsOf(inputs)).map(({ id }) => id)
const withQueues = (queues: StatsAnswer['queues'], more: Partial<StatsAnswer> = {}) => ({ stats: statsOf({ queues, ...more }) })

test('all is well', () => {
  const calm = {
    stats: statsOf({ queues: { mail: queueStats({ waiting: 5, oldestWaitingMs: 900 }), idle: queueStats({ paused: true }) } }),
    workers: [workerOf()],
    failures: [failureOf({ trend: new Array(24).fill(3) })],
    schedules: [scheduleOf({ lastResult: { state: 'completed' } }), scheduleOf()],
  }
  expect(told(calm)).toEqual([])
})

test('names beyond those that the engine lists are told', () => {
  const unserved = [{ queue: 'webhooks', name: 'post-event', waiting: 1 }]
  const stats = statsOf({ unserved, unservedLeftOut: 1, failing: [failingOf({ failedJobs: 0 })], failingLeftOut: 30 })
  const more = told({ stats }).filter((text) => text.endsWith('list here'))
  expect(more).toEqual(['bad: Nobody serves 1 more job name too many to list here', 'warn: 30 more job names fail too many to list here'])
})

describe('names that nobody serves', () => {
  const stats = statsOf({
    queues: { webhooks: queueStats({ waiting: 3_174, oldestWaitingMs: 14 * MIN }) },
    unserved: [{ queue: 'webhooks', name: 'post-event', waiting: 3_174 }],
  })

  test('are told, with the jobs and a pause', () => {
    expect(told({ stats })).toEqual(['bad: Nobody serves post-event in webhooks: 3,174 jobs wait, the oldest in the queue for 14 m 00 s'])
    expect(problemsOf(inputsOf({ stats }))[0]).toMatchObject({
      tag: 'since 02:58',
      show: '/jobs?state=waiting&q=queue%3Awebhooks+name%3Apost-event',
      remedy: { label: 'Pause queue', does: { action: { path: '/v1/queues/webhooks/pause' } } },
    })
  })

  test('a queue that is paused already is not paused again', () => {
    const paused = statsOf({ ...stats, queues: { webhooks: queueStats({ waiting: 1, paused: true }) } })
    expect(problemsOf(inputsOf({ stats: paused }))[0]).not.toHaveProperty('remedy')
  })

  test('without any worker it is one problem', () => {
    const none = statsOf({ ...stats, workers: 0, states: { ...stats.states, waiting: 3_174 } })
    expect(told({ stats: none })).toEqual(['bad: No worker is attached 3,174 jobs wait, the oldest for 14 m 00 s'])
  })
})

describe('jobs that wait for longer than usual', () => {
  const waiting = (oldestWaitingMs: number, usualMs?: number) => ({
    ...withQueues(
      { media: queueStats({ waiting: 9, active: 4, oldestWaitingMs }) },
      { names: usualMs === undefined ? [] : [nameOf('media', 'transcode', usualMs), nameOf('mail', 'send', 1)] },
    ),
  })

  test.each([
    ['a minute is nothing', waiting(MIN, 10), []],
    ['more than a minute, and ten times the usual', waiting(MIN + 1, 6_000), ['warn']],
    ['less than ten times the usual', waiting(MIN + 1, 6_001), []],
    ['more than ten minutes', waiting(10 * MIN + 1, 1_000), ['bad']],
    ['more than ten minutes, as usual', waiting(11 * MIN, 11 * MIN), ['warn']],
    ['jobs of which none has run', waiting(2 * MIN), ['warn']],
  ])('%s', (_what, inputs, severities) => {
    expect(problemsOf(inputsOf(inputs)).map(({ severity }) => severity)).toEqual(severities)
  })

  test.each([
    ['a wait up to alertAfter', 2 * MIN, 2 * MIN, []],
    ['a longer wait', 2 * MIN + 1, 2 * MIN, ['bad']],
    ['a very long wait within alertAfter', H, 2 * H, []],
    ['a short wait beyond alertAfter', 501, 500, ['bad']],
  ])('alertAfter decides alone: %s', (_what, waitMs, alertAfter, severities) => {
    const inputs = { ...waiting(waitMs, 1), queues: [queueOf('media', { alertAfter }), queueOf('other', { alertAfter: 1 })] }
    expect(problemsOf(inputsOf(inputs)).map(({ severity }) => severity)).toEqual(severities)
  })

  test('are told with the slots that are taken', () => {
    const inputs = { ...waiting(12 * MIN + 41_000, 1_400), queues: [queueOf('media', { concurrencyLimit: 4 })] }
    expect(told(inputs)).toEqual(['bad: media is falling behind the oldest job waits 12 m 41 s, usually 1.4 s; 4 of 4 slots are taken'])
  })

  test('the one that waits longest comes first', () => {
    const queues = { a: queueStats({ oldestWaitingMs: 2 * MIN }), b: queueStats({ oldestWaitingMs: 5 * MIN }) }
    expect(ids(withQueues(queues))).toEqual(['behind b', 'behind a'])
  })

  test('where they are paused, or nobody serves them, that is the problem', () => {
    const queues = {
      paused: queueStats({ paused: true, waiting: 20, oldestWaitingMs: H }),
      nobody: queueStats({ waiting: 2, oldestWaitingMs: H }),
    }
    expect(ids(withQueues(queues, { unserved: [{ queue: 'nobody', name: 'x', waiting: 2 }] }))).toEqual([
      'unserved nobody x',
      'paused paused',
    ])
  })
})

describe('failures', () => {
  test('a kind that is new within the hour, with the most first', () => {
    const failures = [
      failureOf({ firstAt: before(18 * MIN) }),
      failureOf({ fingerprint: 'f00', queue: 'media', name: 'transcode', error: 'TypeError', count: 600, firstAt: before(59 * MIN) }),
      failureOf({ fingerprint: 'old', firstAt: before(H) }),
    ]
    expect(told({ failures })).toEqual([
      'bad: TypeError in media / transcode: 600 runs failed since 02:13',
      'bad: PaymentDeclined in billing / charge: 253 runs failed since 02:54',
    ])
    expect(problemsOf(inputsOf({ failures }))[1]).toMatchObject({
      message: 'card ending 67055 declined',
      show: '/errors?group=084e2abb',
      tag: 'new',
      remedy: {
        does: {
          bulk: {
            word: 'retry',
            filter: { state: 'failed', queue: 'billing', name: 'charge', fingerprint: '084e2abb' },
            what: 'failed jobs of billing / charge with PaymentDeclined, such as “card ending 67055 declined”',
          },
        },
      },
    })
  })

  describe('whose jobs are all fixed', () => {
    const recently = failureOf({ firstAt: before(18 * MIN), lastAt: before(MIN) })
    const fixed = queueStats({ completed: 253, retrying: 0 })
    test.each([
      ['none has failed or is tried again', { failures: [recently], ...withQueues({ billing: fixed }) }, []],
      ['one has failed', { failures: [recently], ...withQueues({ billing: { ...fixed, failed: 1 } }) }, ['bad']],
      ['one is tried again', { failures: [recently], ...withQueues({ billing: { ...fixed, retrying: 1 } }) }, ['bad']],
      ['a run failed a moment ago', { failures: [{ ...recently, lastAt: before(MIN - 1) }], ...withQueues({ billing: fixed }) }, ['bad']],
      ['one waits', { failures: [recently], ...withQueues({ billing: { ...fixed, waiting: 1 } }) }, ['bad']],
      ['one runs', { failures: [recently], ...withQueues({ billing: { ...fixed, active: 1 } }) }, ['bad']],
      [
        'one runs, and no run has failed for 10 minutes',
        { failures: [{ ...recently, lastAt: before(10 * MIN) }], ...withQueues({ billing: { ...fixed, active: 1 } }) },
        [],
      ],
      [
        'a queue that keeps no failed jobs',
        {
          failures: [recently],
          queues: [queueOf('billing', { retention: { failed: { ageMs: 0, count: 1 } } })],
          ...withQueues({ billing: fixed }),
        },
        ['bad'],
      ],
      [
        'a queue that keeps failed jobs for long',
        {
          failures: [recently],
          queues: [queueOf('billing', { retention: { failed: { ageMs: H, count: 1 } } })],
          ...withQueues({ billing: fixed }),
        },
        [],
      ],
      ['jobs of another queue', { failures: [recently], ...withQueues({ mail: fixed }) }, ['bad']],
    ])('%s', (_what, inputs, severities) => {
      expect(problemsOf(inputsOf(inputs)).map(({ severity }) => severity)).toEqual(severities)
    })
  })

  test('jobs that only waited for one that failed are no problem of their own', () => {
    const failures = [failureOf({ firstAt: before(MIN), error: 'ParentFailedError', count: 900 }), failureOf({ firstAt: before(MIN) })]
    expect(told({ failures })).toEqual(['bad: PaymentDeclined in billing / charge: 253 runs failed since 03:11'])
  })

  /** So many failed runs in each hour before the last ones, which are given. */
  const rising = (usual: number, last: readonly number[], changes: Partial<Failure> = {}) => ({
    failures: [failureOf({ trend: [...new Array(24 - last.length).fill(usual), ...last], ...changes })],
  })

  test.each([
    ['ten times as often as before', rising(12, [25]), ['bad']],
    ['not quite so often', rising(12, [24]), []],
    ['few, after none', rising(0, [9]), []],
    ['ten, after none', rising(0, [10]), ['bad']],
    ['over', rising(12, [25], { lastAt: before(11 * MIN) }), []],
    ['an hour that has just begun, with the one before', { ...rising(12, [125, 0]), now: NOW - 10 * MIN }, ['bad']],
    ['the same, not quite so often', { ...rising(12, [124, 0]), now: NOW - 10 * MIN }, []],
    ['a kind that is two hours old, as often as before', rising(0, [0, 12, 12, 25], { firstAt: before(2 * H) }), []],
    ['a kind that is two hours old, ten times as often', rising(0, [0, 12, 12, 28], { firstAt: before(2 * H) }), ['bad']],
    ['an engine that knows no trends', { failures: [failureOf()] }, []],
  ])('%s', (_what, inputs, severities) => {
    expect(problemsOf(inputsOf(inputs)).map(({ severity }) => severity)).toEqual(severities)
  })

  test('how often it was before is told by the hour', () => {
    expect(told(rising(12, [250]))).toEqual(['bad: PaymentDeclined in billing / charge: 250 runs failed since 03:00, usually 12 an hour'])
  })
})

describe('a name that fails', () => {
  const stats = statsOf({ failing: [failingOf()], queues: { billing: queueStats({ failed: 388 }) } })

  test('is a problem however long it lasts, and however usual it has become', () => {
    for (const hours of [1, 3, 12, 24, 240]) {
      const failures = [failureOf({ firstAt: before(hours * H), trend: new Array(24).fill(66) })]
      const name = failingOf({ firstAt: NOW - hours * H })
      expect(ids({ failures, stats: statsOf({ ...stats, failing: [name] }) })).toEqual(['failure 084e2abb billing charge'])
    }
  })

  test('has the kind that fails most, with its message and remedy', () => {
    const failures = [
      failureOf({ fingerprint: 'few', trend: [...new Array(22).fill(0), 2, 2] }),
      failureOf({ trend: [...new Array(22).fill(0), 40, 9] }),
      failureOf({ fingerprint: 'past', lastAt: before(3 * H), trend: new Array(24).fill(99) }),
      failureOf({ fingerprint: 'elsewhere', queue: 'other', trend: new Array(24).fill(99) }),
    ]
    expect(told({ failures, stats })).toEqual([
      'bad: PaymentDeclined in billing / charge: 66 of 300 runs failed in 15 min (22 %), 66 jobs permanently',
    ])
    expect(problemsOf(inputsOf({ failures, stats }))[0]).toMatchObject({
      message: 'card ending 67055 declined',
      tag: 'since 00:42',
      show: '/errors?group=084e2abb',
      queue: 'billing',
      remedy: { does: { bulk: { filter: { fingerprint: '084e2abb' } } } },
    })
  })

  test('is one problem with its kind that is new', () => {
    const failures = [failureOf({ firstAt: before(18 * MIN) })]
    expect(told({ failures, stats })).toEqual([
      'bad: PaymentDeclined in billing / charge: 66 of 300 runs failed in 15 min (22 %), 66 jobs permanently, since 02:54',
    ])
  })

  test('is told without a kind that is known', () => {
    expect(told({ stats })).toEqual(['bad: charge fails in billing: 66 of 300 runs failed in 15 min (22 %), 66 jobs permanently'])
    expect(problemsOf(inputsOf({ stats }))[0]).toMatchObject({ show: '/jobs?state=failed&q=queue%3Abilling+name%3Acharge' })
  })

  test.each([
    ['no job is lost', { failedJobs: 0 }, 'warn', 'in billing: 66 of 300 runs failed in 15 min (22 %)'],
    ['no run completes', { failedJobs: 0, runs: 2, failed: 2, streak: 9 }, 'bad', 'in billing: the last 9 runs failed'],
  ])('is red or amber by harm: %s', (_what, changes, severity, text) => {
    const failing = [failingOf(changes)]
    expect(problemsOf(inputsOf({ stats: statsOf({ failing }) }))).toMatchObject([{ severity, text }])
  })
})

describe('what is paused', () => {
  test('a queue with jobs that wait', () => {
    const queues = {
      default: queueStats({ paused: true, waiting: 20, oldestWaitingMs: 3 * MIN + 10_000 }),
      empty: queueStats({ paused: true }),
    }
    expect(told(withQueues(queues))).toEqual(['warn: default is paused 20 jobs wait, the oldest for 3 m 10 s'])
    expect(problemsOf(inputsOf(withQueues(queues)))[0]?.remedy).toMatchObject({ does: { action: { path: '/v1/queues/default/resume' } } })
  })

  test('all queues: one problem, whatever each is', () => {
    const queues = { a: queueStats({ paused: true, waiting: 2, oldestWaitingMs: H }), b: queueStats({ waiting: 1, oldestWaitingMs: H }) }
    const inputs = withQueues(queues, { paused: true, states: { ...statsOf().states, waiting: 3 } })
    expect(told(inputs)).toEqual(['warn: All queues are paused no job starts; 3 jobs wait'])
  })

  test('a queue with any name is resumed', () => {
    const inputs = withQueues({ 'a/b c': queueStats({ paused: true, waiting: 1 }) })
    expect(problemsOf(inputsOf(inputs))[0]?.remedy).toMatchObject({ does: { action: { path: '/v1/queues/a%2Fb%20c/resume' } } })
  })
})

test('workers that are away, and those with runs that do not end', () => {
  const workers = [workerOf(), workerOf({ id: 'w2', away: true, lastSeenAt: before(2 * MIN) }), workerOf({ id: 'w3', zombies: 1 })]
  expect(told({ workers })).toEqual([
    'warn: Worker w2 is away on fra, last heard 2 min ago; it holds 3 jobs until their leases end',
    'warn: Worker w3 has runs that do not end on fra: 1 run ignored the abort and may still be working; restart the worker',
  ])
})

test('a writer that refuses new work comes first', () => {
  const stats = statsOf({ writer: writerOf({ draining: true, walBytes: 12e6 }), unserved: [{ queue: 'a', name: 'b', waiting: 1 }] })
  expect(told({ stats })[0]).toBe('bad: New jobs are refused the disk is full, or a slow reader lets the write-ahead log grow (12 MB)')
})

test('a mailbox that is full for ten seconds', () => {
  const stats = statsOf({ writer: writerOf({ mailboxDepth: 4_000 }) })
  const { now } = inputsOf()
  expect(told({ stats, crowdedSince: now - 9_999 })).toEqual([])
  expect(told({ stats, crowdedSince: now - 10_000 })).toEqual([
    'warn: The mailbox stays full 4,000 commands wait for the writer; new ones may be refused as busy',
  ])
  expect(crowdedSince(4_000, undefined, 7)).toBe(7)
  expect(crowdedSince(4_000, 3, 7)).toBe(3)
  expect(crowdedSince(99, 3, 7)).toBeUndefined()
})

test('a schedule whose last job failed, unless it is paused', () => {
  const lastResult = { state: 'failed', error: { name: 'Error', message: 'EACCES' } } as const
  const schedules = [scheduleOf({ lastResult, lastJobId: '0199' }), scheduleOf({ id: 'off', paused: true, lastResult })]
  expect(told({ schedules })).toEqual(['warn: Schedule nightly failed its last report failed: Error'])
  expect(problemsOf(inputsOf({ schedules }))[0]).toMatchObject({
    show: '/jobs/0199',
    message: 'EACCES',
    remedy: { label: 'Run now', does: { action: { path: '/v1/schedules/nightly/trigger' } } },
  })
})

test('red comes before amber', () => {
  const inputs = {
    ...withQueues({ default: queueStats({ paused: true, waiting: 1 }) }),
    workers: [workerOf({ away: true })],
    failures: [failureOf({ firstAt: before(1_000) })],
  }
  expect(problemsOf(inputsOf(inputs)).map(({ severity }) => severity)).toEqual(['bad', 'warn', 'warn'])
})
