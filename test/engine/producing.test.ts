/** Producing, asking and changing through the public interface. */
import {
  type Definition,
  defineJob,
  type EngineEvent,
  JobNotFoundError,
  type MillraceEvent,
  OptionRangeError,
  uniqueKeyOf,
} from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const a: Definition = defineJob({ name: 'a' })

/** A Standard Schema by hand: numbers, doubled on the way out. */
function doubling(asynchronous = false): StandardSchemaV1<number, { doubled: number }> {
  const check = (value: unknown) =>
    typeof value === 'number' ? { value: { doubled: value * 2 } } : { issues: [{ message: 'must be a number', path: ['at', { key: 0 }] }] }
  return { '~standard': { version: 1, vendor: 'test', validate: (value) => (asynchronous ? Promise.resolve(check(value)) : check(value)) } }
}

describe('handles', () => {
  test('N1: ids are UUIDv7, sorted by arrival', async () => {
    const handles = []
    for (let job = 0; job < 5; job++) {
      handles.push(await t.engine.enqueue(a))
      await t.advance(1)
    }
    const ids = handles.map((handle) => handle.id)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(ids.toSorted()).toEqual(ids)
  })

  test('result: timeout, signal, deletion', async () => {
    const handle = await t.engine.enqueue(a)
    const late = handle.result({ timeout: '1m' })
    const controller = new AbortController()
    const aborted = handle.result({ signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    const [settled] = await Promise.all([late.catch((error: unknown) => error), t.advance('1m')])
    expect(settled).toMatchObject({ code: 'RESULT_TIMEOUT', retryable: true, jobId: handle.id })
    const gone = handle.result()
    await t.engine.delete(handle.id)
    await expect(gone).rejects.toBeInstanceOf(JobNotFoundError)
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
  })

  test('of a job by its id: for who has that alone, also after a restart', async () => {
    const { id } = await t.engine.enqueue(a, 2)
    const bystander = await t.engine.enqueue('bystander')
    const early = t.engine.handle(id).result({ timeout: '1h' })
    await t.restart()
    t.engine.work([a.handler(({ data }) => Number(data) * 2)])
    await t.advance('1m')
    expect(await early).toBe(4)
    const handle = t.engine.handle<number>(id)
    expect([handle.id, handle.created, await handle.result()]).toEqual([id, false, 4])
    const late = t.engine
      .handle(bystander.id)
      .result({ timeout: '1s' })
      .catch((error: unknown) => error)
    await t.advance('1s')
    expect(await late).toMatchObject({ code: 'RESULT_TIMEOUT' })
    await t.engine.delete(bystander.id)
    await expect(t.engine.handle(bystander.id).result()).rejects.toBeInstanceOf(JobNotFoundError)
    expect(() => t.engine.handle('no id at all')).toThrow(JobNotFoundError)
    expect(() => t.engine.handle(5 as never)).toThrow(TypeError)
  })

  test('N2, M5: data of any kind comes back as it was; created says whether a key matched', async () => {
    for (const data of [undefined, null, 0, '', 'text', [1, { b: null }], { deep: { er: [] } }]) {
      expect((await t.engine.get((await t.engine.enqueue(a, data)).id))?.data).toEqual(data)
    }
    const bytes = Buffer.from([0, 255, 10])
    expect(Uint8Array.from((await t.engine.get((await t.engine.enqueue(a, bytes)).id))?.data as Uint8Array)).toEqual(Uint8Array.from(bytes))
    const first = await t.engine.enqueue(a, 1, { idempotencyKey: 'k' })
    const second = await t.engine.enqueue(a, 2, { idempotencyKey: 'k' })
    expect([first.created, second.created, second.id === first.id]).toEqual([true, false, true])
    // A key is of one name.
    expect((await t.engine.enqueue('b', 1, { idempotencyKey: 'k' })).created).toBe(true)
  })
})

describe('schemas', () => {
  test.each([false, true])('checked at enqueue, and made into what the handler gets (asynchronous: %s)', async (asynchronous) => {
    const job = defineJob({ name: 'typed', schema: doubling(asynchronous) })
    t.engine.work([job.handler(({ data }) => data.doubled)])
    expect(await (await t.engine.enqueue(job, 4)).result()).toBe(8)
    await expect(t.engine.enqueue(job, 'four' as never)).rejects.toMatchObject({
      code: 'VALIDATION',
      issues: [{ message: 'must be a number', path: ['at', 0] }],
    })
    expect((await t.engine.stats()).totals.enqueued).toBe(1)
  })

  test('a payload that fails before the run fails without retries', async () => {
    const job = defineJob({ name: 'typed', schema: doubling() })
    t.engine.work([job.handler(({ data }) => data.doubled)])
    const handle = await t.engine.enqueue('typed', 'by plain name, unchecked')
    await expect(handle.result()).rejects.toMatchObject({ attempt: 1, cause: { name: 'ValidationError' } })
  })
})

describe('E14: many at once', () => {
  test('an array is atomic, and its handles are in order', async () => {
    const handles = await t.engine.enqueueMany([1, 2, 3].map((data) => ({ job: a, data, options: { tags: [`t${data}`] } })))
    const jobs = await Promise.all(handles.map((handle) => t.engine.get(handle.id)))
    expect(jobs.map((job) => [job?.data, job?.tags])).toEqual([
      [1, ['t1']],
      [2, ['t2']],
      [3, ['t3']],
    ])
    await expect(t.engine.enqueueMany([{ job: a }, { job: a, options: { priority: 2_000_000 } }])).rejects.toBeInstanceOf(OptionRangeError)
    expect((await t.engine.stats()).totals.enqueued).toBe(3)
  })

  test('more than one command may hold is refused, and iterables are named as the way', async () => {
    await expect(t.engine.enqueueMany(Array.from({ length: 10_001 }, () => ({ job: a })))).rejects.toThrow(/async iterable/)
  })

  test('an async iterable goes in atomic chunks, and says how far it came', async () => {
    async function* many(count: number, bad?: number) {
      for (let data = 0; data < count; data++) yield { job: a, data, ...(data === bad && { options: { priority: Number.NaN } }) }
    }
    expect(await t.engine.enqueueMany(many(2_500))).toHaveLength(2_500)
    const error = await t.engine.enqueueMany(many(2_500, 1_700)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ committed: 1_000 })
    expect((await t.engine.stats()).totals.enqueued).toBe(3_500)
  })
})

describe('E12: asking', () => {
  test('list: by state, queue, name and tag, page by page, newest first', async () => {
    const ids: string[] = []
    for (let job = 0; job < 7; job++)
      ids.push((await t.engine.enqueue(job % 2 ? 'odd' : 'even', job, { queue: 'q', tags: job > 3 ? ['late'] : [] })).id)
    const pages: string[][] = []
    let after: string | undefined
    do {
      const page = await t.engine.list({ queue: 'q', limit: 3, ...(after !== undefined && { after }) })
      pages.push(page.jobs.map((job) => job.id))
      after = page.next
    } while (after !== undefined)
    expect(pages.flat()).toEqual(ids.toReversed())
    expect((await t.engine.list({ tag: 'late', name: 'odd', state: 'waiting' })).jobs.map((job) => job.data)).toEqual([5])
  })

  test('get answers undefined for what is not there, whatever the text', async () => {
    expect(await t.engine.get('01a1fc18-403e-7000-8000-00000699080a')).toBeUndefined()
    expect(await t.engine.get('no id at all')).toBeUndefined()
    await expect(t.engine.cancel('no id at all')).rejects.toBeInstanceOf(JobNotFoundError)
  })

  test('stats: states, totals, queues, and how long the oldest has waited', async () => {
    await t.engine.enqueue(a)
    await t.engine.enqueue(a, undefined, { delay: '1h' })
    await t.advance('5s')
    const { states, totals, queues, workers } = await t.engine.stats()
    expect([states.waiting, states.scheduled, totals.enqueued, workers]).toEqual([1, 1, 2, 0])
    expect(queues['default']).toMatchObject({ oldestWaitingMs: 5_000, paused: false })
  })
})

describe('E11: changing', () => {
  test('update a waiting job: data, priority, weight, time, checkpoint; not its neighbour', async () => {
    const [handle, bystander] = [await t.engine.enqueue(a, 1), await t.engine.enqueue(a, 1)]
    const runAt = new Date(t.clock.read().wall + 60_000)
    const ofRuns = { priority: 5, weight: 2, maxAttempts: 2, timeout: Number.POSITIVE_INFINITY }
    await t.engine.update(handle.id, { data: { new: true }, ...ofRuns, backoff: { type: 'fixed', delay: '1s' }, runAt, checkpoint: 'c' })
    expect(await t.engine.get(handle.id)).toMatchObject({
      state: 'scheduled',
      data: { new: true },
      ...ofRuns,
      backoff: { type: 'fixed', delay: 1_000 },
      runAt,
      checkpoint: 'c',
    })
    expect(await t.engine.get(bystander.id)).toMatchObject({
      state: 'waiting',
      data: 1,
      priority: 0,
      weight: 1,
      maxAttempts: 4,
      checkpoint: undefined,
    })
  })

  test('too late: typed errors', async () => {
    t.engine.work([a.handler(() => 1)])
    const handle = await t.engine.enqueue(a)
    await handle.result()
    await expect(t.engine.update(handle.id, { priority: 1 })).rejects.toMatchObject({ code: 'JOB_FINISHED', jobId: handle.id })
    await expect(t.engine.cancel(handle.id)).rejects.toMatchObject({ code: 'JOB_FINISHED' })
    await expect(t.engine.retry(handle.id)).rejects.toMatchObject({ code: 'JOB_FINISHED' })
  })

  test('redrive retries all failed jobs of a name, in slices', async () => {
    const failing = defineJob<boolean>({ name: 'failing', maxAttempts: 1 })
    let broken = true
    t.engine.work(
      [
        failing.handler(() => {
          if (broken) throw new Error('broken')
        }),
      ],
      { concurrency: 100 },
    )
    const handles = await t.engine.enqueueMany(Array.from({ length: 1_200 }, () => ({ job: failing, data: true })))
    await Promise.allSettled(handles.map((handle) => handle.result()))
    expect((await t.engine.stats()).states.failed).toBe(1_200)
    broken = false
    expect(await t.engine.redrive({ name: 'failing', limit: 700 })).toEqual({ count: 700 })
    expect(await t.engine.redrive()).toEqual({ count: 500 })
    await Promise.all(handles.map((handle) => handle.result()))
    expect((await t.engine.stats()).states).toMatchObject({ failed: 0, completed: 1_200 })
  })

  test('a copy of an ended job: its data and options, and a new id; the job stays as it is', async () => {
    const backoff = { type: 'linear', delay: 5_000, jitter: 'equal' } as const
    const texts = { summary: 'To Ada', concurrencyKey: 'k', tags: ['t'], meta: { of: 7 } }
    const policy = {
      priority: 2,
      weight: 3,
      tokens: 4,
      maxAttempts: 1,
      maxLost: 5,
      backoff,
      timeout: Number.POSITIVE_INFINITY,
      logLines: 6,
    }
    const data = new Uint8Array([0, 255])
    const keys = { idempotencyKey: 'i', unique: { key: 'u' } }
    const first = await t.engine.enqueue('failing', data, { queue: 'q', ttl: '1h', keep: '2h', ...policy, ...texts, ...keys })
    const worker = t.engine.work(
      [
        defineJob({ name: 'failing' }).handler(() => {
          throw new Error('no')
        }),
      ],
      { queues: ['q'] },
    )
    await expect(first.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
    await worker.stop()
    const before = await t.engine.get(first.id)
    const copies = [await t.engine.enqueueAgain(first.id), await t.engine.enqueueAgain({ name: 'failing', idempotencyKey: 'i' })]
    for (const { id, created } of copies) {
      expect(created).toBe(true)
      const copy = await t.engine.get(id)
      expect(copy).toMatchObject({ name: 'failing', queue: 'q', state: 'waiting', data, keep: 7_200_000, maxAge: Number.POSITIVE_INFINITY })
      expect(copy).toMatchObject({ ...policy, ...texts, meta: { of: 7, copyOf: first.id } })
      expect(copy).toMatchObject({ idempotencyKey: undefined, uniqueKey: undefined, expiresAt: undefined, attempts: [] })
    }
    expect(copies[0]?.id).not.toBe(copies[1]?.id)
    expect(await t.engine.get(first.id)).toEqual(before)
    await expect(t.engine.enqueueAgain({ name: 'failing', uniqueKey: 'none' })).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
    await t.engine.delete(first.id)
    await expect(t.engine.enqueueAgain(first.id)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: first.id })
  })

  test('runNow, retry before its time, delete', async () => {
    const handle = await t.engine.enqueue(a, undefined, { delay: '1h' })
    await t.engine.runNow(handle.id)
    expect((await t.engine.get(handle.id))?.state).toBe('waiting')
    await t.engine.delete(handle.id)
    expect(await t.engine.get(handle.id)).toBeUndefined()
  })
})

describe('unique', () => {
  test('skip, replace and reschedule answer the live job; error names it', async () => {
    const first = await t.engine.enqueue(a, 1, { unique: { key: 'k' }, delay: '1h' })
    expect(await t.engine.enqueue(a, 2, { unique: { key: 'k' } })).toMatchObject({ id: first.id, created: false })
    expect((await t.engine.get(first.id))?.data).toBe(1)
    await t.engine.enqueue(a, 3, { unique: { key: 'k', onConflict: 'replace' }, delay: '2h' })
    expect(await t.engine.get(first.id)).toMatchObject({ data: 3, runAt: new Date(t.clock.read().wall + 7_200_000) })
    await t.engine.enqueue(a, 4, { unique: { key: 'k', onConflict: 'reschedule' } })
    expect(await t.engine.get(first.id)).toMatchObject({ data: 3, state: 'waiting' })
    await expect(t.engine.enqueue(a, 5, { unique: { key: 'k', onConflict: 'error' } })).rejects.toMatchObject({
      code: 'UNIQUE_CONFLICT',
      jobId: first.id,
    })
    await t.engine.cancel(first.id)
    expect((await t.engine.enqueue(a, 6, { unique: { key: 'k' } })).created).toBe(true)
  })

  test('by the data: all of it, or some fields, wherever the call is made', async () => {
    const bystander = await t.engine.enqueue('sync', { customer: 'c2' }, { unique: { by: ['customer'] }, delay: '1h' })
    const by = { unique: { by: ['customer', 'order.id'] }, delay: '1h' } as const
    const first = await t.engine.enqueue('pay', { customer: 'c1', order: { id: 7, sum: 1 } }, by)
    const calls = [
      { job: 'pay', data: { order: { sum: 2, id: 7 }, customer: 'c1' }, options: by },
      { job: 'pay', data: { customer: 'c1', order: { id: 8 } }, options: by },
    ]
    expect(await t.engine.enqueueMany(calls)).toMatchObject([{ id: first.id, created: false }, { created: true }])
    const uniqueKey = uniqueKeyOf({ 'order.id': 7, customer: 'c1' })
    expect(await t.engine.get({ name: 'pay', uniqueKey })).toMatchObject({ id: first.id, uniqueKey, data: { order: { sum: 1 } } })

    const whole = { unique: { by: 'data', onConflict: 'error' }, delay: '1h' } as const
    const same = await t.engine.enqueue('mail', { to: 'ada', cc: [] }, whole)
    await expect(t.engine.enqueue('mail', { cc: [], to: 'ada' }, whole)).rejects.toMatchObject({ jobId: same.id })
    expect((await t.engine.enqueue('mail', { to: 'ada' }, whole)).created).toBe(true)
    const parent = defineJob({ name: 'parent' })
    t.engine.work([parent.handler(({ enqueue }) => void enqueue('mail', { cc: [], to: 'ada' }, { unique: { by: 'data' } }))])
    await (await t.engine.enqueue(parent)).result()
    expect((await t.engine.list({ name: 'mail' })).jobs).toHaveLength(2)
    expect(await t.engine.get(bystander.id)).toMatchObject({ state: 'scheduled', uniqueKey: uniqueKeyOf({ customer: 'c2' }) })
    await expect(t.engine.enqueue('pay', { customr: 'c1' }, by)).rejects.toThrow('the data has the fields customr')
  })

  test('until the start: one job waits, and a call during its run creates one more', async () => {
    const ran: number[] = []
    const gate = Promise.withResolvers<void>()
    const sync = defineJob<number>({ name: 'sync' })
    const unique = { by: 'data', onConflict: 'replace', until: 'start' } as const
    t.engine.work([
      sync.handler(async ({ data }) => {
        ran.push(data)
        if (ran.length === 1) await gate.promise
      }),
    ])
    const first = await t.engine.enqueue(sync, 7, { unique })
    await quiet()
    expect(ran).toEqual([7])
    const calls = await t.engine.enqueueMany([1, 2, 3].map(() => ({ job: sync, data: 7, options: { unique, delay: '1s' } })))
    expect(calls.map(({ created }) => created)).toEqual([true, false, false])
    expect(await t.engine.enqueue(sync, 7, { unique: { ...unique, until: 'end', onConflict: 'skip' } })).toMatchObject({ id: calls[0]?.id })
    gate.resolve()
    await first.result()
    await t.advance('1s')
    await calls[0]?.result()
    expect(ran).toEqual([7, 7])
  })

  test('retryable-unique-not-self-conflict: a job that waits for its retry holds its key, and gets it back on retry()', async () => {
    const once = defineJob({ name: 'once', maxAttempts: 1 })
    t.engine.work([
      once.handler(() => {
        throw new Error('no')
      }),
    ])
    const handle = await t.engine.enqueue(once, undefined, { unique: { key: 'k' } })
    await handle.result().catch(() => {})
    await t.engine.retry(handle.id)
    await quiet()
    expect((await t.engine.get(handle.id))?.state).toBe('failed')
    const other = await t.engine.enqueue(once, undefined, { unique: { key: 'k' }, delay: '1h' })
    expect(other.created).toBe(true)
    await expect(t.engine.retry(handle.id)).rejects.toMatchObject({ code: 'UNIQUE_CONFLICT', jobId: other.id })
  })
})

test('events: by type and all, once and off, in order, with names and times', async () => {
  const all: MillraceEvent[] = []
  const once: EngineEvent[] = []
  const listener = (event: MillraceEvent) => all.push(event)
  t.engine.on('*', listener).once('completed', (event) => once.push(event))
  t.engine.work([a.handler(() => 1)])
  const [first, second] = [await t.engine.enqueue(a), await t.engine.enqueue(a)]
  await Promise.all([first.result(), second.result()])
  t.engine.off('*', listener)
  await t.engine.enqueue(a)
  await quiet()
  expect(all.filter((event) => 'run' in event && event.jobId === first.id).map((event) => event.type)).toEqual([
    'enqueued',
    'started',
    'completed',
  ])
  expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => (all[0]?.seq ?? 0) + index))
  expect(all[0]).toMatchObject({ type: 'worker.attached', at: new Date(t.clock.read().wall) })
  expect(all[1]).toMatchObject({ queue: 'default', name: 'a', at: new Date(t.clock.read().wall) })
  expect(once).toHaveLength(1)
})

test('M2: what is called in one tick is one turn', async () => {
  await Promise.all(Array.from({ length: 500 }, (_, data) => t.engine.enqueue(a, data)))
  expect((await t.engine.stats()).writer.turns).toBeLessThanOrEqual(2)
})

test('port-inflight-window: beyond 10,000 calls in flight and 100,000 held new work is refused as busy, and nothing else', async () => {
  const calls: Promise<unknown>[] = []
  for (let call = 0; call < 110_001; call++)
    calls.push(
      t.engine.enqueue(a, call).then(
        () => 'ok',
        (error: { code: string }) => error.code,
      ),
    )
  const stats = t.engine.stats()
  const outcomes = await Promise.all(calls)
  expect(outcomes.filter((outcome) => outcome === 'BUSY')).toHaveLength(1)
  expect((await stats).totals.enqueued).toBe(110_000)
})
