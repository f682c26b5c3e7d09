// What the engine tells of how it fares: by job name, by queue and minute, by kind of failure.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, type Engine, LIMITS, NonRetryableError, openEngine } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'

const a = defineJob({ name: 'a', queue: 'q' })

let t: TestEngine
beforeEach(() => {
  t = createTestEngine()
})
afterEach(() => t[Symbol.asyncDispose]())

describe('E25: how long jobs wait and run', () => {
  test('by name: from when they were due to their hand-out, and from there to their end', async () => {
    for (let index = 0; index < 3; index++) await t.engine.enqueue(a, index)
    await t.engine.enqueue('bystander')
    await t.advance(10)
    const ends: (() => void)[] = []
    t.engine.work([a.handler(() => new Promise<void>((resolve) => void ends.push(resolve)))], { concurrency: 3 })
    await t.advance(7)
    for (const end of ends) end()
    await t.advance(1)
    const { names } = await t.engine.stats()
    expect(names).toEqual([
      {
        queue: 'q',
        name: 'a',
        started: 3,
        completed: 3,
        failed: 0,
        interrupted: 0,
        waitMs: { p50: 10, p95: 10, p99: 10, sum: 30, buckets: [0, 0, 0, 0, 3] },
        runMs: { p50: 7, p95: 7, p99: 7, sum: 21, buckets: [0, 0, 0, 3] },
      },
    ])
  })

  test('runs that a worker interrupts when it stops, beside those that fail', async () => {
    const worker = t.engine.work([a.handler(() => new Promise<void>(() => {}))], { concurrency: 2 })
    await t.engine.enqueueMany([{ job: a }, { job: a }, { job: a }])
    const failing = t.engine.work([defineJob({ name: 'b', queue: 'q', maxAttempts: 1 }).handler(() => Promise.reject(new Error('no')))])
    await t.engine.enqueue('b', null, { queue: 'q' })
    await t.advance(1)
    const stopped = worker.stop({ timeout: 0 })
    await t.advance('10m')
    await stopped
    const { names } = await t.engine.stats()
    const counts = names.map(({ name, started, failed, interrupted }) => [name, started, failed, interrupted])
    expect(counts).toEqual([
      ['a', 2, 0, 2],
      ['b', 1, 1, 0],
    ])
    await failing.stop()
  })

  test('runs that the stop of the engine itself interrupts, for as long as it answers', async () => {
    const obedient = a.handler(({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())))
    const stubborn = defineJob({ name: 'b', queue: 'q' }).handler(() => new Promise<void>(() => {}))
    t.engine.work([obedient, stubborn], { concurrency: 3, abortGrace: '1m' })
    await t.engine.enqueueMany([{ job: a }, { job: a }])
    await t.engine.enqueue('b', null, { queue: 'q' })
    await t.advance(1)
    const stopped = t.engine.stop({ timeout: '5s' })
    const counts = async () => (await t.engine.stats()).names.map(({ name, failed, interrupted }) => [name, failed, interrupted])
    await t.advance('4s')
    expect(await counts()).toEqual([
      ['a', 0, 0],
      ['b', 0, 0],
    ])
    await t.advance('2s')
    expect(await counts()).toEqual([
      ['a', 0, 2],
      ['b', 0, 0],
    ])
    await t.advance('2m')
    await stopped
  })

  test('as much of each name as is asked for, whoever asks for more in the same turn', async () => {
    t.engine.work([a.handler(() => 1)])
    await (await t.engine.enqueue(a)).result()
    const [whole, brief, none, again] = await Promise.all([
      t.engine.stats(),
      t.engine.stats({ names: 'percentiles' }),
      t.engine.stats({ names: 'none', definitions: 'disputed' }),
      t.engine.stats({ definitions: 'disputed' }),
    ])
    const { p50, p95, p99 } = whole.names[0]?.runMs ?? expect.fail()
    expect(brief.names[0]?.runMs).toEqual({ p50, p95, p99 })
    expect(brief).toMatchObject({ states: whole.states, definitions: [{ name: 'a' }] })
    expect(none).toEqual({ ...whole, names: [], definitions: [] })
    expect(again).toEqual({ ...whole, definitions: [] })
    await expect(t.engine.stats({ names: 'all' as never })).rejects.toThrow(
      "names must be 'histograms' or 'percentiles' or 'none', got \"all\"",
    )
    await expect(t.engine.stats({ name: 'none' } as never)).rejects.toThrow("did you mean 'names'?")
  })

  test('the oldest waiting job may be one that its key holds back', async () => {
    await t.engine.queues.configure('q', { perKeyLimit: 1 })
    t.engine.work([a.handler(() => new Promise<void>(() => {}))], { concurrency: 5 })
    for (let index = 0; index < 3; index++) await t.engine.enqueue(a, index, { concurrencyKey: 'k' })
    await t.advance('4s')
    const { queues } = await t.engine.stats()
    expect(queues['q']).toMatchObject({ active: 1, waiting: 2, oldestWaitingMs: 4_000 })
  })

  test('the writer tells of its mailbox, its log and its journal', async () => {
    await t.engine.enqueue(a)
    const { writer } = await t.engine.stats()
    expect(writer).toMatchObject({ turns: 1, turnSizeP99: 1, failedTurns: 0, mailboxDepth: 0, walBytes: 0 })
    expect(writer.journalBytes).toBeGreaterThan(0)
  })

  test('a database in memory has a size, its oldest event, and neither a file nor a disk', async () => {
    const at = t.clock.read().wall
    expect((await t.engine.stats()).store).not.toHaveProperty('oldestEventAt')
    await t.engine.enqueue(a)
    await t.advance('1h')
    await t.engine.enqueue(a)
    const { store } = await t.engine.stats()
    expect(store).toEqual({ bytes: expect.any(Number), freeBytes: expect.any(Number), walBytes: 0, oldestEventAt: at })
    expect(store?.bytes).toBeGreaterThan(0)
  })
})

