import { describe, expect, test } from 'vitest'
import { columnsOf, historyOf, NOW, nameOf, queueOf, queueStats, statsOf, workerOf } from '../../testing/inputs.ts'
import { firstJobCommand } from './firstJobCommand.ts'
import { PERIODS, periodOf } from './periods.ts'
import type { Problem } from './problems/problem.ts'
import { queueRows } from './queueRows.ts'
import { stripOf } from './strip.ts'
import { donePerSecond, isIdle, largestOf, throughputOf } from './throughput.ts'
import { timeAxis, timingRows } from './timings.ts'

const problem = (queue: string, severity: 'bad' | 'warn', waits?: 'behind'): Problem => ({
  ...{ id: queue, severity, icon: 'errors', title: '', text: '', queue },
  ...(waits !== undefined && { waits }),
})

test('the period is the last hour unless the address names another one', () => {
  expect([undefined, '6h', '14d', '2h', 'toString', ''].map(periodOf)).toEqual(['1h', '6h', '14d', '1h', '1h', '1h'])
})

describe('jobs per minute', () => {
  test('the minute that has begun is left out', () => {
    const total = columnsOf((minute) => ({ completed: minute === 59 ? 5 : 100, failed: 1 }))
    const { completed, failed, columnMs } = throughputOf(historyOf({}, total), PERIODS['1h'], NOW)
    expect(completed).toEqual(Array(59).fill(100))
    expect(failed).toHaveLength(59)
    expect(columnMs).toBe(60_000)
  })

  test('groups are per minute, and the last one of the minutes that have passed', () => {
    const total = columnsOf(() => ({ completed: 10, enqueued: 20 }))
    const { completed, enqueued } = throughputOf(historyOf({}, total), PERIODS['6h'], NOW)
    expect(completed).toEqual(Array(12).fill(10))
    expect(enqueued).toEqual(Array(12).fill(20))
  })

  test('the hour that has begun counts for the minutes that have passed', () => {
    const from = Date.UTC(2025, 10, 23, 2)
    const hours = { from: new Date(from).toISOString(), step: 'hour', queues: {} } as const
    const columns = { enqueued: [0, 0], completed: [600, 120], failed: [0, 0], cancelled: [0, 0] }
    expect(throughputOf({ ...hours, total: columns }, PERIODS['24h'], NOW).completed).toEqual([10, 10])
    expect(throughputOf({ ...hours, total: columns }, PERIODS['24h'], from + 3_630_000).completed).toEqual([10])
  })

  test('columns of completed and failed jobs stand on each other', () => {
    const total = columnsOf(() => ({ completed: 10, failed: 5, enqueued: 12 }))
    const throughput = throughputOf(historyOf({}, total), PERIODS['1h'], NOW)
    expect(largestOf(throughput)).toBe(15)
    expect(isIdle(throughput)).toBe(false)
    expect(isIdle(throughputOf(historyOf({}), PERIODS['1h'], NOW))).toBe(true)
  })

  test('the rate per second is of the last five whole minutes', () => {
    expect(donePerSecond(columnsOf((minute) => ({ completed: minute === 59 ? 9_999 : minute >= 54 ? 600 : 0 })))).toBe(10)
    expect(donePerSecond(undefined)).toBe(0)
  })
})

