/** Handlers on the thread pool: the same context, and an end to those that do not listen. */
import { threadId } from 'node:worker_threads'
import { defineJob } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'

const answer = defineJob<{ do: string; value?: number }>({
  name: 'answer',
  backoff: { type: 'fixed', delay: 0 },
  maxAttempts: 2,
  timeout: '1h',
})
const onThreads = () => answer.thread(new URL('./handlers/answer.ts', import.meta.url), { threads: 1 })

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

async function run(data: { do: string; value?: number }) {
  return (await t.engine.enqueue(answer, data)).result()
}

/** Resolves when the job has said that it started. */
function started(): Promise<void> {
  return new Promise((resolve) => t.engine.once('started', () => resolve()))
}

test('runs in another thread, whose setup is called once', async () => {
  t.engine.work([onThreads()])
  expect(await run({ do: 'square', value: 12 })).toBe(144)
  const [first, second] = [await run({ do: 'where' }), await run({ do: 'where' })]
  expect(first).toEqual(second)
  expect(first).toMatchObject({ setups: 1 })
  expect(first).not.toMatchObject({ threadId })
})

test('the whole context works there: progress, log, heartbeat, checkpoint, enqueue, and errors with their names', async () => {
  t.engine.work([onThreads()])
  const handle = await t.engine.enqueue(answer, { do: 'tell' })
  expect(await handle.result()).toEqual({ seen: 1 })
  const job = await t.engine.get(handle.id)
  expect(job).toMatchObject({ progress: 0.5, progressNote: 'half', checkpoint: { seen: 2 } })
  expect(job?.attempts).toMatchObject([
    { error: { name: 'TypeError', message: 'first' }, logs: [{ message: 'from the thread' }] },
    { logs: [{ fields: { attempt: 2 } }] },
  ])
  expect((await t.engine.list({ name: 'child' })).jobs).toMatchObject([{ data: { from: handle.id } }])
})

test('snooze, discard and cancel work there', async () => {
  t.engine.work([onThreads()])
  await expect(run({ do: 'cancel' })).rejects.toMatchObject({ code: 'JOB_CANCELLED', reason: 'unwanted' })
  await expect(run({ do: 'discard' })).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { message: 'unwanted' } })
  const handle = await t.engine.enqueue(answer, { do: 'snooze' })
  await new Promise<void>((resolve) => t.engine.once('snoozed', () => resolve()))
  await t.advance('1h')
  expect(await handle.result()).toBe('awake')
})

test('a handler there may join jobs that run in its own thread', async () => {
  t.engine.work([onThreads()], { concurrency: 1 })
  expect(await run({ do: 'join' })).toEqual(['completed'])
})

test('E11: a cancel aborts the signal in the thread', async () => {
  t.engine.work([onThreads()])
  const running = started()
  const handle = await t.engine.enqueue(answer, { do: 'abort' })
  await running
  await t.engine.cancel(handle.id)
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  expect(await run({ do: 'square', value: 3 })).toBe(9)
})

test('the reason of a cancel reaches the thread', async () => {
  t.engine.work([onThreads()])
  const running = started()
  const handle = await t.engine.enqueue(answer, { do: 'why' })
  await running
  await t.engine.cancel(handle.id, { reason: 'wrong file' })
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  expect((await t.engine.get(handle.id))?.attempts[0]?.logs).toMatchObject([{ message: 'wrong file' }])
})

test('a handler that ignores its abort is killed after the grace, and the pool goes on', async () => {
  const worker = t.engine.work([onThreads()], { abortGrace: '5s' })
  // The thread is up before it is made to spin.
  await run({ do: 'where' })
  const running = started()
  const handle = await t.engine.enqueue(answer, { do: 'spin' })
  await running
  await t.engine.cancel(handle.id)
  await t.advance('5s')
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  expect(await run({ do: 'square', value: 4 })).toBe(16)
  expect(worker.zombies).toBe(0)
})

