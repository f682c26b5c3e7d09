// E15: an engine that stops finishes what runs, within a time limit, and leaves what waits where it is.
import { once } from 'node:events'
import { formatId } from '@millrace/core'
import { CommitUnknownError, defineJob, EngineStoppedError, openEngine } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { describe, expect, onTestFinished, test } from 'vitest'
import { auditFile } from '../../packages/sqlite/src/testing/inspect.ts'
import { gate } from '../gate.ts'
import { temporaryFile } from '../temporary.ts'

const a = defineJob({ name: 'a' })

function start() {
  const file = temporaryFile()
  const t = createTestEngine({ file })
  onTestFinished(() => t[Symbol.asyncDispose]())
  return { ...t, file }
}

describe('under the virtual clock', () => {
  test('E15: what runs is finished, what waits or is scheduled stays', async () => {
    const { engine, file, advance } = start()
    const held = gate()
    engine.work([a.handler(held.wait)], { concurrency: 1 })
    const running = await engine.enqueue(a)
    await engine.enqueueMany([{ job: a }, { job: 'other' }, { job: a, options: { delay: '1h' } }])
    await quiet()
    const result = running.result()
    let stopped = false
    const stopping = engine.stop({ timeout: '1h' }).then(() => {
      stopped = true
    })
    await advance('4m')
    expect(stopped).toBe(false)
    held.open()
    await stopping
    expect(await result).toBe(undefined)
    expect(held.runs).toBe(1)
    const { problems, jobs } = auditFile(file)
    expect(problems).toEqual([])
    expect(jobs.map((job) => job.state)).toEqual(['completed', 'waiting', 'waiting', 'scheduled'])
  })

  test('past the time limit signals abort, and what heeds them is given back without using an attempt', async () => {
    const { engine, file, advance } = start()
    const reasons: unknown[] = []
    engine.work([
      a.handler(async ({ signal }) => {
        await once(signal, 'abort')
        reasons.push(signal.reason)
        throw signal.reason
      }),
    ])
    await engine.enqueueMany([{ job: a, options: { maxAttempts: 1 } }, { job: a }])
    await quiet()
    const stopping = engine.stop({ timeout: '10s' })
    await advance('9s')
    expect(reasons).toEqual([])
    await advance('1s')
    await stopping
    expect(reasons).toMatchObject([{ code: 'WORKER_STOPPED' }, { code: 'WORKER_STOPPED' }])
    expect(auditFile(file).jobs).toMatchObject([
      { state: 'waiting', run: 1, attempt: 0 },
      { state: 'waiting', run: 1, attempt: 0 },
    ])
  })

  test('a handler that ignores its signal is given up when its grace ends: nothing holds the stop any longer', async () => {
    const { engine, file, advance } = start()
    engine.work([a.handler(() => new Promise(() => {}))], { abortGrace: '5s' })
    await engine.enqueue(a, null, { maxAttempts: 1 })
    await quiet()
    let stopped = false
    const stopping = engine.stop({ timeout: '10s' }).then(() => {
      stopped = true
    })
    await advance('14s')
    expect(stopped).toBe(false)
    await advance('2s')
    await stopping
    expect(auditFile(file)).toMatchObject({ problems: [], jobs: [{ state: 'waiting', run: 1, attempt: 0 }] })
  })

  test('drain-keeps-heartbeat: heartbeats of what still runs count while it stops', async () => {
    const { engine, file, advance } = start()
    const held = gate()
    let beat = async () => {}
    let aborted = false
    engine.work([
      a.handler(async ({ heartbeat, signal }) => {
        beat = heartbeat
        await held.wait()
        aborted = signal.aborted
      }),
    ])
    await engine.enqueue(a, null, { timeout: '10s', heartbeatTimeout: '10s' })
    await quiet()
    const stopping = engine.stop({ timeout: '1h' })
    for (let beats = 0; beats < 20; beats++) {
      await advance('9s')
      await beat()
    }
    held.open()
    await stopping
    expect(aborted).toBe(false)
    expect(auditFile(file).jobs).toMatchObject([{ state: 'completed', run: 1 }])
  })

  test('close-resolves-under-redelay-loop: jobs that snooze for ever do not keep it open', async () => {
    const { engine, file, advance } = start()
    let runs = 0
    engine.work([
      a.handler(({ snooze }) => {
        runs++
        snooze(1)
      }),
    ])
    await engine.enqueueMany(Array.from({ length: 50 }, () => ({ job: a, options: { maxAttempts: 1 } })))
    await advance('20ms')
    expect(runs).toBeGreaterThan(500)
    const stopping = engine.stop()
    await advance('1s')
    await stopping
    const before = runs
    await advance('1s')
    expect(runs).toBe(before)
    const { problems, jobs } = auditFile(file)
    expect(problems).toEqual([])
    expect(jobs.filter((job) => job.attempt !== 0)).toEqual([])
    expect(jobs.filter((job) => job.state !== 'scheduled' && job.state !== 'waiting')).toEqual([])
  })

  test('close-during-fetch-returns-job: what is handed out while a worker stops goes to the next one, and uses no attempt', async () => {
    const { engine, advance } = start()
    const runs = new Map<string, number>()
    const handler = a.handler(async ({ job }) => {
      runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
      await null
    })
    const handles = []
    for (let round = 0; round < 20; round++) {
      const worker = engine.work([handler], { concurrency: 3 })
      // Enqueued and handed out in the turn that the drain comes in, or just before, or just after.
      const enqueued = engine.enqueueMany(Array.from({ length: 10 }, () => ({ job: a, options: { maxAttempts: 1 } })))
      if (round % 3 === 1) await quiet()
      const stopping = worker.stop()
      handles.push(...(await enqueued))
      await stopping
    }
    expect(await engine.workers()).toEqual([])
    engine.work([handler])
    await advance('1s')
    await Promise.all(handles.map((handle) => handle.result()))
    expect([...runs.values()].filter((times) => times !== 1)).toEqual([])
    expect((await engine.stats()).states).toMatchObject({ completed: handles.length, failed: 0 })
  })

  test('stop can be called again and again, as close, and by dispose', async () => {
    const { engine } = start()
    const first = engine.stop()
    expect(engine.stop({ timeout: 5 })).toBe(first)
    expect(engine.close()).toBe(first)
    await engine[Symbol.asyncDispose]()
    await first
  })
})