describe('jobs that wait for another attempt', () => {
  const failing = defineJob<{ how: 'fail' | 'snooze' }>({
    name: 'failing',
    queue: 'q',
    maxAttempts: 3,
    backoff: { type: 'fixed', delay: '1h', jitter: 0 },
  })
  const work = (engine: Engine) =>
    engine.work([
      failing.handler(({ data, snooze }) => {
        if (data.how === 'snooze') return snooze('1h')
        throw new Error('no')
      }),
    ])
  const counted = async (engine: Engine) => {
    const { retrying, states, queues } = await engine.stats()
    const { retrying: ofQueue } = (await engine.queues.get('q')) ?? expect.fail()
    expect([queues['q']?.retrying, ofQueue]).toEqual([retrying, retrying])
    return [states.scheduled, retrying]
  }

  test('are scheduled, and have failed: neither those of later nor those that were snoozed', async () => {
    work(t.engine)
    const handles = await t.engine.enqueueMany([
      { job: failing, data: { how: 'fail' } },
      { job: failing, data: { how: 'fail' } },
      { job: failing, data: { how: 'fail' } },
      { job: failing, data: { how: 'snooze' } },
      { job: failing, data: { how: 'fail' }, options: { delay: '1d' } },
    ])
    await t.advance(1)
    expect(await counted(t.engine)).toEqual([5, 3])
    const [one, other, third] = handles.map(({ id }) => id) as [string, string, string]
    await t.engine.queues.pause('q')
    await t.engine.retry(one)
    expect(await counted(t.engine)).toEqual([4, 2])
    await t.engine.cancel(other)
    expect(await counted(t.engine)).toEqual([3, 1])
    await t.engine.update(third, { runAt: new Date(t.clock.read().wall + 5_000) })
    expect(await counted(t.engine)).toEqual([3, 1])
    await t.engine.delete(third)
    expect(await counted(t.engine)).toEqual([2, 0])
    await t.engine.queues.resume('q')
    await t.advance(1)
    expect(await counted(t.engine)).toEqual([3, 1])
    await t.engine.queues.purge('q', { dryRun: false })
    await t.engine.queues.delete('q')
    expect((await t.engine.stats()).retrying).toBe(0)
  })

  test('are counted through a restart', async () => {
    const file = temporaryFile()
    {
      await using engine = await openEngine({ file })
      work(engine)
      const { id } = await engine.enqueue(failing, { how: 'fail' })
      for await (const event of engine.events({ filter: { jobId: id } })) if (event.type === 'retrying') break
      expect(await counted(engine)).toEqual([1, 1])
    }
    await using engine = await openEngine({ file })
    expect(await counted(engine)).toEqual([1, 1])
  })
})

