import { expect, test } from 'vitest'
import type { Api } from '../api/client.ts'
import { type Bulk, boundedAt, countOf, type Progress, runBulk } from './bulk.ts'

interface Job {
  finishedAt: string
  retried: number
  readonly isBlocked?: boolean
}

const BULK: Bulk = { word: 'retry', filter: { state: 'failed', queue: 'billing' }, what: 'failed jobs of billing' }
const NOW = Date.UTC(2025, 10, 23, 2, 20, 41)
const before = new Date(NOW - 1_000).toISOString()

/** An API with failed jobs, each of which fails again as soon as it is retried. */
function setUp(jobs: readonly Job[]) {
  const bodies: { readonly limit: number; readonly dryRun?: boolean }[] = []
  let clock = NOW
  const send: Api['send'] = async (_method, path, given) => {
    const body = given as { readonly filter: { readonly finishedBefore: string }; readonly limit: number; readonly dryRun?: boolean }
    bodies.push(body)
    expect(path).toBe('/v1/jobs:retry')
    const matched = jobs.filter(({ finishedAt }) => finishedAt < body.filter.finishedBefore).slice(0, body.limit)
    const skipped = matched.filter(({ isBlocked }) => isBlocked).length
    if (body.dryRun) return { matched: matched.length, changed: 0, skipped: {} }
    for (const job of matched.filter(({ isBlocked }) => !isBlocked)) {
      clock += 1
      job.finishedAt = new Date(clock).toISOString()
      job.retried++
    }
    return { matched: matched.length, changed: matched.length - skipped, skipped: skipped > 0 ? { blocked: skipped } : {} }
  }
  return { api: { send, get: async () => ({}) as never } satisfies Api, bodies }
}

const failed = (count: number, more: Partial<Job> = {}) =>
  Array.from({ length: count }, (): Job => ({ finishedAt: before, retried: 0, ...more }))

async function all(api: Api, bulk: Bulk, stopped = () => false): Promise<readonly Progress[]> {
  const progress: Progress[] = []
  for await (const each of runBulk(api, bulk, Number.POSITIVE_INFINITY, stopped)) progress.push(each)
  return progress
}

test('counts without changing anything', async () => {
  const jobs = failed(86)
  const { api, bodies } = setUp(jobs)
  expect(await countOf(api, boundedAt(BULK, NOW))).toBe(86)
  expect(bodies).toMatchObject([{ dryRun: true, limit: 100_000, filter: { state: 'failed', queue: 'billing' } }])
  expect(jobs.every(({ retried }) => retried === 0)).toBe(true)
})

test('works in slices, retries each job once, and never one that failed again', async () => {
  const jobs = failed(12_000)
  const { api } = setUp(jobs)
  const progress = await all(api, boundedAt(BULK, NOW))
  expect(progress.map(({ changed, isOver }) => [changed, isOver])).toEqual([
    [5_000, false],
    [10_000, false],
    [12_000, true],
  ])
  expect(jobs.every(({ retried }) => retried === 1)).toBe(true)
})

test('jobs that cannot be changed do not hide those behind them, and are counted once', async () => {
  const jobs = [...failed(5_000, { isBlocked: true }), ...failed(6_000), ...failed(7, { isBlocked: true })]
  const { api } = setUp(jobs)
  expect((await all(api, boundedAt(BULK, NOW))).at(-1)).toEqual({ changed: 6_000, skipped: { blocked: 5_007 }, isOver: true })
  expect(jobs.filter(({ retried }) => retried === 1)).toHaveLength(6_000)
})

test('stops between two slices', async () => {
  const { api, bodies } = setUp(failed(20_000))
  let slices = 0
  expect(await all(api, boundedAt(BULK, NOW), () => slices++ === 2)).toHaveLength(2)
  expect(bodies).toHaveLength(2)
})

test('jobs that have not ended are bounded by when they were enqueued', () => {
  const { filter } = boundedAt({ ...BULK, word: 'cancel', filter: { state: 'waiting' } }, NOW)
  expect(filter).toEqual({ state: 'waiting', enqueuedBefore: new Date(NOW).toISOString() })
})

test('a bound that was given stays if it is earlier, and jobs between two attempts are bounded by when they were enqueued', () => {
  const early = new Date(NOW - 1_000).toISOString()
  expect(boundedAt({ ...BULK, filter: { state: 'failed', finishedBefore: early } }, NOW).filter).toMatchObject({ finishedBefore: early })
  const { filter } = boundedAt({ ...BULK, filter: { state: 'scheduled', retrying: true } }, NOW)
  expect(filter).toMatchObject({ enqueuedBefore: new Date(NOW).toISOString() })
  expect(filter).not.toHaveProperty('finishedBefore')
})

test('ends when as many have changed as were counted', async () => {
  const { api, bodies } = setUp(failed(12_000))
  for await (const _ of runBulk(api, boundedAt(BULK, NOW), 5_000, () => false));
  expect(bodies).toHaveLength(1)
})
