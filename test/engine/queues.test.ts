// What queues are told, through an engine of its own thread: in force at once, kept over a restart, refused by name where it is wrong.
import { join } from 'node:path'
import { defineJob, openEngine, QueueFullError } from '@millrace/engine'
import { expect, test } from 'vitest'
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

test.each([
  [{ concurrencyLimit: 0 }, /concurrencyLimit is from 1 to 1000000, not 0/],
  [{ perKeyLimit: -1 }, /perKeyLimit is from 1/],
  [{ rateLimit: { limit: 0 } }, /rateLimit.limit is from 1/],
  [{ rateLimit: { limit: 1, period: 0 } }, /rateLimit.period is at least 1 ms/],
  [{ rateLimit: { limit: 1, burst: 0 } }, /rateLimit.burst is from 1/],
  [{ perKeyRateLimit: { limit: 0 } }, /perKeyRateLimit.limit is from 1/],
  [{ perKeyRateLimit: { limit: 1, priod: 5 } }, /no option 'priod'; did you mean 'period'/],
  [{ keyOrder: 'strikt' }, /keyOrder is 'strict' or 'turns', not "strikt"; did you mean 'strict'/],
  [{ keyOrder: 'strict', perKeyLimit: 2 }, /perKeyLimit is 1, or left out, where keyOrder is 'strict', not 2/],
  [{ maxLength: 1.5 }, /maxLength is a whole number/],
  [{ concurencyLimit: 1 }, /no option 'concurencyLimit'; did you mean 'concurrencyLimit'/],
  [{ defaults: { queue: 'b' } }, /no option 'queue'/],
])('refused: %j', async (options, message) => {
  const engine = await openEngine({ file: ':memory:' })
  await expect(engine.queues.configure('media', options as never)).rejects.toThrow(message)
  await expect(engine.queues.pause('media', { job: 'a', key: 'k' })).rejects.toThrow(/not of both/)
  expect(await engine.queues.list()).toEqual([])
  await engine.stop()
})
