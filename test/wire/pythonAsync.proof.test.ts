// The Python client for asyncio beside a real engine: no handler and no call holds up the event loop, and a held-up loop loses no job.
import { join } from 'node:path'
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { HAS_PYTHON, startPython } from './python.ts'

beforeEach(({ skip }) => {
  if (!HAS_PYTHON) skip('no python3 of 3.8 or newer on this machine')
})

async function serving() {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return { engine, server: await serve(engine) }
}

async function serve(engine: Engine, url = `unix:${join(temporaryFolder(), 'sock')}`) {
  const server = await listen(engine, url)
  onTestFinished(() => server.close())
  return server
}

/** An engine, its server, and a worker in Python. */
async function working() {
  const { engine, server } = await serving()
  return { engine, server, worker: startPython('async_worker', server.url, 'py') }
}

test('many jobs at a time; what fails, what is stored, what is tried again', async () => {
  const { engine } = await working()
  const handles = await engine.enqueueMany(Array.from({ length: 500 }, (_, data) => ({ job: 'double', data })))
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(handles.map((_, index) => index * 2))
  const broken = await engine.enqueue('broken', null, { maxAttempts: 2 })
  const message = "no such thing after {'attempt': 1}"
  await expect(broken.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'ValueError', message } })
  expect(await engine.get(broken.id)).toMatchObject({ progress: 0.5, attempts: [{ logs: [{ level: 'warn', message: 'begun' }] }, {}] })
})

test('a handler joins jobs, and reads what its job has waited for', async () => {
  const { engine } = await working()
  expect(await (await engine.enqueue('crawl', 250)).result()).toEqual(Array.from({ length: 250 }, (_, number) => number * 2))
  const flow = await engine.flow([
    { ref: 'a', job: 'double', data: 4 },
    { ref: 'b', job: 'inherits', dependsOn: ['a'] },
  ])
  expect(await flow.jobs.b.result()).toEqual([8])
})

test('a handler remembers parallel steps and who has won a race, and tries a step again', async () => {
  const { engine, worker } = await working()
  const handle = await engine.enqueue('order', 2, { maxAttempts: 2, backoff: { type: 'fixed', delay: 1 } })
  await expect.poll(async () => (await engine.steps(handle.id))?.waits.map(({ name }) => name)).toEqual(['nap'])
  await engine.runNow(handle.id)
  expect(await handle.result()).toEqual([[1, 1, 1], false, 'sent'])
  expect(await engine.get(handle.id)).toMatchObject({ attempts: [{ run: 2, error: { name: 'ValueError' } }, { run: 3 }] })
  expect(worker.lines).toEqual(['hangs 1', 'send 2 1', 'send 3 2'])
})

test('a handler is cancelled with its job, and one that ignores it holds up neither others nor `run`', async () => {
  const { engine, worker } = await working()
  const handle = await engine.enqueue('long')
  await worker.said(/^long 1 /)
  expect(await engine.cancel(handle.id)).toBe('cancelling')
  await worker.said(/^cancelled 1 cancel$/)
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  const stuck = await engine.enqueue('stuck')
  await worker.said(/^stuck 1$/)
  await engine.cancel(stuck.id)
  await worker.said(/^ignored cancel$/)
  await expect(stuck.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
  expect(await (await engine.enqueue('double', 1)).result()).toBe(2)
  await engine.enqueue('stuck')
  await worker.saidLines(5)
  worker.child.kill('SIGTERM')
  await worker.said(/^stopped$/)
})

test('a worker that is stopped, and one whose task is cancelled, give their jobs back, and leave', async () => {
  const { engine, server, worker } = await working()
  const handle = await engine.enqueue('long')
  await worker.said(/^long 1 /)
  worker.child.kill('SIGTERM')
  await worker.said(/^cancelled 1 stop$/)
  await worker.said(/^stopped$/)
  expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await engine.get(handle.id)).toMatchObject({ state: 'waiting', run: 1, attempt: 0 })
  const other = startPython('async_worker', server.url, 'other')
  await other.said(/^long 2 /)
  other.child.kill('SIGUSR1')
  await other.said(/^given up$/)
  expect(await other.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await engine.get(handle.id)).toMatchObject({ state: 'waiting', run: 2, attempt: 0 })
  expect(await engine.workers()).toEqual([])
})

test('a handler that holds up the event loop for longer than its lease keeps its job', async () => {
  const { engine, worker } = await working()
  const handle = await engine.enqueue('blocks', null, { timeout: '1h', heartbeatTimeout: '1s' })
  await worker.said(/^blocks 1$/)
  const began = Date.now()
  const heard = async () => Number((await engine.workers())[0]?.lastSeenAt) - began
  await expect.poll(heard, { timeout: 20_000 }).toBeGreaterThan(1_500)
  worker.child.stdin.write('still there\n')
  expect(await handle.result()).toEqual(['still there', 1])
})

test('a producer: many calls at a time, lists, events, and a result that outlives a break', async () => {
  const { engine, server } = await serving()
  engine.work(defineJob<unknown>({ name: 'echo' }).handler(async ({ data }) => data))
  const producer = startPython('async_producer', server.url)
  const ready = JSON.parse(await producer.said(/ready/)) as { ready: string }
  await server.close()
  await serve(engine, server.url)
  await engine.cancel(ready.ready)
  expect(await producer.ended).toMatchObject({ code: 0, stderr: '' })
  expect(producer.lines.map((line) => JSON.parse(line))).toEqual([
    { same: true },
    { large: 2 ** 20 - 2 },
    { jobs: Array.from({ length: 5 }, () => 'scheduled'), queues: ['default', 'q'] },
    { cancelled: 'cancelled', twice: 'JOB_FINISHED' },
    { reason: 'no longer wanted', result: 'JOB_CANCELLED', none: null },
    { late: true },
    { events: [['enqueued', true]] },
    ready,
    { after: 'JOB_CANCELLED' },
  ])
})