describe('with a writer thread', () => {
  test('1, 2: stopped under load, every call is answered, and what was acknowledged is there', async () => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    const completed = new Set<string>()
    const enqueued: string[] = []
    const errors: unknown[] = []
    engine.work([a.handler(async () => void (await null))], { concurrency: 8 })
    const produce = async () => {
      for (;;) {
        try {
          const handle = await engine.enqueue(a)
          enqueued.push(handle.id)
          void handle.result().then(
            () => completed.add(handle.id),
            () => {},
          )
        } catch (error) {
          errors.push(error)
          return
        }
      }
    }
    const producing = Array.from({ length: 20 }, produce)
    while (completed.size < 500) await engine.stats()
    await engine.stop()
    await Promise.all(producing)
    expect(errors.filter((error) => !(error instanceof EngineStoppedError || error instanceof CommitUnknownError))).toEqual([])

    const { problems, jobs } = auditFile(file)
    expect(problems).toEqual([])
    const states = new Map(jobs.map((job) => [formatId(job), job.state]))
    expect(enqueued.filter((id) => !states.has(id))).toEqual([])
    expect([...completed].filter((id) => states.get(id) !== 'completed')).toEqual([])
    // Nothing is left running, and no attempt was wasted.
    expect(jobs.filter((job) => job.state === 'active' || (job.state === 'waiting' && job.attempt !== 0))).toEqual([])
    const unknown = errors.filter((error) => error instanceof CommitUnknownError).length
    expect(jobs.length).toBeLessThanOrEqual(enqueued.length + unknown)

    await using next = await openEngine({ file })
    const { waiting } = (await next.stats()).states
    const drained = new Promise<void>((resolve) => {
      let left = waiting
      if (left === 0) resolve()
      next.on('completed', () => --left === 0 && resolve())
    })
    next.work([a.handler(() => {})])
    await drained
    expect((await next.stats()).states).toMatchObject({ waiting: 0, active: 0, completed: jobs.length })
  })

  test('the file is free at once for the next engine', async () => {
    const file = temporaryFile()
    for (let round = 0; round < 3; round++) {
      await using engine = await openEngine({ file })
      await engine.enqueue(a)
      expect((await engine.stats()).states.waiting).toBe(round + 1)
    }
  })
})
