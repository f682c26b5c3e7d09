import { type NameStats, type QueueStats, type Stats, TIMING_BOUNDS_MS } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from '../testing/openMetrics.ts'
import { openMetrics } from './openMetrics.ts'

const timing = { p50: 1, p95: 20, p99: 300, sum: 1_234, buckets: [0, 2, 0, 1] }
const queue: QueueStats = {
  scheduled: 0,
  waiting: 1,
  active: 2,
  blocked: 3,
  completed: 4,
  failed: 5,
  cancelled: 6,
  retrying: 0,
  paused: false,
  oldestWaitingMs: 1_500,
}
const nameOf = (name: string): NameStats => ({
  queue: 'q',
  name,
  started: 3,
  completed: 2,
  failed: 1,
  interrupted: 4,
  waitMs: timing,
  runMs: { ...timing, buckets: [] },
})
const statsOf = (queues: readonly string[], names: readonly string[]): Stats => ({
  paused: false,
  states: queue,
  totals: { enqueued: 9, completed: 4, failed: 5, cancelled: 6 },
  queues: Object.fromEntries(queues.map((name) => [name, queue])),
  definitions: [],
  node: 1,
  seq: 9,
  retrying: 3,
  failing: [],
  unserved: names.slice(0, 2).map((name) => ({ queue: 'q', name, waiting: 1 })),
  names: names.map(nameOf),
  workers: 2,
  writer: {
    turns: 7,
    turnSizeP50: 1,
    turnSizeP99: 9,
    commitMsP50: 0.5,
    commitMsP99: 4,
    reloads: 0,
    failedTurns: 0,
    mailboxDepth: 0,
    walBytes: 4_096,
    journalBytes: 512,
    draining: false,
  },
})

const OVERVIEW = { version: '1.2.3', uptimeMs: 90_500, schedules: { enabled: 3, paused: 1, failing: 0, complete: true } }

test('M11: schedules, the version and the uptime', () => {
  const samples = parse(openMetrics(statsOf([], []), OVERVIEW))
  const of = (family: string) => samples.filter((sample) => sample.family === family)
  expect(of('millrace_schedules')).toMatchObject([
    { value: 3, labels: { state: 'enabled' } },
    { value: 1, labels: { state: 'paused' } },
  ])
  expect(of('millrace_build')).toMatchObject([{ name: 'millrace_build_info', value: 1, labels: { version: '1.2.3' } }])
  expect(of('millrace_uptime_seconds')).toMatchObject([{ value: 90.5 }])
  expect(openMetrics(statsOf([], []), { ...OVERVIEW, version: undefined })).not.toContain('millrace_build')
})

test('Q7: queues and names, in base units', () => {
  const samples = parse(openMetrics(statsOf(['a'], ['x']), OVERVIEW))
  const of = (family: string) => samples.filter((sample) => sample.family === family)
  expect(of('millrace_jobs_enqueued')).toMatchObject([{ value: 9, labels: {} }])
  expect(of('millrace_jobs')).toContainEqual({
    family: 'millrace_jobs',
    name: 'millrace_jobs',
    labels: { queue: 'a', state: 'blocked' },
    value: 3,
  })
  expect(of('millrace_queue_oldest_waiting_seconds')).toMatchObject([{ value: 1.5 }])
  const buckets = of('millrace_job_wait_seconds').filter(({ name }) => name.endsWith('_bucket'))
  expect(buckets.map(({ labels, value }) => [labels['le'], value])).toEqual([
    ['0.001', 0],
    ['0.002', 2],
    ['0.004', 2],
    ...TIMING_BOUNDS_MS.slice(3).map((ms) => [String(ms / 1_000), 3]),
    ['+Inf', 3],
  ])
  expect(of('millrace_job_wait_seconds').slice(buckets.length)).toMatchObject([
    { name: 'millrace_job_wait_seconds_count', labels: { queue: 'q', name: 'x' }, value: 3 },
    { name: 'millrace_job_wait_seconds_sum', labels: { queue: 'q', name: 'x' }, value: 1.234 },
  ])
  expect(of('millrace_job_run_seconds').every(({ name, value }) => name.endsWith('_sum') || value === 0)).toBe(true)
  expect(of('millrace_writer_commit_seconds').map(({ value }) => value)).toEqual([0.0005, 0.004])
  expect(of('millrace_writer_wal_bytes')).toMatchObject([{ value: 4_096 }])
})

test('the room of the database and of its disk, where they are known', () => {
  const room = { bytes: 8_192, freeBytes: 4_096, walBytes: 0 }
  const told = (store: Stats['store']) =>
    parse(openMetrics({ ...statsOf([], []), ...(store !== undefined && { store }) }, OVERVIEW))
      .filter(({ family }) => /store|disk/.test(family))
      .map(({ family, value }) => [family, value])
  const own = [
    ['millrace_store_bytes', 8_192],
    ['millrace_store_free_bytes', 4_096],
  ]
  expect(told({ ...room, file: 'jobs.db', diskFreeBytes: 2 ** 40 })).toEqual([...own, ['millrace_disk_free_bytes', 2 ** 40]])
  expect(told(room)).toEqual(own)
  expect(told(undefined)).toEqual([])
})

test('whatever the names are, the text can be read, and says them', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('a"b', 'a\\', '\\n', 'a\nb', '}', '"'))
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 5 }), (names) => {
      const samples = parse(
        openMetrics(
          statsOf(
            names.filter((each) => each !== '__proto__'),
            names,
          ),
          OVERVIEW,
        ),
      )
      for (const each of names) expect(samples.some(({ labels }) => labels['name'] === each)).toBe(true)
    }),
  )
})

test('too many are left out, and counted', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)
  const samples = parse(openMetrics(statsOf(many(1_200), many(1_000)), OVERVIEW))
  expect(new Set(samples.map(({ labels }) => labels['queue'])).size).toBeLessThanOrEqual(1_002)
  expect(samples.filter(({ family }) => family === 'millrace_metrics_omitted')).toMatchObject([
    { labels: { kind: 'queue' }, value: 200 },
    { labels: { kind: 'name' }, value: 800 },
  ])
})
