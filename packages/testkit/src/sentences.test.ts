// Sentences of the docs that once did not hold.
import { defineJob } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { createTestEngine, type TestEngineOptions } from './index.ts'

function start(options?: TestEngineOptions) {
  const t = createTestEngine(options)
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

test('keys.md: a ttl is for the first start alone, also where a stop gives the run back', async () => {
  const t = start()
  const a = defineJob({ name: 'a' })
  const worker = t.engine.work(
    a.handler(async ({ signal, checkpoint }) => {
      await checkpoint(5)
      await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)))
    }),
  )
  const { id } = await t.engine.enqueue(a, 1, { ttl: '5m' })
  await t.advance('1m')
  const stopped = worker.stop({ timeout: 0 })
  await t.advance('1m')
  await stopped
  await t.advance('5m')
  expect((await t.engine.get(id))?.state).toBe('waiting')
})

test('testkit: a rate whose tokens come at fractions of a millisecond', async () => {
  const t = start()
  const a = defineJob({ name: 'a' })
  t.engine.work(a.handler(() => {}))
  await t.engine.queues.configure('default', { rateLimit: { limit: 3, burst: 1 } })
  for (let i = 0; i < 4; i++) await t.engine.enqueue(a)
  await t.advance('3s')
  expect((await t.enqueued(a)).map(({ state }) => state)).toEqual(Array(4).fill('completed'))
})

test('testkit: durations with fractions are rounded up, as everywhere', async () => {
  const t = start()
  await t.advance('1.5ms')
  await t.engine.enqueue('a', 1)
})

test('schedules.md: each tick makes one job, with a jitter above the interval of a cron too', async () => {
  const t = start()
  const a = defineJob({ name: 'a' })
  t.engine.work(a.handler(() => {}))
  await t.engine.schedules.upsert('s', { cron: '* * * * *', jitter: '30m' }, { job: a })
  await t.advance('3h')
  expect((await t.enqueued(a)).length).toBeGreaterThan(177)
})

test('schedules.md: delete takes its job where that has not started; one that is snoozed has', async () => {
  const t = start()
  const a = defineJob({ name: 'a' })
  t.engine.work(a.handler(({ snooze }) => snooze('10m')))
  await t.engine.schedules.upsert('s', { every: '1h', runImmediately: true }, { job: a })
  await t.drain()
  await t.engine.schedules.delete('s')
  expect(await t.enqueued('a')).toHaveLength(1)
})

test('schedules.md: overlap cancel fires at once, also where a tick waits since overlap was queue', async () => {
  const t = start()
  await t.engine.schedules.upsert('s', { every: '1m', overlap: 'queue' }, { job: 'a' })
  await t.advance('2m')
  await t.engine.schedules.upsert('s', { every: '1m', overlap: 'cancel' }, { job: 'a' })
  await t.advance('5m')
  expect((await t.enqueued('a')).map(({ state }) => state)).toEqual([...Array(6).fill('cancelled'), 'waiting'])
})

test('schedules.md: meta.schedule is the tick', async () => {
  const t = start()
  await t.engine.schedules.upsert('s', { every: '1m' }, { job: 'a', options: { meta: { schedule: 'mine', b: 1 } } })
  await t.advance('1m')
  const [job] = await t.enqueued('a')
  expect(job?.meta).toEqual({ schedule: { id: 's', at: '2030-01-01T00:01:00.000Z' }, b: 1 })
})

test('options: no number at all, and times at the end of time', async () => {
  const t = start()
  const none = { hours: Number.POSITIVE_INFINITY, minutes: Number.NEGATIVE_INFINITY }
  await expect(t.engine.enqueue('a', 1, { delay: none })).rejects.toMatchObject({ name: 'OptionTypeError', option: 'delay' })
  await expect(t.engine.enqueue('a', 1, { ttl: none })).rejects.toMatchObject({ name: 'OptionTypeError', option: 'ttl' })
  const spec = { cron: '0 0 * * *', timezone: 'Europe/Berlin', startAt: 8.64e15 }
  expect((await t.engine.schedules.upsert('s', spec, { job: 'a' })).nextRunAt).toBeUndefined()
})

test('lifecycle.md: how a job ended before is told, also once it was brought back and has run for the first time', async () => {
  const t = start()
  const a = defineJob({ name: 'a' })
  const { id } = await t.engine.enqueue(a, 1, { ttl: '1s' })
  await t.advance('2s')
  await t.engine.retry(id)
  t.engine.work(a.handler(() => {}))
  await t.drain()
  expect((await t.engine.get(id))?.attempts.map(({ run, error }) => [run, error?.name])).toEqual([
    [0, 'JobExpiredError'],
    [1, undefined],
  ])
})

test('observability.md: the minute of `to` is not told, and a queue may have any name', async () => {
  const t = start()
  await t.engine.enqueue('a', 1, { queue: '__proto__' })
  expect(await t.engine.history({ to: t.clock.now().getTime() + 30_000 })).toEqual([])
  expect(Object.keys((await t.engine.stats()).queues)).toEqual(['__proto__'])
})
