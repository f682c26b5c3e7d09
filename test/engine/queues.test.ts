// What queues are told, through an engine of its own thread: in force at once, kept over a restart, refused by name where it is wrong.
import { join } from 'node:path'
import { defineJob, openEngine, QueueFullError } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const job = defineJob<number>({ name: 'a', queue: 'media' })

test('M2: limits, pauses and defaults outlive the engine', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const first = await openEngine({ file })
  await first.queues.configure('media', {
    concurrencyLimit: 3,
    rateLimit: { limit: 5, period: '1m' },
    defaults: { maxAttempts: 9, timeout: Number.POSITIVE_INFINITY },
  })
  await first.queues.configure('media', { perKeyLimit: 1, rateLimit: null })
  await first.queues.pause('media')
  await first.queues.pause('media', { key: 'k' })
  const handle = await first.enqueue(job, 1)
  await first.stop()

  const second = await openEngine({ file })
  expect(await second.queues.get('media')).toMatchObject({
    name: 'media',
    settings: { concurrencyLimit: 3, perKeyLimit: 1, defaults: { maxAttempts: 9, timeout: Number.POSITIVE_INFINITY } },
    paused: true,
    pausedKeys: ['k'],
    states: { waiting: 1 },
  })
  expect((await second.stats()).queues['media']).toMatchObject({ paused: true })
  expect(await second.get(handle.id)).toMatchObject({ maxAttempts: 9 })
  second.work(job.handler(async ({ data }) => data))
  const other = await second.enqueue(job, 2, { queue: 'default' })
  expect(await other.result()).toBe(2)
  expect(await second.get(handle.id)).toMatchObject({ state: 'waiting' })
  const completed = new Promise((resolve) => second.on('completed', ({ jobId }) => resolve(jobId)))
  await second.queues.resume('media')
  expect(await completed).toBe(handle.id)
  await second.stop()
})

test('a full queue refuses new work by name, and the rest of the engine goes on', async () => {
  const engine = await openEngine({ file: ':memory:' })
  await engine.queues.configure('media', { maxLength: 2 })
  await engine.enqueueMany([{ job, data: 1 }])
  const refused = engine.enqueueMany([
    { job, data: 2 },
    { job, data: 3 },
  ])
  await expect(refused).rejects.toThrow(QueueFullError)
  await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FULL', retryable: true, queue: 'media', maxLength: 2 })
  await engine.enqueue('elsewhere', 1)
  expect((await engine.stats()).states.waiting).toBe(2)
  await engine.stop()
})

test('a full queue that drops its oldest: who waits for it is told why, also by a later engine', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const first = await openEngine({ file })
  await first.queues.configure('media', { maxLength: 1, onFull: 'drop-oldest' })
  const handle = await first.enqueue(job, 1, { idempotencyKey: 'first' })
  const bystander = await first.enqueue('elsewhere', 1)
  const waited = handle.result()
  const kept = await first.enqueue(job, 2)
  const told = {
    code: 'JOB_CANCELLED',
    jobId: handle.id,
    cause: { name: 'JobDroppedError' },
    message: expect.stringMatching(/oldest of a full queue/),
  }
  await expect(waited).rejects.toMatchObject(told)
  await first.stop()

  const second = await openEngine({ file })
  expect(await second.get(handle.id)).toMatchObject({ state: 'cancelled', attempts: [{ attempt: 0, error: { name: 'JobDroppedError' } }] })
  // A repeat takes nobody's place.
  const again = await second.enqueue(job, 1, { idempotencyKey: 'first' })
  expect(again).toMatchObject({ id: handle.id, created: false })
  await expect(again.result()).rejects.toMatchObject(told)
  expect((await second.list({ state: 'cancelled' })).jobs).toMatchObject([{ id: handle.id, attempts: [] }])
  const newest = await second.enqueue(job, 3)
  expect(await second.get(kept.id)).toMatchObject({ state: 'cancelled' })
  expect(await second.get(newest.id)).toMatchObject({ state: 'waiting' })
  expect(await second.get(bystander.id)).toMatchObject({ state: 'waiting' })
  // Brought back, it is a job as any other.
  await second.retry(handle.id)
  second.work(job.handler(async ({ data }) => data))
  expect(await again.result()).toBe(1)
  expect((await second.get(handle.id))?.attempts.map(({ error }) => error)).toEqual([undefined])
  await second.stop()
})

