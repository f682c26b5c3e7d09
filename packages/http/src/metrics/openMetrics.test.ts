import type { NameStats, QueueStats, Stats } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openMetrics } from './openMetrics.ts'

const percentiles = { p50: 1, p95: 20, p99: 300 }
const queue: QueueStats = {
  scheduled: 0,
  waiting: 1,
  active: 2,
  blocked: 3,
  completed: 4,
  failed: 5,
  cancelled: 6,
  paused: false,
  oldestWaitingMs: 1_500,
}
const nameOf = (name: string): NameStats => ({
  queue: 'q',
  name,
  started: 3,
  completed: 2,
  failed: 1,
  waitMs: percentiles,
  runMs: percentiles,
})
const statsOf = (queues: readonly string[], names: readonly string[]): Stats => ({
  states: queue,
  totals: { enqueued: 9, completed: 4, failed: 5, cancelled: 6 },
  queues: Object.fromEntries(queues.map((name) => [name, queue])),
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

interface Sample {
  readonly family: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A strict reading of OpenMetrics 1.0, as far as gauges, counters and summaries go. */
function parse(text: string): Sample[] {
  expect(text.endsWith('\n# EOF\n')).toBe(true)
  const lines = text.split('\n').slice(0, -2)
  const types = new Map<string, string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  let family = ''
  for (const line of lines) {
    const meta = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    if (meta !== null) {
      const [, what, name = '', rest = ''] = meta
      if (what === 'TYPE') {
        expect(types.has(name), `${name} is there twice`).toBe(false)
        expect(['gauge', 'counter', 'summary']).toContain(rest)
        types.set(name, rest)
        family = name
      }
      expect(name).toBe(family)
      if (what === 'UNIT') expect(name.endsWith(`_${rest}`)).toBe(true)
      continue
    }
    const parts = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/.exec(line)
    expect(parts, line).not.toBeNull()
    const [, name, inner = '', value] = parts as RegExpExecArray
    const type = types.get(family)
    expect(name, line).toBe(type === 'counter' ? `${family}_total` : family)
    const labels = Object.fromEntries(
      [...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [
        key as string,
        (text as string).replaceAll(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
      ]),
    )
    if (type === 'summary') expect(Number(labels['quantile'])).toBeGreaterThan(0)
    const key = `${family} ${JSON.stringify(labels)}`
    expect(seen.has(key), `${key} is there twice`).toBe(false)
    seen.add(key)
    samples.push({ family, labels, value: Number(value) })
  }
  return samples
}

test('queues and names, in base units', () => {
  const samples = parse(openMetrics(statsOf(['a'], ['x'])))
  const of = (family: string) => samples.filter((sample) => sample.family === family)
  expect(of('millrace_jobs_enqueued')).toMatchObject([{ value: 9, labels: {} }])
  expect(of('millrace_jobs')).toContainEqual({ family: 'millrace_jobs', labels: { queue: 'a', state: 'blocked' }, value: 3 })
  expect(of('millrace_queue_oldest_waiting_seconds')).toMatchObject([{ value: 1.5 }])
  expect(of('millrace_job_run_seconds').map(({ labels, value }) => [labels['quantile'], value])).toEqual([
    ['0.5', 0.001],
    ['0.95', 0.02],
    ['0.99', 0.3],
  ])
  expect(of('millrace_writer_commit_seconds').map(({ value }) => value)).toEqual([0.0005, 0.004])
  expect(of('millrace_writer_wal_bytes')).toMatchObject([{ value: 4_096 }])
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
        ),
      )
      for (const each of names) expect(samples.some(({ labels }) => labels['name'] === each)).toBe(true)
    }),
  )
})

test('too many are left out, and counted', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)
  const samples = parse(openMetrics(statsOf(many(1_200), many(1_000))))
  expect(new Set(samples.map(({ labels }) => labels['queue'])).size).toBeLessThanOrEqual(1_002)
  expect(samples.filter(({ family }) => family === 'millrace_metrics_omitted')).toMatchObject([
    { labels: { kind: 'queue' }, value: 200 },
    { labels: { kind: 'name' }, value: 800 },
  ])
})
