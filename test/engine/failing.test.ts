/** A job name that fails stays among those that fail for as long as it does, in every answer that lists them. */
import type { KeepOptions } from '@millrace/core'
import { defineJob, type FailingName } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { statsLines } from '../../apps/millrace/src/cli/commands/stats.ts'
import { linesOf } from '../../apps/millrace/src/cli/commands/top.ts'
import type { Text } from '../../apps/millrace/src/cli/output/line.ts'
import type { Output } from '../../apps/millrace/src/cli/output/output.ts'
import { warningsOf } from '../../apps/millrace/src/cli/view/warnings.ts'
import { TOOLS } from '../../apps/millrace/src/mcp/tools.ts'

const TOKEN = 'test-token-0123456789abcdef'
const HOURS = 3
const charge = defineJob<boolean>({ name: 'charge', queue: 'billing', maxAttempts: 1 })
const bystander = defineJob<boolean>({ name: 'bystander', queue: 'billing', maxAttempts: 1 })
const flaky = defineJob({ name: 'flaky', queue: 'billing', maxAttempts: 2, backoff: { type: 'fixed', delay: '1s' } })

let t: TestEngine
beforeEach(() => begin())
afterEach(() => t[Symbol.asyncDispose]())

function begin(options: Parameters<typeof createTestEngine>[0] = {}): void {
  t = createTestEngine(options)
  const work = async ({ data }: { readonly data: boolean }) => {
    if (!data) throw new Error('declined')
  }
  t.engine.work([
    charge.handler(work),
    bystander.handler(work),
    flaky.handler(({ job }) => {
      if (job.run === 1) throw new Error('busy')
    }),
  ])
}

const failing = async (): Promise<readonly FailingName[]> => (await t.engine.stats({ names: 'none' })).failing
const names = async () => (await failing()).map(({ name }) => name)

/** Runs so many jobs of a name in a minute, of which so many fail, spread evenly over minutes. */
async function minute(at: number, perMinute: number, share: number): Promise<void> {
  const [from, to] = [at * perMinute, (at + 1) * perMinute].map(Math.floor) as [number, number]
  const outcomes = Array.from({ length: to - from }, (_, index) => {
    const number = from + index
    return Math.floor((number + 1) * share) === Math.floor(number * share)
  })
  await t.engine.enqueueMany([...outcomes.map((data) => ({ job: charge, data })), { job: bystander, data: true }])
  await t.advance('1m')
}

/** Returns the minutes of some hours in which the name was listed. */
async function listed(perMinute: number, share: number): Promise<readonly number[]> {
  const minutes: number[] = []
  for (let at = 0; at < HOURS * 60; at++) {
    await minute(at, perMinute, share)
    const now = await names()
    expect(now).not.toContain('bystander')
    if (now.includes('charge')) minutes.push(at)
  }
  return minutes
}

describe('a name that fails evenly for hours', () => {
  test.each([
    ['22 % of its runs', 20, 0.22, 2],
    ['all of its runs, every 30 seconds', 2, 1, 1],
    ['all of its runs, every 5 minutes', 0.2, 1, 14],
    ['6 % of its runs', 20, 0.06, 8],
  ])('is listed until it is over: %s', async (_what, perMinute, share, first) => {
    expect(await listed(perMinute, share)).toEqual(Array.from({ length: HOURS * 60 - first }, (_, index) => index + first))
    const [name] = await failing()
    expect(name?.firstAt).toBeLessThanOrEqual(t.clock.read().wall - (HOURS * 60 - first - 1) * 60_000)
    for (let at = 0; at < 10; at++) await minute(at, 20, 0)
    expect(await names()).toEqual([])
  })

  test.each([
    ['4 % of its runs', 20, 0.04],
    ['7 runs in 15 minutes', 5, 0.1],
  ])('is not listed if few fail: %s', async (_what, perMinute, share) => {
    expect(await listed(perMinute, share)).toEqual([])
  })
})

test('a name whose last runs all failed is listed for an hour, and no longer once its failed jobs are gone', async () => {
  await minute(0, 3, 1)
  await t.advance('58m')
  expect(await names()).toEqual(['charge'])
  await t.advance('2m')
  expect(await names()).toEqual([])
  await minute(0, 3, 1)
  expect(await names()).toEqual(['charge'])
  await t.engine.deleteMany({ state: 'failed' })
  expect(await names()).toEqual([])
})

