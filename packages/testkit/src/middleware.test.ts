/** `engine.use`: which calls and runs middleware sees, from end to end. */
import { defineJob, type EnqueueRequest, type Middleware } from '@millrace/engine'
import { afterEach, describe, expect, test } from 'vitest'
import { createTestEngine, type TestEngine } from './index.ts'

const mail = defineJob<{ to: string }>({ name: 'mail', maxAttempts: 1 })

let t: TestEngine
afterEach(() => t[Symbol.asyncDispose]())

/** Adds `by` to the meta, and notes what it has seen. */
function stamping(seen: string[][] = []): Required<Pick<Middleware, 'enqueue'>> & { readonly seen: string[][] } {
  return {
    seen,
    enqueue: (jobs, next) => {
      seen.push(jobs.map(({ name }) => name))
      return next(jobs.map((job) => ({ ...job, options: { ...job.options, meta: { ...(job.options.meta as object), by: 'ada' } } })))
    },
  }
}

const metas = async () =>
  (await t.engine.list({ limit: 200 })).jobs.map(({ name, meta }) => [name, (meta as Record<string, unknown>)['by']])

describe('around enqueues', () => {
  test('of one job, of many, of an iterable, of a flow and of a batch: each call once, before its data is checked', async () => {
    t = createTestEngine()
    await t.engine.enqueue('before')
    const { enqueue, seen } = stamping()
    expect(t.engine.use({ enqueue })).toBe(t.engine)
    await t.engine.enqueue(mail, { to: 'x' }, { meta: { from: 'test' } })
    await t.engine.enqueueMany([{ job: 'b' }, { job: 'c' }])
    await t.engine.enqueueMany(Array.from({ length: 150 }, () => ({ job: 'd' })).values())
    const { jobs } = await t.engine.flow([
      { ref: 'one', job: 'e' },
      { ref: 'two', job: 'f', dependsOn: ['one'] },
    ])
    const { callback } = await t.engine.batch([{ job: 'g' }], { job: 'h' })
    expect(Object.keys(jobs)).toEqual(['one', 'two'])
    expect((await callback.id) in jobs).toBe(false)
    expect(seen.map((names) => [names[0], names.length])).toEqual([
      ['mail', 1],
      ['b', 2],
      ['d', 100],
      ['d', 50],
      ['e', 2],
      ['g', 2],
    ])
    const [first] = (await t.engine.list({ name: 'mail' })).jobs
    expect(first).toMatchObject({ data: { to: 'x' }, meta: { from: 'test', by: 'ada' } })
    const all = await metas()
    expect(all.filter(([, by]) => by === undefined)).toEqual([['before', undefined]])
  })

  test('what one refuses is not stored, and the caller gets its error', async () => {
    t = createTestEngine()
    const only = (jobs: readonly EnqueueRequest[]) => jobs.some(({ name }) => name === 'no')
    t.engine.use({
      enqueue: (jobs, next) => {
        if (only(jobs)) throw new TypeError('not here')
        return next()
      },
    })
    await expect(t.engine.enqueue('no')).rejects.toThrow('not here')
    await expect(t.engine.enqueueMany([{ job: 'yes' }, { job: 'no' }])).rejects.toThrow('not here')
    const many = Array.from({ length: 120 }, (_, index) => ({ job: index === 119 ? 'no' : 'yes' }))
    await expect(t.engine.enqueueMany(many.values())).rejects.toMatchObject({ message: 'not here', committed: 100 })
    expect((await t.engine.stats()).states.waiting).toBe(100)
  })

  test('next resolves when the jobs are stored; a job that does not fit its schema, or is none, is refused as without', async () => {
    t = createTestEngine()
    const noted: string[] = []
    t.engine.use({
      enqueue: async (_, next) => {
        await next()
        noted.push(`${(await t.engine.stats()).states.waiting}`)
      },
    })
    await t.engine.enqueue('a')
    expect(noted).toEqual(['1'])
    await expect(t.engine.enqueue('a', null, { priority: 'high' as never })).rejects.toMatchObject({
      code: 'OPTION_TYPE',
      option: 'priority',
    })
    await expect(t.engine.enqueueMany([null as never])).rejects.toMatchObject({ option: 'jobs[0]' })
    await expect(t.engine.enqueueMany(7 as never)).rejects.toMatchObject({ option: 'jobs' })
    expect(await t.engine.enqueueMany([])).toEqual([])
    expect(noted).toEqual(['1'])
  })

  test('not of schedules, whose jobs the engine creates', async () => {
    t = createTestEngine()
    const { enqueue, seen } = stamping()
    t.engine.use({ enqueue })
    await t.engine.schedules.upsert('s', { every: '1m', runImmediately: true }, { job: 'tick' })
    expect(await metas()).toEqual([['tick', undefined]])
    expect(seen).toEqual([])
  })
})

