/** Handlers of many jobs through the public interface, under the virtual clock. */
import { type BatchItem, defineJob, JobCancelledError, JobFailedError } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const collect = defineJob<number>({ name: 'collect', backoff: { type: 'fixed', delay: '10s' }, timeout: '1m' })
const other = defineJob({ name: 'other' })

/** Enqueues so many; their data counts from 1. */
const enqueue = (count: number) => t.engine.enqueueMany(Array.from({ length: count }, (_, index) => ({ job: collect, data: index + 1 })))

test('N7: each job completes, is tried again, or comes later by its own outcome', async () => {
  const batches: number[][] = []
  const handler = collect.handler(
    (items) => {
      batches.push(items.map(({ data }) => data))
      return items.map(({ data, job }) => {
        if (data === 2 && job.attempt === 1) return { error: new Error('not yet') }
        return data === 3 && job.run === 1 ? { snooze: '5s' } : { output: data * 2 }
      })
    },
    { batch: { size: 4, maxWait: '2s' } },
  )
  t.engine.work([handler, other.handler(() => 'alone')])
  const handles = await enqueue(3)
  expect(await (await t.engine.enqueue(other)).result()).toBe('alone')
  await t.advance(1_999)
  expect(batches).toEqual([])
  await t.advance(1)
  expect(batches).toEqual([[1, 2, 3]])
  // The snoozed one after 5 s, the failed one after 10 s, each after its wait for company.
  await t.advance('20s')
  expect(batches.slice(1)).toEqual([[3], [2]])
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([2, 4, 6])
  const [, failed, snoozed] = await Promise.all(handles.map(({ id }) => t.engine.get(id)))
  expect([failed?.attempt, snoozed?.attempt, snoozed?.run]).toEqual([2, 1, 2])
})

test('what is collected counts as running: jobs, and their weight', async () => {
  const entered: number[] = []
  const handler = collect.handler(
    (items) => {
      entered.push(items.length)
      return new Promise(() => {})
    },
    { batch: { size: 4, maxWait: '10s' } },
  )
  t.engine.work(handler, { concurrency: 6, abortGrace: 0 })
  await enqueue(10)
  await quiet()
  expect(entered).toEqual([4])
  expect((await t.engine.stats()).states).toMatchObject({ active: 6, waiting: 4 })
})

test('one that is cancelled, and one that runs out of time, end by themselves; the others as the handler says', async () => {
  let answer: () => void = () => {}
  let items: readonly BatchItem<number>[] = []
  const handler = collect.handler(
    (given) => {
      items = given
      return new Promise((resolve) => {
        answer = () => resolve(given.map(({ data }) => ({ output: data })))
      })
    },
    { batch: { size: 3 } },
  )
  t.engine.work(handler, { abortGrace: '5s' })
  const [first, second] = await enqueue(2)
  const third = await t.engine.enqueue(collect, 3, { timeout: '20s', maxAttempts: 1 })
  await quiet()
  await t.engine.cancel(second?.id as string)
  await t.advance('5s')
  await expect(second?.result()).rejects.toThrow(JobCancelledError)
  await t.advance('20s')
  await expect(third.result()).rejects.toThrow(JobFailedError)
  expect(items.map(({ signal }) => signal.aborted)).toEqual([false, true, true])
  answer()
  expect(await first?.result()).toBe(1)
})

test('a stop gives back what is collected, without an attempt; another worker takes it', async () => {
  const seen: unknown[] = []
  const handler = (worker: string) =>
    collect.handler(
      (items) => {
        for (const { data, job } of items) seen.push([worker, data, job.attempt])
        return items.map(() => ({ output: worker }))
      },
      { batch: { size: 3, maxWait: '10s' } },
    )
  const worker = t.engine.work(handler('first'))
  const [one, two] = await enqueue(2)
  await quiet()
  await worker.stop()
  expect(seen).toEqual([])
  t.engine.work(handler('second'))
  await t.advance('10s')
  expect([await one?.result(), await two?.result()]).toEqual(['second', 'second'])
  expect(seen).toEqual([
    ['second', 1, 1],
    ['second', 2, 1],
  ])
})

test('jobs that an item enqueues are created with its completion, and not where it fails', async () => {
  const handler = collect.handler(
    (items) => {
      for (const { data, enqueue: add } of items) add('child', data)
      return items.map(({ data }) => (data === 1 ? { output: null } : { error: new Error('no') }))
    },
    { batch: { size: 2 } },
  )
  t.engine.work(handler)
  const [first] = await enqueue(2)
  await first?.result()
  await quiet()
  expect((await t.engine.list({ name: 'child' })).jobs.map(({ data }) => data)).toEqual([1])
})