describe('E25: what a queue has done over time', () => {
  test('by the minute and by the hour, from what was before to what is now', async () => {
    const begin = t.clock.read().wall
    const minute = (after: number) => new Date(begin - (begin % 60_000) + after * 60_000)
    t.engine.work([a.handler(({ data }) => data)], { concurrency: 5 })
    await t.engine.enqueueMany([{ job: a }, { job: a }])
    await t.advance('1m')
    await t.engine.enqueue('bystander')
    await t.advance('2m')
    const waiting = await t.engine.enqueue(a, undefined, { delay: '1d' })
    await t.engine.cancel(waiting.id)
    expect(await t.engine.history({ queue: 'q' })).toEqual([
      { at: minute(0), enqueued: 2, completed: 2, failed: 0, cancelled: 0 },
      { at: minute(3), enqueued: 1, completed: 0, failed: 0, cancelled: 1 },
    ])
    expect(await t.engine.history({ queue: 'q', from: minute(1) })).toHaveLength(1)
    expect(await t.engine.history({ queue: 'q', to: minute(3) })).toHaveLength(1)
    expect(await t.engine.history()).toEqual([{ at: minute(1), enqueued: 1, completed: 0, failed: 0, cancelled: 0 }])
    expect(await t.engine.history({ queue: 'none' })).toEqual([])
    const hours = await t.engine.history({ queue: 'q', step: 'hour' })
    expect(hours.reduce((sum, { enqueued }) => sum + enqueued, 0)).toBe(3)
    await t.advance('7h')
    expect(await t.engine.history({ queue: 'q' })).toEqual([])
    expect(await t.engine.history({ queue: 'q', step: 'hour' })).toEqual(hours)
  })

  test('all queues in columns: the sum of all, and the busiest of them', async () => {
    const begin = t.clock.read().wall
    const minute = (after: number) => new Date(begin - (begin % 60_000) + after * 60_000)
    const none = { enqueued: [], completed: [], failed: [], cancelled: [] }
    expect(await t.engine.history({ queues: '*', limit: 0, from: minute(9) })).toMatchObject({ from: minute(9), total: none, queues: {} })
    await t.engine.enqueueMany([{ job: a }, { job: a }, { job: 'b', options: { queue: '7' } }])
    await t.advance('2m')
    const late = await t.engine.enqueue('b', 1, { queue: '__proto__' })
    await t.engine.cancel(late.id)
    await t.engine.queues.configure('idle', { maxLength: 5 })
    const zeros = [0, 0, 0]
    expect(await t.engine.history({ queues: '*', from: minute(0) })).toEqual({
      from: minute(0),
      step: 'minute',
      total: { enqueued: [3, 0, 1], completed: zeros, failed: zeros, cancelled: [0, 0, 1] },
      queues: Object.fromEntries([
        ['q', { enqueued: [2, 0, 0], completed: zeros, failed: zeros, cancelled: zeros }],
        ['__proto__', { enqueued: [0, 0, 1], completed: zeros, failed: zeros, cancelled: [0, 0, 1] }],
        ['7', { enqueued: [1, 0, 0], completed: zeros, failed: zeros, cancelled: zeros }],
      ]),
      queuesLeftOut: undefined,
    })
    // What is busiest depends on the time that is asked for.
    const busiest = async (options: object) => Object.keys((await t.engine.history({ queues: '*', limit: 1, ...options })).queues)
    expect(await busiest({ to: minute(2) })).toEqual(['q'])
    expect(await busiest({ from: minute(1) })).toEqual(['__proto__'])
    expect(await t.engine.history({ queues: '*', limit: 0, to: minute(1), from: minute(0) })).toMatchObject({
      total: { enqueued: [3] },
      queues: {},
    })
    const all = await t.engine.history({ queues: '*' })
    expect([all.from, all.total.enqueued.length]).toEqual([minute(-358), 361])
    await t.advance('7h')
    expect((await t.engine.history({ queues: '*' })).queues).toEqual({})
    const hours = await t.engine.history({ queues: '*', step: 'hour' })
    expect(hours.total.enqueued).toHaveLength(14 * 24 + 1)
    expect(hours.total.enqueued.reduce((sum, count) => sum + count, 0)).toBe(4)
  })

  test('what was counted since the clock went back is told; a queue that was deleted is not', async () => {
    const begin = t.clock.read().wall
    await t.engine.enqueue('b', 1, { queue: 'gone' })
    await t.engine.enqueue(a)
    await t.engine.queues.purge('gone', { dryRun: false })
    await t.engine.queues.delete('gone')
    t.clock.jump(-3_600_000)
    await t.engine.enqueue(a)
    const back = await t.engine.history({ queues: '*' })
    const before = begin - 3_600_000
    expect(back.from).toEqual(new Date(before - (before % 60_000) - 6 * 3_600_000))
    expect(Object.keys(back.queues)).toEqual(['q'])
    expect(back.total.enqueued.at(-1)).toBe(1)
  })

  test('of more queues than one question sums up, the rest is counted', async () => {
    const queues = LIMITS.historySummedByWriter + 2
    await t.engine.enqueueMany(Array.from({ length: queues }, (_, index) => ({ job: 'b', options: { queue: `q${index}` } })))
    const { total, queues: told, queuesLeftOut } = await t.engine.history({ queues: '*', limit: 3 })
    expect([total.enqueued.at(-1), Object.keys(told).length, queuesLeftOut]).toEqual([LIMITS.historySummedByWriter, 3, 2])
  })

  test('misuse is refused at the border', async () => {
    await expect(t.engine.history({ queues: 'q' as never })).rejects.toThrow('queues must be \'*\', got "q": use queue for a single one')
    await expect(t.engine.history({ queues: '*', queue: 'q' } as never)).rejects.toThrow('queue and queues exclude each other')
    await expect(t.engine.history({ limit: 5 } as never)).rejects.toThrow("limit needs queues: '*'")
    await expect(t.engine.history({ queues: '*', limit: 51 })).rejects.toThrow('limit must be between 0 and 50, got 51')
    await expect(t.engine.history({ step: 'day' as never })).rejects.toThrow("step must be 'minute' or 'hour'")
    await expect(t.engine.history({ from: 'today' as never })).rejects.toThrow(TypeError)
    await expect(t.engine.history({ steps: 1 } as never)).rejects.toThrow("did you mean 'step'?")
    await expect(t.engine.failures({ limit: 201 })).rejects.toThrow(RangeError)
    await expect(t.engine.failures({ name: 'no name' })).rejects.toThrow(TypeError)
  })
})