describe('queues', () => {
  const rowsOf = (seen: Partial<Parameters<typeof queueRows>[0]>) =>
    queueRows({ stats: statsOf(), queues: [], history: undefined, recent: undefined, period: PERIODS['1h'], problems: [], ...seen }, 8)

  test('the worst come first: red, amber, the oldest wait, the most jobs; paused ones after those that run', () => {
    const stats = statsOf({
      queues: {
        quiet: queueStats(),
        paused: queueStats({ paused: true, waiting: 3, oldestWaitingMs: 900_000 }),
        old: queueStats({ waiting: 1, oldestWaitingMs: 5_000 }),
        amber: queueStats({ waiting: 1, oldestWaitingMs: 100 }),
        red: queueStats(),
      },
    })
    const problems = [problem('amber', 'warn'), problem('red', 'warn'), problem('red', 'bad')]
    expect(rowsOf({ stats, problems }).map(({ name }) => name)).toEqual(['red', 'amber', 'old', 'quiet', 'paused'])
  })

  test('of queues without a problem, those that have lost the most jobs come first', () => {
    const stats = statsOf({ queues: { idle: queueStats(), old: queueStats({ waiting: 1, oldestWaitingMs: 5_000 }), lossy: queueStats() } })
    const history = historyOf({ lossy: columnsOf(() => ({ failed: 2 })), old: columnsOf(() => ({ failed: 1 })) })
    expect(rowsOf({ stats, history }).map(({ name }) => name)).toEqual(['lossy', 'old', 'idle'])
  })

  test('at most as many as there is room for', () => {
    const queues = Object.fromEntries(Array.from({ length: 1_000 }, (_, number) => [`q${number}`, queueStats({ waiting: number })]))
    expect(rowsOf({ stats: statsOf({ queues }) }).map(({ name }) => name)[0]).toBe('q999')
    expect(rowsOf({ stats: statsOf({ queues }) })).toHaveLength(8)
  })

  test('a row has what ended, what is full, and what is limited', () => {
    const stats = statsOf({
      queues: { media: queueStats({ waiting: 5, active: 4, oldestWaitingMs: 700_000 }) },
      unserved: ['a', 'b'].map((name) => ({ queue: 'media', name, waiting: 1 })),
    })
    const settings = { concurrencyLimit: 4, perKeyLimit: 1, rateLimit: { limit: 200, period: 1_000, burst: 200 } }
    const history = historyOf({ media: columnsOf(() => ({ enqueued: 5, completed: 3, failed: 1 })) })
    const [row] = rowsOf({
      stats,
      queues: [queueOf('media', settings)],
      history,
      recent: history,
      problems: [problem('media', 'bad', 'behind')],
    })
    expect(row).toMatchObject({ net: 60, failed: 60, limit: 4, isTight: true, severity: 'bad', waits: 'bad', donePerSecond: 0.05 })
    expect(row?.spark?.completed).toEqual(Array(30).fill(6))
    expect(row?.tags).toEqual([
      { text: 'nobody serves a and 1 more', tone: 'bad' },
      { text: 'per key 1', tone: '' },
      { text: '200 per s', tone: '' },
    ])
  })

  test('a full queue where nothing waits is not tight; one beyond the history has no chart', () => {
    const stats = statsOf({ queues: { media: queueStats({ active: 4 }) } })
    const [row] = rowsOf({ stats, queues: [queueOf('media', { concurrencyLimit: 4 })], history: historyOf({}) })
    expect(row).toMatchObject({ isTight: false, net: undefined, spark: undefined, failed: undefined, waits: undefined })
  })

  test('a name that is in the prototype of objects is a queue like others', () => {
    const stats = statsOf({ queues: { constructor: queueStats({ waiting: 1 }) } })
    expect(rowsOf({ stats, history: historyOf({}), recent: historyOf({}) })[0]).toMatchObject({
      name: 'constructor',
      spark: undefined,
      donePerSecond: 0,
    })
  })
})

test('counts by state, each with a note', () => {
  const states = { ...statsOf().states, waiting: 12_320, active: 17, scheduled: 1_515, failed: 112 }
  const stats = statsOf({ states, retrying: 41, workers: 4 })
  const total = columnsOf((minute) => ({ enqueued: 100, completed: 10, failed: minute === 0 ? 86 : 0 }))
  const history = historyOf({}, total)
  const cells = stripOf({ stats, workers: Array(3).fill(workerOf()), history, recent: history, period: '1 h' })
  expect(cells.map(({ state, value, of, note }) => [state, value, of, note])).toEqual([
    ['waiting', 12_320, undefined, '+5,314 in 1 h'],
    ['active', 17, ' / 48 slots', '4 workers'],
    ['retrying', 41, undefined, 'have failed before'],
    ['scheduled', 1_474, undefined, '0 schedules'],
    ['blocked', 0, undefined, 'wait for other jobs'],
    ['failed', 112, undefined, '86 new in 1 h'],
    ['completed', 0, undefined, '0.2 per s'],
  ])
  const isBad = (seen: typeof stats) =>
    stripOf({ stats: seen, workers: [], history, recent: history, period: '1 h' }).some(({ isBad }) => isBad)
  expect(isBad(stats)).toBe(true)
  expect(isBad(statsOf({ states: { ...states, failed: 0 } }))).toBe(false)
})

test('times of the busiest names that have run', () => {
  const names = [nameOf('media', 'transcode', 1_000), { ...nameOf('mail', 'new', 0), started: 0 }, nameOf('mail', 'send', 2)]
  const rows = timingRows(names, new Set(['media']), 6)
  expect(rows.map(({ name, isLate }) => [name, isLate])).toEqual([
    ['transcode', true],
    ['send', false],
  ])
  const begun = { ...nameOf('mail', 'begun', 1), completed: 0, failed: 0 }
  expect(timingRows([begun], new Set(), 6)[0]?.run).toBeUndefined()
  const twice = timingRows([nameOf('a', 'send', 1), nameOf('b', 'send', 1), nameOf('b', 'other', 1)], new Set(), 6)
  expect(twice.map(({ label }) => label)).toEqual(['a / send', 'b / send', 'other'])
  const { ticks, positionOf } = timeAxis(rows, 100, 400)
  expect(ticks.map(({ name }) => name)).toEqual(['1 ms', '10', '100', '1 s', '10'])
  expect([positionOf(0), positionOf(100), positionOf(1e9)]).toEqual([100, 250, 400])
})

test('the command of the first job is one that a shell takes', () => {
  expect(firstJobCommand('http://127.0.0.1:7410/queue', false)).toBe(
    `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '{"job":"hello","data":{"name":"Ada"}}' http://127.0.0.1:7410/queue/v1/jobs`,
  )
  expect(firstJobCommand('http://127.0.0.1:7410', true)).not.toContain('TOKEN')
})
