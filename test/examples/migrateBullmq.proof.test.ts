// apps/examples/migrate/bullmq, and what docs/migrate/bullmq.md says of BullMQ: the real one runs, on a real Redis.
import { defineJob, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { FlowProducer, type JobsOptions, Queue, QueueEvents, Worker } from 'bullmq'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../redis.ts'
import { foreignSnippets, freshFile, runUntil, startMoved } from './migrate.ts'

const TOKEN = 'test-token-0123456789abcdef'

test('the shop does the same before and after', async (context) => {
  const { url } = await startRedis(context)
  const before = await runUntil(startMoved('bullmq/before.ts', { REDIS_URL: url }), /^polishing$/)
  const after = await runUntil(startMoved('bullmq/after.ts', {}, freshFile()), /^polishing$/)
  expect(before.main).toEqual([
    'not painted: there is no such paint',
    'smooth after 3 attempts: half of it',
    'grain 80, grain 160, grain 240',
    'hood failed: still rough',
    'waiting: 3',
    'asked twice, one job: true',
    'cleaned 1',
    'cleaned 2',
    'assembled of part: black and part: blue',
    'assembled of part: green and part: red and part: white',
    '4 inspections took a second or more: true',
    // The second one stays where it is.
    'polishing',
    'polished',
  ])
  const { stderr, ...printed } = after
  expect({ ...printed, stderr: '' }).toEqual(before)
  // BullMQ logs nothing.
  expect(stderr).toMatch(/^millrace warning: job 'car' failed at attempt 1 of 3 and is tried again: Error: the nozzle is clogged/)
})

test('both at once: BullMQ runs what is left in Redis, and the way back brings what Millrace has not begun, once', async (context) => {
  const { url, client: connection } = await startRedis(context)
  const env = { REDIS_URL: url }
  const file = freshFile()
  const old = new Queue('paint', { connection })
  await old.add('car', { color: 'red' })
  await old.add('car', { color: 'green' }, { delay: 86_400_000 })
  const both = startMoved('bullmq/both.ts', env, file)
  await Promise.all([both.said(/^painted red$/), both.said(/^painted blue$/), both.said(/^left in Redis: [12]$/)])
  both.child.kill('SIGTERM')
  expect(await both.ended).toEqual({ code: 0, signal: null, stderr: '' })

  const engine = await openEngine({ file })
  await engine.enqueueMany([
    { job: 'car', data: { color: 'urgent' }, options: { queue: 'paint', priority: -4, maxAttempts: 3 } },
    { job: 'car', data: { color: 'late' }, options: { queue: 'paint', delay: '1h', maxAttempts: 1 } },
    { job: 'bystander', data: {}, options: { queue: 'other' } },
  ])
  await engine.stop()
  const back = () => startMoved('bullmq/back.ts', env, file)
  for (const lines of [['car is back in Redis', 'car is back in Redis'], []]) {
    const program = back()
    expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
    expect(program.lines).toEqual(lines)
  }
  expect(await old.getJobCounts('waiting', 'prioritized', 'delayed')).toEqual({ waiting: 0, prioritized: 1, delayed: 2 })
  expect(await old.getPrioritized()).toMatchObject([{ data: { color: 'urgent' }, opts: { priority: 4, attempts: 3 } }])
  const again = await openEngine({ file })
  expect((await again.stats()).states).toMatchObject({ waiting: 1, scheduled: 0, cancelled: 2 })
  await again.stop()
})

test('the traps are true of BullMQ', async (context) => {
  const { client, connect } = await startRedis(context)
  const queue = new Queue('traps', { connection: client })
  const jobs = (...types: ('waiting' | 'delayed' | 'prioritized')[]) => queue.getJobCounts(...types)
  // `drain` removes.
  await queue.add('one', {})
  await queue.add('two', {}, { priority: 1 })
  await queue.add('three', {}, { delay: 86_400_000 })
  await queue.drain()
  expect(await jobs('waiting', 'prioritized', 'delayed')).toEqual({ waiting: 0, prioritized: 0, delayed: 1 })
  await queue.drain(true)
  expect(await jobs('delayed')).toEqual({ delayed: 0 })

  // One attempt, one job at a time, no delay between attempts, `failed` for each of them; a `failed` of QueueEvents for the last one.
  const events = new QueueEvents('traps', { connection: connect() })
  await events.waitUntilReady()
  const seen: string[] = []
  const worker = new Worker('traps', ({ attemptsMade }) => Promise.reject(new Error(`after ${attemptsMade}`)), { connection: connect() })
  onTestFinished(() => worker.close(true))
  expect(worker.concurrency).toBe(1)
  worker.on('failed', (job) => seen.push(`worker ${job?.name} ${job?.attemptsMade}`))
  events.on('failed', ({ failedReason }) => seen.push(`events ${failedReason}`))
  const fail = async (name: string, opts: JobsOptions) =>
    expect((await queue.add(name, {}, opts)).waitUntilFinished(events)).rejects.toThrow('after')
  await fail('default', {})
  await fail('twice', { attempts: 2 })
  await expect
    .poll(() => seen.toSorted())
    .toEqual(['events after 0', 'events after 1', 'worker default 1', 'worker twice 1', 'worker twice 2'])

  // A job id counts for as long as its job is kept; options that it does not know pass without a word.
  const same = { jobId: 'order-17', timeout: 1 } as JobsOptions
  expect((await queue.add('id', {}, same)).id).toBe('order-17')
  await expect.poll(async () => (await queue.getJob('order-17'))?.getState()).toBe('failed')
  await queue.add('id', {}, same)
  expect(await queue.getJobCounts('waiting', 'failed')).toEqual({ waiting: 0, failed: 3 })

  // The job that waits for a failed one waits on.
  const flows = new FlowProducer({ connection: client })
  const { job: whole } = await flows.add({ name: 'whole', queueName: 'wholes', children: [{ name: 'part', queueName: 'traps' }] })
  await expect.poll(() => queue.getFailedCount()).toBe(4)
  expect(await whole.getState()).toBe('waiting-children')

  // Cron without a zone goes by the clock of the process.
  await queue.upsertJobScheduler('nightly', { pattern: '0 3 * * *' }, { name: 'nightly' })
  expect(new Date((await queue.getJobScheduler('nightly'))?.next ?? 0).getHours()).toBe(3)
})

test('and Millrace does as the guide says', async () => {
  const engine = await openEngine({ file: ':memory:', logger: false })
  onTestFinished(() => engine.stop())
  const seen: string[] = []
  engine.on('retrying', ({ attempt }) => seen.push(`retrying ${attempt}`)).on('failed', ({ attempt }) => seen.push(`failed ${attempt}`))
  const fail = defineJob({ name: 'fail', backoff: { type: 'fixed', delay: 0 } })
  engine.work(
    fail.handler(({ progress }) => {
      progress(42)
      throw new Error('always')
    }),
  )
  const handle = await engine.enqueue(fail)
  await expect(handle.result()).rejects.toThrow('always')
  const job = await engine.get(handle.id)
  expect(seen).toEqual(['retrying 1', 'retrying 2', 'retrying 3', 'failed 4'])
  expect(job).toMatchObject({ progress: undefined, maxAttempts: 4, timeout: 300_000 })

  const { jobs: failed } = await engine.list({ state: 'failed', lastRun: true })
  expect(failed).toMatchObject([{ attempts: [], lastRun: { error: { message: 'always' } } }])

  // A listener hears of jobs that other processes run.
  const server = await listen(engine, 'tcp://127.0.0.1:0', { token: TOKEN })
  onTestFinished(() => server.close())
  const other = await connect(server.url, { token: TOKEN })
  onTestFinished(() => other.stop())
  const heard = Promise.withResolvers<string>()
  other.on('failed', ({ jobId }) => heard.resolve(jobId))
  const again = await other.enqueue('fail', undefined, { maxAttempts: 1 })
  expect(await heard.promise).toBe(again.id)

  await engine.enqueue('nobody', {}, { queue: 'left' })
  await expect(engine.queues.drain('left', { timeout: 0 })).rejects.toThrow('jobs left')
  await expect(engine.enqueue('nobody', {}, { queue: 'left' })).rejects.toThrow('left')
  expect(await engine.queues.purge('left', { states: ['waiting'] })).toMatchObject({ count: 1 })
  await expect(engine.queues.pause('mistyped')).rejects.toThrow('mistyped')
  await engine.schedules.upsert('nightly', { cron: '0 3 * * *' }, { job: fail })
  expect((await engine.schedules.get('nightly'))?.nextRunAt?.getUTCHours()).toBe(3)
})

test('the snippets of docs/migrate/bullmq.md are parts of these programs', () => {
  const programs = ['before', 'after', 'both', 'back'].map((name) => `bullmq/${name}.ts`)
  expect(foreignSnippets('bullmq', programs)).toEqual([])
})