describe('pruned jobs are not mended', () => {
  type Kept = KeepOptions | undefined
  test.for<readonly [what: string, engine: Kept, queue: Kept, job?: '10s' | 0]>([
    ['by the age of the engine', '10s', undefined],
    ['by the engine, which keeps none', { count: 0 }, undefined],
    ['by the age of the queue', undefined, '10s'],
    ['by the queue, which keeps none', undefined, { count: 0 }],
    ['by the keep of a job', undefined, undefined, '10s'],
    ['by the keep of a job, which is none', undefined, '1h', 0],
  ])('%s', async ([, engine, queue, keep]) => {
    await t[Symbol.asyncDispose]()
    begin(engine === undefined ? {} : { retention: { failed: engine } })
    if (queue !== undefined) await t.engine.queues.configure('billing', { retention: { failed: queue } })
    for (let index = 0; index < 3; index++) await t.engine.enqueue(charge, false, keep === undefined ? {} : { keep })
    await t.advance('5m')
    expect((await t.engine.list({ state: 'failed' })).jobs).toEqual([])
    expect(await names()).toEqual(['charge'])
  })

  test('a queue that keeps failed jobs for an hour is mended once they are deleted', async () => {
    await t.engine.queues.configure('billing', { retention: { failed: '1h' } })
    await minute(0, 3, 1)
    await t.advance('5m')
    expect(await names()).toEqual(['charge'])
    await t.engine.deleteMany({ state: 'failed' })
    expect(await names()).toEqual([])
  })
})

test('runs that are tried again count, and lose no job', async () => {
  for (let at = 0; at < 15; at++) {
    await t.engine.enqueue(flaky)
    if (at < 14) await t.advance('1m')
  }
  await t.advance(1)
  expect(await failing()).toMatchObject([{ name: 'flaky', failedJobs: 0, runs: 29, failed: 15 }])
})

test('every reader has the same names', async () => {
  for (let at = 0; at < 90; at++) await minute(at, 20, 0.22)
  const said = await failing()
  expect(said).toMatchObject([{ queue: 'billing', name: 'charge', runs: 300, failed: 66, failedJobs: 66 }])
  const { fetch } = createHttp(t.engine, { token: TOKEN })
  const answer = await fetch(new Request('http://localhost/v1/stats', { headers: { authorization: `Bearer ${TOKEN}` } }))
  expect(((await answer.json()) as { failing: unknown }).failing).toEqual(said)
  expect(warningsOf(await t.engine.stats(), [])).toEqual([
    expect.stringMatching(/^charge in billing fails since \S+ \S+Z: 66 of 300 runs in 15 minutes \(22 %\), 66 jobs permanently$/),
  ])
  const status = TOOLS.find(({ name }) => name === 'get_status') ?? expect.fail()
  expect(await status.call(t.engine, {}, { payloads: false } as never)).toMatchObject({ failing: said })
})

test('every reader says how many names its list leaves out', async () => {
  const all = Array.from({ length: 130 }, (_, index) => defineJob({ name: `f${index}`, maxAttempts: 1 }))
  t.engine.work(all.map((job) => job.handler(() => Promise.reject(new Error('declined')))))
  await t.engine.enqueueMany(all.flatMap((job) => [{ job }, { job }, { job }]))
  await t.engine.enqueueMany(Array.from({ length: 104 }, (_, index) => ({ job: `u${index}` })))
  await t.advance('1s')
  const leftOut = { failingLeftOut: 30, unservedLeftOut: 4 }
  const stats = await t.engine.stats({ names: 'none' })
  expect(stats).toMatchObject(leftOut)
  expect([stats.failing.length, stats.unserved.length]).toEqual([100, 100])
  const { fetch } = createHttp(t.engine, { token: TOKEN })
  const answer = await fetch(new Request('http://localhost/v1/stats', { headers: { authorization: `Bearer ${TOKEN}` } }))
  expect(await answer.json()).toMatchObject(leftOut)
  const more = ['no worker serves 4 more job names', 'failing: 30 more job names']
  expect(warningsOf(stats, []).filter((text) => text.includes(' more '))).toEqual(more)
  const out = { paint: (_: string, text: Text) => text, table: () => [] } as unknown as Output
  for (const text of more) expect(statsLines(stats, out)).toContain(text)
  expect(linesOf({ at: 0, stats, workers: [] }, out)).toContain(more[1])
  const status = TOOLS.find(({ name }) => name === 'get_status') ?? expect.fail()
  // Its own lists have 20 names, and 100 warnings.
  expect(await status.call(t.engine, {}, { payloads: false } as never)).toMatchObject({
    warningsLeftOut: 102,
    failingLeftOut: 110,
    unservedLeftOut: 84,
  })
})
