// Emptying a queue: purge, drain, delete. Under a virtual clock, and through the public engine.
import { STATES } from '@millrace/core'
import {
  DrainIncompleteError,
  defineJob,
  type EnqueueOptions,
  JobNotFoundError,
  QueueDrainingError,
  QueueNotEmptyError,
} from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'

const mail = defineJob<number>({ name: 'mail', queue: 'mail', maxAttempts: 2, backoff: { type: 'fixed', delay: '10s', jitter: 0 } })

function start() {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

/** Whether a promise has come to its end. */
function watch(promise: Promise<unknown>): { ended: boolean } {
  const seen = { ended: false }
  const end = () => {
    seen.ended = true
  }
  promise.then(end, end)
  return seen
}

test('keep: how long one job is kept is said at its enqueue, and in its definition', async () => {
  const { engine, advance } = start()
  await engine.queues.configure('mail', { retention: { completed: { age: '1h', count: 1 }, failed: 0 } })
  const brief = defineJob<number>({ name: 'brief', queue: 'mail', keep: '10m', maxAttempts: 1 })
  const answer = async ({ data }: { data: number }) => {
    if (data < 0) throw new Error('no')
    return data
  }
  engine.work([mail.handler(answer), brief.handler(answer)])
  const run = async (job: typeof mail, data: number, keep?: EnqueueOptions['keep']) => {
    const handle = await engine.enqueue(job, data, { maxAttempts: 1, ...(keep !== undefined && { keep }) })
    await handle.result().catch(() => undefined)
    return handle.id
  }
  const left = async (...ids: readonly string[]) => (await Promise.all(ids.map((id) => engine.get(id)))).map((job) => job !== undefined)

  // A caller that has waited for it gets its output.
  const gone = await engine.enqueue(mail, 7, { keep: 0, delay: '1s' })
  const output = gone.result()
  await advance('1s')
  expect(await output).toBe(7)
  expect(await left(gone.id)).toEqual([false])
  await expect(gone.result()).rejects.toThrow(JobNotFoundError)

  const forever = await run(mail, 1, 'forever')
  const long = await run(mail, 2, '3h')
  const defined = await run(brief, 3)
  const failed = await run(brief, -1, '2h')
  const [older, newest] = [await run(mail, 4), await run(mail, 5)]
  const all = [forever, long, defined, failed, older, newest]
  expect(await engine.get(long)).toMatchObject({ keep: 10_800_000 })
  expect(await engine.get(newest)).toMatchObject({ keep: undefined })
  await advance('1m')
  expect(await left(...all)).toEqual([true, true, true, true, false, true])
  expect((await engine.list({ queue: 'mail', state: 'completed' })).jobs.map(({ id }) => id)).toEqual([newest, defined, long, forever])
  await advance('10m')
  expect(await left(...all)).toEqual([true, true, false, true, false, true])
  await advance('1h')
  expect(await left(...all)).toEqual([true, true, false, true, false, false])
  await advance('1h')
  expect(await left(...all)).toEqual([true, true, false, false, false, false])
  await advance('1h')
  expect(await left(...all)).toEqual([true, false, false, false, false, false])
  await advance('10d')
  expect(await left(forever)).toEqual([true])
  expect(await engine.queues.purge('mail')).toMatchObject({ count: 1 })
})

test('M10: purge: counts first, removes by state, and leaves what runs and the neighbours', async () => {
  const { engine } = start()
  const running = Promise.withResolvers<void>()
  onTestFinished(() => running.resolve())
  engine.work([mail.handler(async ({ data }) => (data === 0 ? running.promise : undefined))])
  await engine.enqueue(mail, 0)
  await (await engine.enqueue(mail, 1)).result()
  await engine.queues.pause('mail')
  await engine.enqueueMany(Array.from({ length: 700 }, (_, index) => ({ job: mail, data: index + 2 })))
  await engine.enqueue(mail, 5, { delay: '1h' })
  const bystander = await engine.enqueue('mail', 1, { queue: 'other', delay: '1h' })

  const all = { states: { blocked: 0, scheduled: 1, waiting: 700, completed: 1, failed: 0, cancelled: 0 }, count: 702, active: 1 }
  expect(await engine.queues.purge('mail', { dryRun: true })).toEqual(all)
  expect((await engine.stats()).states).toMatchObject({ waiting: 700, completed: 1, active: 1 })
  expect(await engine.queues.purge('mail', { states: ['scheduled'] })).toEqual({ states: { scheduled: 1 }, count: 1, active: 1 })
  expect(await engine.queues.purge('mail')).toEqual({ ...all, states: { ...all.states, scheduled: 0 }, count: 701 })
  expect((await engine.queues.get('mail'))?.states).toEqual({ ...Object.fromEntries(STATES.map((state) => [state, 0])), active: 1 })
  expect(await engine.get(bystander.id)).toMatchObject({ state: 'scheduled' })
  expect(await engine.queues.purge('nowhere')).toMatchObject({ count: 0, active: 0 })
})

test('drain: waits for what is scheduled, waits and runs; a schedule is passed over; then the queue can be deleted', async () => {
  const { engine, advance } = start()
  let fails = 1
  const done: number[] = []
  engine.work([
    mail.handler(async ({ data }) => {
      if (data === 1 && fails-- > 0) throw new Error('once')
      done.push(data)
    }),
  ])
  await engine.schedules.upsert('every', { every: '1s' }, { job: 'mail', data: 9, options: { queue: 'mail' } })
  await engine.enqueue(mail, 1)
  await engine.enqueue(mail, 2, { delay: '30s' })
  await quiet()
  const drained = engine.queues.drain('mail')
  const seen = watch(drained)
  await expect(engine.enqueue(mail, 3)).rejects.toThrow(QueueDrainingError)
  await expect(engine.enqueue(mail, 3)).rejects.toMatchObject({ retryable: true, queue: 'mail', message: expect.stringMatching(/resume/) })
  await expect(engine.schedules.trigger('every')).rejects.toThrow(QueueDrainingError)
  await advance('29s')
  expect([seen.ended, done]).toEqual([false, [1]])
  await advance('2s')
  await drained
  expect(done).toEqual([1, 2])
  expect(await engine.schedules.get('every')).toMatchObject({ runs: 0, skipped: expect.toSatisfy((skipped: number) => skipped >= 30) })
  await engine.queues.drain('mail')

  await expect(engine.queues.delete('mail')).rejects.toThrow(QueueNotEmptyError)
  expect(await engine.queues.purge('mail')).toMatchObject({ count: 2 })
  expect(await engine.queues.delete('mail')).toBe(true)
  expect(await engine.queues.delete('mail')).toBe(false)
  expect((await engine.queues.list()).map(({ name }) => name)).not.toContain('mail')
  // It is a new queue, which drains no more.
  await (await engine.enqueue(mail, 4)).result()
  expect(await engine.queues.get('mail')).toMatchObject({ settings: {}, totals: { completed: 1 } })
})

test('drain: a timeout tells, and the queue goes on draining until it is resumed; a resume ends who waits', async () => {
  const { engine, advance, inThread } = start()
  await engine.enqueue(mail, 1)
  const late = engine.queues.drain('mail', { timeout: '5s' })
  const expectLate = expect(late).rejects.toMatchObject({
    code: 'DRAIN_INCOMPLETE',
    queue: 'mail',
    message: expect.stringMatching(/5000 ms/),
  })
  await advance('5s')
  await expectLate
  await expect(engine.enqueue(mail, 2)).rejects.toThrow(QueueDrainingError)
  const again = engine.queues.drain('mail')
  const expectResumed = expect(again).rejects.toThrow(DrainIncompleteError)
  await quiet()
  await engine.queues.resume('mail')
  await expectResumed
  await engine.enqueue(mail, 2)
  expect(inThread.actor.tables.bounded).toBe(0)
})

test('a paused queue does not drain until it goes on', async () => {
  const { engine } = start()
  engine.work([mail.handler(() => {})])
  await engine.queues.configure('mail', {})
  await engine.queues.pause('mail', { job: 'mail' })
  await engine.enqueue(mail, 1)
  const drained = engine.queues.drain('mail')
  const seen = watch(drained)
  await quiet()
  expect(seen.ended).toBe(false)
  await engine.queues.resume('mail', { job: 'mail' })
  await drained
})

test.each([
  ['an unknown state', { states: ['done'] }, /states\[0\]/],
  ['jobs that run', { states: ['active'] }, /cancel them first/],
  ['no state', { states: [] }, /at least one/],
  ['states that are none', { states: 'waiting' }, /array/],
  ['a dry run, perhaps', { dryRun: 1 }, /true or false/],
  ['an unknown option', { dry: true }, /no option 'dry'/],
])('purge refused: %s', async (_what, options, message) => {
  const { engine } = start()
  await expect(engine.queues.purge('mail', options as never)).rejects.toThrow(message)
})

test('drain refused: a timeout below zero', async () => {
  const { engine } = start()
  await expect(engine.queues.drain('mail', { timeout: -1 })).rejects.toThrow(RangeError)
  await expect(engine.queues.drain('no name')).rejects.toThrow(/name/)
  expect(await engine.queues.list()).toEqual([])
})
