/** Jobs that wait for jobs that they create, through the public interface, under the virtual clock. */
import { defineJob, type Parent } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const site = defineJob<{ pages: number }, string[]>({ name: 'site', maxAttempts: 1 })
const page = defineJob<{ place: number }, { words: number }>({ name: 'page', maxAttempts: 1 })
const pageHandler = page.handler(({ data: { place } }) => {
  if (place === 13) throw new Error('not found')
  return { words: place * 100 }
})

test('a handler joins jobs in one place: they run there, and their outputs come back in order', async () => {
  const begun: number[] = []
  t.engine.work(
    [
      pageHandler,
      site.handler(async ({ data, join, job }) => {
        begun.push(job.run)
        const pages = await join('pages', () => Array.from({ length: data.pages }, (_, place) => page.job({ place })))
        const seen: string[] = []
        for await (const { ref, state, output, error } of pages) {
          expectTypeOf(output).toEqualTypeOf<{ words: number } | undefined>()
          seen.push(`${ref} ${state} ${output?.words ?? error?.message}`)
        }
        return seen.slice(-3)
      }),
    ],
    { concurrency: 1 },
  )
  const handle = await t.engine.enqueue(site, { pages: 14 })
  expect(await handle.result()).toEqual(['pages/11 completed 1100', 'pages/12 completed 1200', 'pages/13 failed not found'])
  expect(begun).toEqual([1, 2])
  expect(await t.engine.get(handle.id)).toMatchObject({ state: 'completed', attempt: 1, run: 2 })
})

test('joins follow one another, and those that are joined join others', async () => {
  const tree = defineJob<number, number>({ name: 'tree' })
  t.engine.work([
    tree.handler(async ({ data, join }) => {
      if (data === 0) return 1
      let leaves = 0
      for (const side of ['left', 'right'])
        for await (const { output } of await join(side, [tree.job(data - 1)])) leaves += output as number
      return leaves
    }),
  ])
  expect(await (await t.engine.enqueue(tree, 4)).result()).toBe(16)
  expect((await t.engine.stats()).states).toMatchObject({ completed: 31, blocked: 0 })
})

test('an error after a join is another attempt, which does not join again', async () => {
  const picky = defineJob({ name: 'picky', maxAttempts: 3, backoff: { type: 'fixed', delay: '1m' } })
  t.engine.work([
    pageHandler,
    picky.handler(async ({ join, job }) => {
      const bad: Parent[] = []
      for await (const parent of await join('pages', [page.job({ place: 13 }), page.job({ place: 1 })]))
        if (parent.state !== 'completed') bad.push(parent)
      if (bad.length > 0 && job.attempt < 3) throw new Error(`${bad.length} failed`)
      return job.attempt
    }),
  ])
  const handle = await t.engine.enqueue(picky)
  await t.advance('1m')
  await t.advance('1m')
  expect(await handle.result()).toBe(3)
  expect((await t.engine.list({ name: 'page' })).jobs.map(({ state, run }) => [state, run])).toEqual([
    ['completed', 1],
    ['failed', 1],
  ])
})

test('what it waits for is shown: by its state, as its flow, and by its events', async () => {
  const events: string[] = []
  t.engine.work([site.handler(async ({ join }) => (await join('pages', [page.job({ place: 1 })])) && [])])
  t.engine.on('updated', ({ jobId, runAt }) => events.push(`${jobId} ${runAt}`))
  const { id } = await t.engine.enqueue(site, { pages: 1 })
  await quiet()
  expect(await t.engine.get(id)).toMatchObject({ state: 'blocked', attempt: 0, flow: { id, ref: 'site', parents: 1 } })
  const flow = await t.engine.flows.get(id)
  const [joined] = (await t.engine.list({ name: 'page' })).jobs
  expect(flow?.jobs).toMatchObject([{ id, state: 'blocked', dependsOn: [{ id: joined?.id, ref: 'pages/0', told: undefined }] }])
  expect((await t.engine.flows.list()).flows).toMatchObject([{ id, state: 'running' }])
  expect(events).toEqual([`${id} undefined`])
  // Its own flow is the jobs that were joined with it.
  expect((await t.engine.flows.get(joined?.id as string))?.jobs).toMatchObject([{ id: joined?.id, ref: 'pages/0' }])
})

test('a queue that has no room for what it joins: nothing of it is there, and the run ends when it has', async () => {
  await t.engine.queues.configure('narrow', { maxLength: 1 })
  const holder = await t.engine.enqueue('holder', 0, { queue: 'narrow' })
  t.engine.work([pageHandler, site.handler(async ({ join }) => (await join('pages', [page.job({ place: 1 }, { queue: 'narrow' })])) && [])])
  const { id } = await t.engine.enqueue(site, { pages: 1 })
  await t.advance('1s')
  expect((await t.engine.get(id))?.state).toBe('active')
  expect((await t.engine.list({ name: 'page' })).jobs).toEqual([])
  await t.engine.cancel(holder.id)
  await t.advance('1m')
  expect(await t.engine.get(id)).toMatchObject({ state: 'completed', attempt: 1, run: 2 })
})

test('middleware sees the jobs of a join as those of an enqueue, and its run as one that ends early', async () => {
  const seen: string[] = []
  t.engine.use({
    async enqueue(jobs, next) {
      seen.push(`enqueue ${jobs.map(({ name }) => name)}`)
      await next(jobs.map((job) => (job.name === 'page' ? { ...job, data: { place: 7 } } : job)))
    },
    async run({ job }, next) {
      const output = await next().catch((error: Error) => {
        seen.push(`${job.name} ${error.name}`)
        throw error
      })
      seen.push(`${job.name} ${JSON.stringify(output)}`)
    },
  })
  t.engine.work([
    pageHandler,
    site.handler(async ({ join }) => {
      const words: string[] = []
      for await (const { output } of await join('pages', [page.job({ place: 1 })])) words.push(`${output?.words}`)
      return words
    }),
  ])
  expect(await (await t.engine.enqueue(site, { pages: 1 })).result()).toEqual(['700'])
  expect(seen).toEqual(['enqueue site', 'enqueue page', 'site JoinSignal', 'page {"words":700}', 'site ["700"]'])
})
