// What goes wrong at a test's word, and what the engine makes of it.
import { CommitUnknownError, DiskFullError, defineJob, type EnqueueOptions, StorageError } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { createTestEngine } from './index.ts'

const pay = defineJob<number>({ name: 'pay', maxAttempts: 2, backoff: { type: 'fixed', delay: '10s', jitter: 0 } })

function start() {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

const once: EnqueueOptions = { idempotencyKey: 'order-7' }

test('failWrite: nothing is written, and the same call goes well again', async () => {
  const t = start()
  await t.engine.enqueue('bystander')
  t.faults.failWrite()
  await expect(t.engine.enqueue(pay, 1)).rejects.toThrow(StorageError)
  await t.expectEnqueued(pay, {}, { count: 0 })
  await t.engine.enqueue(pay, 1)
  await t.expectEnqueued(pay, {}, { count: 1 })
  await t.expectEnqueued('bystander', {}, { count: 1 })
})

test('after and times: which writes fail', async () => {
  const t = start()
  t.faults.failWrite({ after: 1, times: 2 })
  const outcomes: string[] = []
  for (let call = 0; call < 4; call++)
    await t.engine.enqueue(pay, call).then(
      () => outcomes.push('stored'),
      () => outcomes.push('refused'),
    )
  expect(outcomes).toEqual(['stored', 'refused', 'refused', 'stored'])
})

test.each([
  ['failCommit', 0],
  ['loseReply', 1],
] as const)('%s: nobody knows; %i is stored, and one once it is said again under its key', async (fault, stored) => {
  const t = start()
  await t.engine.enqueue('bystander')
  t.faults[fault]()
  await expect(t.engine.enqueue(pay, 1, once)).rejects.toThrow(CommitUnknownError)
  await t.expectEnqueued(pay, {}, { count: stored })
  expect((await t.engine.enqueue(pay, 1, once)).created).toBe(stored === 0)
  await t.expectEnqueued(pay, {}, { count: 1 })
  await t.expectEnqueued('bystander', {}, { count: 1 })
})

test('a worker whose attach was not answered comes back after some of the time; drain says so', async () => {
  const t = start()
  t.engine.work(pay.handler(() => 'paid'))
  t.faults.loseReply()
  await expect(t.engine.enqueue(pay, 1)).rejects.toThrow(CommitUnknownError)
  await expect(t.drain({ timeout: 5 })).rejects.toThrow(/1 active 'pay'.+its worker has yet to come back.+clock\.advance\('1s'\)/)
  await t.clock.advance('1s')
  await t.expectEnqueued(pay, { output: 'paid', attempt: 1 })
})

test('a completion whose answer is lost is said again: the job has run once', async () => {
  const t = start()
  let runs = 0
  t.engine.work(
    pay.handler(({ enqueue }) => {
      runs++
      enqueue('receipt')
      t.faults.loseReply()
    }),
  )
  await t.engine.enqueue(pay, 1)
  await t.clock.advance('1s')
  expect(runs).toBe(1)
  await t.expectEnqueued(pay, { state: 'completed', attempt: 1 })
  await t.expectEnqueued('receipt', {}, { count: 1 })
})

test('slowCommit: the time passes within the commit, and what was due meanwhile fires late', async () => {
  const t = start()
  const at: string[] = []
  t.engine.work(pay.handler(() => void at.push(new Date(t.clock.read().wall).toISOString().slice(11, 19))))
  await t.engine.enqueue(pay, 1, { delay: '10s' })
  t.faults.slowCommit('1m')
  await t.engine.enqueue('bystander')
  expect(t.clock.read().mono).toBe(60_000)
  await t.clock.advance('1s')
  expect(at).toEqual(['00:01:00'])
  expect(t.clock.read().mono).toBe(61_000)
  expect(() => t.faults.slowCommit('soon' as '1m')).toThrow(/slowCommit/)
})

test('fillDisk: new work is refused, what runs completes; healed, it is taken again', async () => {
  const t = start()
  let end = () => {}
  t.engine.work(
    pay.handler(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    ),
  )
  const { id } = await t.engine.enqueue(pay, 1)
  t.faults.fillDisk()
  await expect(t.engine.enqueue(pay, 2)).rejects.toThrow(DiskFullError)
  end()
  await t.clock.advance('2s')
  expect((await t.engine.get(id))?.state).toBe('completed')
  await expect(t.engine.enqueue(pay, 2)).rejects.toThrow(DiskFullError)
  t.faults.heal()
  await t.clock.advance('1s')
  await t.engine.enqueue(pay, 2)
})

test('restartWriter: workers live, and go on with what they run', async () => {
  const t = start()
  let end = (_: string) => {}
  const attempts: number[] = []
  t.engine.work(
    pay.handler(({ job }) => {
      attempts.push(job.attempt)
      return new Promise<string>((resolve) => {
        end = resolve
      })
    }),
  )
  const handle = await t.engine.enqueue(pay, 1)
  await t.clock.advance(0)
  await t.faults.restartWriter()
  end('paid')
  await t.drain()
  expect(await handle.result()).toBe('paid')
  expect(attempts).toEqual([1])
})

test('schedules and limits live through a restart: no tick twice, no second burst', async () => {
  const t = start()
  const starts: string[] = []
  const work = () => t.engine.work(pay.handler(() => void starts.push(new Date(t.clock.read().wall).toISOString().slice(11, 19))))
  await t.engine.queues.configure('default', { rateLimit: { limit: 2, period: '1m', burst: 2 } })
  await t.engine.schedules.upsert('minutely', { every: '10s' }, { job: pay, data: 1 })
  work()
  await t.clock.advance('20s')
  await t.restart()
  work()
  await t.clock.advance('10s')
  await t.faults.restartWriter()
  await t.clock.advance('30s')
  expect(starts).toEqual(['00:00:10', '00:00:20', '00:00:40'])
  const ticks = (await t.enqueued(pay)).map(({ meta }) => (meta as { schedule: { at: string } }).schedule.at)
  expect(ticks).toEqual([...new Set(ticks)])
})

test('a test that ends amid trouble ends', async () => {
  await using t = createTestEngine()
  t.engine.work(pay.handler(() => new Promise(() => {})))
  await t.engine.enqueue(pay, 1)
  t.faults.failWrite({ times: Number.POSITIVE_INFINITY })
})
