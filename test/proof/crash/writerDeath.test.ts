// The writer thread dies, the process lives: what was under way is of unknown outcome, what runs here goes on, and so does the engine.
import { once } from 'node:events'
import { CommitUnknownError, defineJob, type Engine, EngineFailedError, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { auditFile } from '../../../packages/sqlite/src/testing/inspect.ts'
import { gate } from '../../gate.ts'
import { temporaryFile } from '../../temporary.ts'
import { watchWriters } from './writers.ts'

const a = defineJob({ name: 'a' })

async function open(file = temporaryFile()) {
  const writers = watchWriters()
  const engine = await openEngine({ file })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return { engine, writers, file }
}

/** Calls of every kind, under way. */
function callsOf(engine: Engine, id: string): readonly Promise<unknown>[] {
  return [
    engine.enqueue(a),
    engine.enqueueMany([{ job: a }, { job: a }]),
    engine.get(id),
    engine.stats(),
    engine.workers(),
    engine.cancel(id),
    engine.update(id, { priority: 1 }),
    engine.runNow(id),
    engine.redrive(),
  ]
}

test('F8: killed, every call under way rejects with CommitUnknownError, and later ones are answered by the next thread', async () => {
  const { engine, writers, file } = await open()
  const { id } = await engine.enqueue(a, null, { delay: '1h' })
  const killed = writers.kill()
  const calls = await Promise.allSettled(callsOf(engine, id))
  await killed
  for (const call of calls) {
    expect(call.status === 'rejected' && call.reason).toBeInstanceOf(CommitUnknownError)
    expect(call).toMatchObject({ reason: { retryable: true, message: expect.stringContaining('writer thread') } })
  }
  // Called while there is no thread: it waits for the next one.
  const { created } = await engine.enqueue('b')
  expect([created, writers.count]).toEqual([true, 2])
  expect((await engine.get(id))?.id).toBe(id)
  await engine.stop()
  expect(auditFile(file).problems).toEqual([])
})

test('writer-thread-throw-no-segv: an exception outside of any turn ends the thread alone', async () => {
  const { engine, writers } = await open()
  const { id } = await engine.enqueue(a)
  const pending = engine.stats()
  const thrown = writers.makeThrow()
  await Promise.allSettled([pending, thrown])
  expect(await engine.get(id)).toMatchObject({ id, state: 'waiting' })
  expect(writers.count).toBe(2)
})

test('a job whose handler runs in this process is not run again: its run stays, and its completion counts', async () => {
  const { engine, writers } = await open()
  const held = gate()
  engine.work([a.handler(held.wait)])
  const entered = once(held, 'entered')
  const handle = await engine.enqueue(a, null, { maxAttempts: 1 })
  await entered
  await writers.kill()
  expect(await engine.get(handle.id)).toMatchObject({ state: 'active', run: 1, attempt: 1 })
  held.open()
  await handle.result()
  expect(held.runs).toBe(1)
  expect(await engine.get(handle.id)).toMatchObject({ state: 'completed', run: 1, attempts: [{ run: 1 }] })
})

test('a completion said while there is no thread is said to the next one', async () => {
  const { engine, writers } = await open()
  const held = gate()
  engine.work([a.handler(held.wait)])
  const entered = once(held, 'entered')
  const handle = await engine.enqueue(a, null, { maxAttempts: 1 })
  await entered
  const killed = writers.kill()
  held.open()
  await killed
  await handle.result()
  expect([held.runs, (await engine.get(handle.id))?.run]).toEqual([1, 1])
})

test('handle.result() survives a restart, asked before or while there is no thread; so do listeners', async () => {
  const { engine, writers } = await open()
  const handle = await engine.enqueue(a)
  const types: string[] = []
  engine.on('*', ({ type }) => types.push(type))
  const before = handle.result()
  await engine.stats()
  await writers.kill()
  const during = handle.result({ timeout: '1m' })
  engine.work([a.handler(() => 'done')])
  expect(await Promise.all([before, during, handle.result()])).toEqual(['done', 'done', 'done'])
  await engine.stats()
  expect(types).toEqual(['worker.attached', 'started', 'completed'])
})

test('more than 3 deaths in a minute: the engine has failed, every call says so, and the file can be opened anew', async () => {
  const { engine, writers, file } = await open()
  const held = gate()
  let reason: unknown
  engine.work([
    a.handler(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason
      })
      await held.wait()
    }),
  ])
  const entered = once(held, 'entered')
  const handle = await engine.enqueue(a)
  await entered
  const result = handle.result().catch((error) => error)
  for (let death = 1; death <= 3; death++) {
    await writers.kill()
    await engine.stats()
  }
  const underWay = engine.enqueue(a).catch((error) => error)
  await writers.kill()
  expect(await underWay).toBeInstanceOf(CommitUnknownError)
  expect(await result).toBeInstanceOf(EngineFailedError)
  for (const call of await Promise.allSettled(callsOf(engine, handle.id))) {
    expect(call.status === 'rejected' && call.reason).toBeInstanceOf(EngineFailedError)
    expect(call).toMatchObject({
      reason: { code: 'ENGINE_FAILED', retryable: false, message: expect.stringMatching(/Open the engine again/) },
    })
  }
  expect(reason).toBeInstanceOf(EngineFailedError)
  expect(writers.count).toBe(4)
  held.open()
  await engine.stop()
  await using next = await openEngine({ file })
  expect((await next.get(handle.id))?.attempts).toMatchObject([{ run: 1, error: { name: 'WorkerLostError' } }])
})

test('stopped while there is no thread, it stops, and lets go of the file', async () => {
  const { engine, writers, file } = await open()
  engine.work([a.handler(() => {})])
  await engine.enqueue('b')
  const killed = writers.kill()
  await engine.stop()
  await killed
  await using next = await openEngine({ file })
  expect((await next.stats()).states.waiting).toBe(1)
})