test('sandbox-kill9-fails-job: a thread that dies fails its attempt, which is tried again, and the pool goes on', async () => {
  t.engine.work([onThreads()])
  const handle = await t.engine.enqueue(answer, { do: 'exit' })
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', attempt: 2 })
  expect((await t.engine.get(handle.id))?.attempts).toHaveLength(2)
  expect(await run({ do: 'square', value: 5 })).toBe(25)
})

test('sandbox-init-failure-evicts-child: a module that cannot be loaded fails its jobs with the reason', async () => {
  const lost = defineJob({ name: 'lost', maxAttempts: 1 })
  t.engine.work([lost.thread(new URL('./handlers/nowhere.ts', import.meta.url), { threads: 1 })])
  const error = await (await t.engine.enqueue(lost)).result().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'JOB_FAILED', cause: { message: expect.stringContaining('nowhere.ts') } })
})

test('more jobs than threads wait for their turn', async () => {
  t.engine.work([onThreads()], { concurrency: 50 })
  const handles = await t.engine.enqueueMany(Array.from({ length: 50 }, (_, value) => ({ job: answer, data: { do: 'square', value } })))
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(Array.from({ length: 50 }, (_, value) => value ** 2))
})

test('no job waits for a thread inside its own timeout: the worker takes as many as it has threads', async () => {
  const beside = defineJob<string>({ name: 'beside', timeout: '2h' })
  const gate = Promise.withResolvers<void>()
  const entered: string[] = []
  const inline = beside.handler(async ({ data }) => {
    entered.push(data)
    await gate.promise
  })
  t.engine.work([onThreads(), inline], { concurrency: 8 })
  // The thread is up before its time counts.
  await run({ do: 'where' })
  const running = started()
  const first = await t.engine.enqueue(answer, { do: 'abort' }, { maxAttempts: 1 })
  await running
  const second = await t.engine.enqueue(answer, { do: 'square', value: 3 })
  await t.engine.enqueueMany(Array.from({ length: 9 }, (_, index) => ({ job: beside, data: String(index) })))
  await t.advance('1h')
  await expect(first.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'JobTimeoutError' } })
  expect(await second.result()).toBe(9)
  expect(await t.engine.get(second.id)).toMatchObject({ attempt: 1, run: 1, attempts: [{ attempt: 1 }] })
  expect(entered).toHaveLength(8)
  gate.resolve()
})

test('with `prefetch` a worker takes more jobs than its pool has threads, and no more than its concurrency', async () => {
  const pool = answer.thread(new URL('./handlers/answer.ts', import.meta.url), { threads: 1, prefetch: 5 })
  t.engine.work(pool, { concurrency: 3 })
  const handles = await t.engine.enqueueMany(Array.from({ length: 5 }, () => ({ job: answer, data: { do: 'abort' } })))
  expect((await t.engine.stats()).states).toMatchObject({ active: 3, waiting: 2 })
  expect(await t.engine.workers()).toMatchObject([{ maxConcurrency: 3 }])
  await t.engine.cancelMany({ ids: handles.map(({ id }) => id) })
})

test('a worker with two pools is one worker: it is stopped, killed and replaced as a whole', async () => {
  const other = defineJob<{ do: string }>({ name: 'other' })
  const url = new URL('./handlers/answer.ts', import.meta.url)
  const handlers = () => [onThreads(), other.thread(url, { threads: 2 }), defineJob({ name: 'third' }).handler(() => 1)]
  const worker = t.engine.work(handlers(), { id: 'w', concurrency: 4 })
  expect((await t.engine.workers()).map(({ id, maxConcurrency, names }) => [id, maxConcurrency, names])).toEqual([
    ['w', 4, ['third']],
    ['w', 1, ['answer']],
    ['w', 2, ['other']],
  ])
  const running = started()
  const handle = await t.engine.enqueue(answer, { do: 'abort' })
  await running
  expect(worker.running).toBe(1)
  await t.faults.killWorker(worker)
  expect(worker.running).toBe(0)
  const next = t.engine.work(handlers(), { id: 'w' })
  await t.engine.stopWorker('w', { timeout: 0 })
  await next.stopped
  expect([await t.engine.workers(), (await t.engine.get(handle.id))?.state]).toEqual([[], 'waiting'])
})