describe('around runs', () => {
  test('of workers that start from then on; a failure in it is one of the job, and leaves its dead letter', async () => {
    t = createTestEngine()
    await t.engine.queues.configure('default', { deadLetter: 'dead' })
    const order: string[] = []
    const before = t.engine.work(defineJob({ name: 'before' }).handler(() => void order.push('handler')))
    t.engine.use({
      run: async ({ job, data }, next) => {
        order.push(`${job.name} ${JSON.stringify(data)}`)
        const output = await next()
        if ((data as { to: string }).to === 'nobody') throw new TypeError('nobody')
        return output
      },
    })
    t.engine.work(
      mail.handler(({ data, enqueue }) => {
        enqueue('copy', data, { delay: '1h' })
        return data.to
      }),
    )
    await t.engine.enqueue('before')
    const [good, bad] = [await t.engine.enqueue(mail, { to: 'ada' }), await t.engine.enqueue(mail, { to: 'nobody' })]
    await t.drain()
    expect(order).toEqual(['handler', 'mail {"to":"ada"}', 'mail {"to":"nobody"}', 'mail {"to":"nobody"}'])
    expect(await good.result()).toBe('ada')
    await expect(bad.result()).rejects.toMatchObject({ code: 'JOB_FAILED', message: expect.stringContaining('nobody') })
    // The dead letter has run, and failed: it leaves none. What a failed run has enqueued is not stored.
    expect((await t.engine.list({ queue: 'dead' })).jobs).toMatchObject([
      { name: 'mail', state: 'failed', meta: { deadLetter: { id: bad.id } } },
    ])
    expect((await t.engine.list({ name: 'copy' })).jobs).toHaveLength(1)
    await before.stop()
  })

  test('jobs that a handler enqueues pass through it too', async () => {
    t = createTestEngine()
    const { enqueue, seen } = stamping()
    t.engine.use({ enqueue })
    t.engine.work(mail.handler(({ data, enqueue: add }) => add('copy', data, { delay: '1h' })))
    await t.engine.enqueue(mail, { to: 'ada' })
    await t.drain()
    expect(seen).toEqual([['mail'], ['copy']])
    expect((await t.engine.list({ name: 'copy' })).jobs).toMatchObject([{ data: { to: 'ada' }, meta: { by: 'ada' } }])
  })

  test('each job of a batch has its own', async () => {
    t = createTestEngine()
    const order: string[] = []
    t.engine.use({
      run: async ({ data }, next) => {
        order.push(`in ${(data as { to: string }).to}`)
        return `${await next()}!`
      },
    })
    const handler = mail.handler(
      (items) => {
        order.push(`batch of ${items.length}`)
        return items.map(({ data }) => ({ output: data.to }))
      },
      { batch: { size: 2, maxWait: 10 } },
    )
    t.engine.work(handler, { concurrency: 2 })
    const handles = await t.engine.enqueueMany([mail.job({ to: 'ada' }), mail.job({ to: 'bob' })])
    await t.drain()
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(['ada!', 'bob!'])
    expect(order).toEqual(['in ada', 'in bob', 'batch of 2'])
  })
})