describe('E25: failures by their kind', () => {
  const failing = defineJob<{ message: string }>({ name: 'failing', maxAttempts: 1 })
  const fail = async (message: string) => {
    const handle = await t.engine.enqueue(failing, { message }, { tags: ['person:17'] })
    await t.advance(1)
    return handle
  }
  beforeEach(() => {
    t.engine.work([
      failing.handler(({ data }) => {
        throw new TypeError(data.message)
      }),
    ])
  })

  test('what differs in numbers and quotes is of one kind; those seen last come first', async () => {
    await fail('no row 1 in "a"')
    const last = await fail('no row 23 in "b"')
    await fail('another')
    const kinds = await t.engine.failures()
    expect(kinds).toMatchObject([
      { queue: 'default', name: 'failing', error: 'TypeError', count: 1, message: 'another' },
      { count: 2, message: 'no row 23 in "b"', jobId: last.id },
    ])
    expect(kinds[1]?.fingerprint).toMatch(/^[0-9a-f]{14}$/)
    expect((kinds[1]?.lastAt.getTime() ?? 0) - (kinds[1]?.firstAt.getTime() ?? 0)).toBeGreaterThan(0)
    expect(await t.engine.failures({ limit: 1 })).toHaveLength(1)
    expect(await t.engine.failures({ name: 'failing', queue: 'default' })).toHaveLength(2)
    expect(await t.engine.failures({ name: 'other' })).toEqual([])
  })

  test('each run that fails counts; one that is cancelled is no failure', async () => {
    const twice = defineJob({ name: 'twice', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
    const stuck = defineJob({ name: 'stuck' })
    t.engine.work([
      twice.handler(() => {
        throw new Error('no')
      }),
      stuck.handler(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
    ])
    await t.engine.enqueue(twice)
    const { id } = await t.engine.enqueue(stuck)
    await t.advance(10)
    await t.engine.cancel(id)
    await t.advance(10)
    expect(await t.engine.failures()).toMatchObject([{ name: 'twice', count: 2 }])
  })

  test('erasing a person leaves a count, and nothing of what was said', async () => {
    await fail('ann@example.org is unknown')
    await t.engine.deleteMany({ tag: 'person:17' })
    const [kind] = await t.engine.failures()
    expect(kind).toMatchObject({ error: 'TypeError', count: 1, jobId: undefined, message: undefined })
  })
})

test('E25: history and failures are there after a restart; names begin anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-observe-'))
  const file = join(folder, 'jobs.db')
  try {
    {
      await using engine = await openEngine({ file })
      engine.work([
        a.handler(() => {
          throw new NonRetryableError('no')
        }),
      ])
      const { id } = await engine.enqueue(a)
      await expect((await engine.enqueue(a)).result()).rejects.toThrow()
      expect((await engine.get(id))?.state).toBe('failed')
    }
    await using engine = await openEngine({ file })
    const sum = (await engine.history({ queue: 'q', step: 'hour' })).reduce((all, { enqueued, failed }) => all + enqueued + failed, 0)
    expect(sum).toBe(4)
    // Answered by a reader thread.
    const { total, queues } = await engine.history({ queues: '*', step: 'hour' })
    expect(queues).toEqual({ q: total })
    expect([total.enqueued, total.failed].map((counts) => counts.reduce((all, count) => all + count, 0))).toEqual([2, 2])
    expect(await engine.failures()).toMatchObject([{ name: 'a', error: 'NonRetryableError', count: 2, message: 'no' }])
    const { names, writer, store } = await engine.stats()
    expect(names).toEqual([])
    expect(writer.walBytes).toBeGreaterThan(0)
    // Its name alone: where it lies is nobody's business.
    expect(store).toMatchObject({ file: 'jobs.db', walBytes: writer.walBytes, oldestEventAt: expect.any(Number) })
    expect(store?.bytes).toBeGreaterThanOrEqual(statSync(file).size)
    expect(store?.diskFreeBytes).toBeGreaterThan(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
