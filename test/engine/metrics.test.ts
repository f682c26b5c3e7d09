/** What `/metrics` says of jobs, held against what they did: by the clock of the test, to the millisecond. */
import { defineJob, TIMING_BOUNDS_MS } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse, type Sample } from '../../packages/http/src/testing/openMetrics.ts'

const TOKEN = 'test-token-0123456789abcdef'
const slow = defineJob<number>({ name: 'slow', queue: 'q', maxAttempts: 1 })

let t: TestEngine
beforeEach(() => {
  t = createTestEngine()
})
afterEach(() => t[Symbol.asyncDispose]())

async function scrape(): Promise<readonly Sample[]> {
  const { fetch } = createHttp(t.engine, { token: TOKEN })
  const response = await fetch(new Request('http://localhost/metrics', { headers: { authorization: `Bearer ${TOKEN}` } }))
  expect(response.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  return parse(await response.text())
}

/** How many took so long or less, by bound. */
function histogramOf(samples: readonly Sample[], family: string, name: string) {
  const of = (suffix: string) => samples.filter((sample) => sample.name === `${family}_${suffix}` && sample.labels['name'] === name)
  return {
    buckets: of('bucket').map(({ value }) => value),
    count: of('count')[0]?.value,
    sum: of('sum')[0]?.value,
  }
}

function expected(ms: readonly number[]) {
  const upTo = (bound: number) => ms.filter((each) => each <= bound).length
  return {
    buckets: [...TIMING_BOUNDS_MS.map(upTo), ms.length],
    count: ms.length,
    sum: ms.reduce((sum, each) => sum + each, 0) / 1_000,
  }
}

test('histograms of waits and runs count each job once, where its time is, and forget none', async () => {
  // One at a time: each waits for those before it. The eighth fails, which is a run like any other.
  const lasts = [0, 1, 2, 3, 4, 5, 1_000, 8, 1_024, 1_025, 70_000]
  t.engine.work([slow.handler(({ data, signal }) => run(data, signal))], { concurrency: 1 })
  await t.engine.enqueue('bystander')
  const run = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      t.clock.setTimer(ms, () => (ms === 8 ? reject(new Error('no')) : resolve()))
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  await t.engine.enqueueMany(lasts.map((data) => ({ job: slow, data })))
  await t.advance('2m')
  const samples = await scrape()
  const waits = lasts.map((_, index) => lasts.slice(0, index).reduce((sum, ms) => sum + ms, 0))
  expect(histogramOf(samples, 'millrace_job_run_seconds', 'slow')).toEqual(expected(lasts))
  expect(histogramOf(samples, 'millrace_job_wait_seconds', 'slow')).toEqual(expected(waits))
  expect(samples.filter(({ labels }) => labels['name'] === 'bystander').map(({ family }) => family)).toEqual(['millrace_unserved_jobs'])

  // More than the engine keeps for percentiles: the histogram is of all, and only grows.
  const quick = 3_000
  await t.engine.enqueueMany(Array.from({ length: quick }, () => ({ job: slow, data: 0 })))
  await t.advance(1)
  const later = await scrape()
  expect(histogramOf(later, 'millrace_job_run_seconds', 'slow')).toEqual(expected([...lasts, ...Array<number>(quick).fill(0)]))
  const { names } = await t.engine.stats()
  expect(names).toMatchObject([{ name: 'slow', started: lasts.length + quick, failed: 1, runMs: { p99: 0 } }])
})
