/** Durable calls of handlers in threads and in child processes: the same as in the thread of the engine. */
import { defineJob, type EngineEvent } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const saga = defineJob<string, { isNew: boolean; failed: string; calls: string[] }>({
  name: 'saga',
  maxAttempts: 2,
  timeout: '1d',
  backoff: { type: 'fixed', delay: '10s', jitter: 0 },
})
const url = new URL('./handlers/saga.ts', import.meta.url)

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const once = (event: EngineEvent['type']) => new Promise<void>((resolve) => void t.engine.once(event, () => resolve()))

describe.each([
  ['thread', () => saga.thread(url, { threads: 1 })],
  ['child process', () => saga.childProcess(url, { processes: 1 })],
] as const)('in a %s', { timeout: 60_000 }, (kind, handler) => {
  test('a saga takes its steps once, sleeps, fails and is tried again', async () => {
    const worker = t.engine.work([handler()])
    // The engine knows earlier than the worker that a run is over. Were the next one to begin by then, the place of this one would go.
    const idle = () => vi.waitFor(() => expect(worker.running).toBe(0), { timeout: 30_000 })
    const asleep = once('snoozed')
    const handle = await t.engine.enqueue(saga, '')
    await asleep
    await idle()
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'scheduled', run: 1 })
    const failing = once('retrying')
    await t.clock.advance('1s')
    await failing
    await idle()
    await t.clock.advance('10s')
    const { isNew, failed, calls } = await handle.result()
    expect([isNew, failed]).toEqual([true, 'StepFailedError'])
    expect(calls).toEqual(['seat 1', 'car 1', 'RunSuspended', 'pay 1 true', 'RunSuspended', 'pay 2 true'])
    const job = await t.engine.get(handle.id)
    expect(job).toMatchObject({ run: 3, attempt: 1 })
    expect(job?.attempts.flatMap(({ logs = [] }) => logs.map(({ message }) => message))).toEqual(['begins'])
    expect(job?.attempts.flatMap(({ error }) => (error ? [error.message] : []))).toEqual(['no money yet'])
  })

  test('a handler waits for messages, alone and beside a step', async () => {
    const approval = defineJob<string, unknown>({ name: 'approval' }).messages<{ decided: { yes: boolean }; go: undefined }>()
    const module = new URL('./handlers/approval.ts', import.meta.url)
    const worker = t.engine.work([
      kind === 'thread' ? approval.thread(module, { threads: 1 }) : approval.childProcess(module, { processes: 1 }),
    ])
    const asleep = once('snoozed')
    const handle = await t.engine.enqueue(approval, '')
    await asleep
    await vi.waitFor(() => expect(worker.running).toBe(0), { timeout: 30_000 })
    expect(await handle.send('decided', { yes: true })).toBe('taken')
    // The run has told the engine that it waits beside its step.
    await vi.waitFor(async () => expect((await t.engine.steps(handle.id)).waits).toHaveLength(1), { timeout: 30_000 })
    expect((await t.engine.get(handle.id))?.state).toBe('active')
    expect(await handle.send('go')).toBe('kept')
    expect(await handle.result()).toEqual([{ yes: true }, null])
  })
})