test.each([
  [{ concurrencyLimit: 0 }, /concurrencyLimit must be between 1 and 1000000, got 0/],
  [{ perKeyLimit: -1 }, /perKeyLimit must be between 1 and /],
  [{ rateLimit: { limit: 0 } }, /rateLimit.limit must be between 1 and /],
  [{ rateLimit: { limit: 1, period: 0 } }, /rateLimit.period must be at least 1 ms/],
  [{ rateLimit: { limit: 1, burst: 0 } }, /rateLimit.burst must be between 1 and /],
  [{ perKeyRateLimit: { limit: 0 } }, /perKeyRateLimit.limit must be between 1 and /],
  [{ perKeyRateLimit: { limit: 1, priod: 5 } }, /no option 'priod'; did you mean 'period'/],
  [{ keyOrder: 'strikt' }, /keyOrder must be 'strict' or 'turns', got "strikt"; did you mean 'strict'/],
  [{ keyOrder: 'strict', perKeyLimit: 2 }, /perKeyLimit must be 1 or left out if keyOrder is 'strict', got 2/],
  [{ maxLength: 1.5 }, /maxLength must be a whole number/],
  [{ onFull: 'drop-newest' }, /onFull must be 'reject' or 'drop-oldest', got "drop-newest"; did you mean 'drop-oldest'/],
  [{ onFull: 'drop-oldest', maxLength: null }, /onFull 'drop-oldest' is for a queue with a maxLength, and this takes that away/],
  [{ concurencyLimit: 1 }, /no option 'concurencyLimit'; did you mean 'concurrencyLimit'/],
  [{ defaults: { queue: 'b' } }, /no option 'queue'/],
])('refused: %j', async (options, message) => {
  const engine = await openEngine({ file: ':memory:' })
  await expect(engine.queues.configure('media', options as never)).rejects.toThrow(message)
  await expect(engine.queues.pause('media', { job: 'a', key: 'k' })).rejects.toThrow(/not both/)
  expect(await engine.queues.list()).toEqual([])
  await engine.stop()
})

test('a misspelt queue is not paused in silence, and none is made of it; the neighbours and the default queue are', async () => {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  const { queues } = t.engine
  await queues.configure('mail', {})
  for (const told of [queues.pause('mial'), queues.pause('mial', { job: 'a' }), queues.pause('mial', { key: 'k' }), queues.resume('mial')])
    await expect(told).rejects.toMatchObject({
      name: 'QueueNotFoundError',
      code: 'QUEUE_NOT_FOUND',
      retryable: false,
      queue: 'mial',
      message: "there is no queue 'mial': its first job creates it, and so does queues.configure('mial', {})",
    })
  expect((await queues.list()).map(({ name, paused }) => [name, paused])).toEqual([['mail', false]])
  for (const name of ['mail', 'default']) await queues.pause(name)
  expect((await queues.list()).map(({ name, paused }) => [name, paused])).toEqual([
    ['default', true],
    ['mail', true],
  ])
})

test('a worker with a strict order of queues: an urgent job goes before all that wait, over a restart too', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const first = await openEngine({ file })
  const jobs = ['low', 'low', 'default', 'urgent', 'elsewhere'].map((queue, data) => ({ job, data, options: { queue } }))
  await first.enqueueMany(jobs)
  await first.stop()

  const second = await openEngine({ file })
  const order: number[] = []
  const handler = job.handler(async ({ data }) => {
    order.push(data)
    if (data === 3) await second.enqueue(job, 9, { queue: 'urgent' })
  })
  const worker = second.work(handler, { queues: ['urgent', 'default', 'low'], order: 'strict', concurrency: 1 })
  await worker.ready
  const ended = new Promise<void>((resolve) => second.on('completed', () => order.length === 5 && resolve()))
  await ended
  expect(order).toEqual([3, 9, 2, 0, 1])
  expect(await second.workers()).toMatchObject([{ queues: ['urgent', 'default', 'low'], order: 'strict' }])
  expect((await second.stats()).states).toMatchObject({ completed: 5, waiting: 1 })
  await second.stop()
})
