/** Debounce and throttle through the public interface, under the virtual clock. */
import { defineJob, UniqueConflictError } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const index = defineJob<number>({ name: 'index' })

test('a debounce: one run when it has been quiet, with the last data; every caller hears its result', async () => {
  const ran: number[] = []
  t.engine.work(index.handler(({ data }) => ran.push(data)))
  const debounce = { key: 'page', delay: '1s' } as const
  const handles = []
  for (const edit of [1, 2, 3]) {
    handles.push(await t.engine.enqueue(index, edit, { debounce }))
    await t.advance(900)
  }
  expect(handles.map(({ created }) => created)).toEqual([true, false, false])
  expect(ran).toEqual([])
  await t.advance(100)
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([1, 1, 1])
  expect(ran).toEqual([3])
})

test('a call during the run is for another run, also from a handler, and in an array', async () => {
  const ran: number[] = []
  const debounce = { key: 'page', delay: '1s' } as const
  t.engine.work(
    index.handler(({ data, enqueue }) => {
      ran.push(data)
      if (data === 1) enqueue(index, 2, { debounce })
    }),
  )
  await t.engine.enqueue(index, 1, { debounce })
  await t.advance('1s')
  expect(ran).toEqual([1])
  const [first, second] = await t.engine.enqueueMany([3, 4].map((data) => ({ job: index, data, options: { debounce } })))
  // The one that the handler has enqueued.
  expect([first?.created, second?.created, first?.id === second?.id]).toEqual([false, false, true])
  await t.advance('1s')
  expect(ran).toEqual([1, 4])
})

test('a debounced job that was cancelled is not retried beside the one that came since', async () => {
  const debounce = { key: 'page', delay: '1s' } as const
  const first = await t.engine.enqueue(index, 1, { debounce })
  await t.engine.cancel(first.id)
  await t.engine.enqueue(index, 2, { debounce })
  await expect(t.engine.retry(first.id)).rejects.toThrow(UniqueConflictError)
})

test('a leading debounce and a throttle: at once, and then not for their time', async () => {
  const ran: number[] = []
  t.engine.work(index.handler(({ data }) => void ran.push(data)))
  for (let call = 1; call <= 5; call++) {
    await t.engine.enqueue(index, call, { debounce: { key: 'k', delay: '1s', mode: 'leading' } })
    await t.engine.enqueue(index, 10 * call, { throttle: { key: 'k', period: '1500ms' } })
    await quiet()
    await t.advance(500)
  }
  expect(ran).toEqual([1, 10, 40])
})

test('what a schedule or a flow makes has neither', async () => {
  const options = { throttle: { key: 'k', period: '1s' } } as never
  await expect(async () => t.engine.flow([{ ref: 'a', job: index, data: 1, options }])).rejects.toThrow(
    /'throttle', which a job of a flow cannot have/,
  )
  await expect(async () => t.engine.schedules.upsert('s', { every: '1m' }, { job: index, data: 1, options })).rejects.toThrow(
    /takes no throttle/,
  )
})
