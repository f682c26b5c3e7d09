/** A worker is paused, resumed, and told how much may run at a time. */
import { EngineStoppedError, LIMITS, OptionRangeError, StorageError, validateWorkOptions, type WorkOptions } from '@millrace/core'
import { afterEach, describe, expect, test } from 'vitest'
import { defineJob, type Handler } from './define.ts'
import { Worker } from './sessions.ts'
import { FakeCalls } from './testing/fakeCalls.ts'
import { ManualClock, quiet } from './testing/manualClock.ts'
import { grantOf, workbench } from './testing/workbench.ts'

const a = defineJob({ name: 'a' })
const tasks = defineJob({ name: 'tasks' }).thread(new URL('./testing/modules/echo.ts', import.meta.url), { threads: 2, prefetch: 1 })
const started: Worker[] = []

afterEach(async () => {
  for (const worker of started.splice(0)) await worker.stop({ timeout: 0 })
})

function starting(handlers: readonly Handler[], options?: WorkOptions) {
  const calls = new FakeCalls()
  const clock = new ManualClock()
  const settings = validateWorkOptions(options)
  const rest = { host: 'host', pid: 1, local: true, maxDataBytes: LIMITS.dataBytes, logger: undefined }
  const worker = new Worker({ calls, handlers, settings, clock, ...rest })
  worker.attach()
  started.push(worker)
  return { worker, calls, clock }
}

describe('a paused session', () => {
  test('runs what it has, gives back what still comes, and takes jobs again', async () => {
    let runs = 0
    const bench = workbench(a.handler(() => new Promise(() => void runs++)))
    bench.grant({ seq: 1 })
    bench.calls.hold('adjust')
    const paused = bench.worker.adjust({ paused: true })
    bench.grant({ seq: 2 })
    expect([runs, bench.worker.running, bench.worker.paused]).toEqual([1, 1, true])
    expect(bench.calls.outcomes).toEqual([{ op: 'giveBack', seq: 2, run: 1 }])
    bench.calls.settle('adjust')
    await paused
    await bench.worker.adjust({ paused: false })
    bench.grant({ seq: 3 })
    expect(runs).toBe(2)
    const { session } = bench.worker
    const room = { minConcurrency: 16, maxConcurrency: 16 }
    expect(bench.calls.of('adjust')).toEqual([
      { op: 'adjust', session, ...room, paused: true },
      { op: 'adjust', session, ...room },
    ])
  })

  test('says so with each attach', async () => {
    const bench = workbench(a.handler(() => {}))
    await bench.worker.adjust({ paused: true, maxConcurrency: 20 })
    bench.worker.attach()
    await bench.worker.ready
    expect(bench.calls.of('attach')).toMatchObject([{ session: { paused: true, minConcurrency: 16, maxConcurrency: 20 } }])
  })

  test('gives back what a batch has collected, and collects anew', async () => {
    const called: number[] = []
    const handler = a.handler((items) => items.map(() => ({ output: called.push(items.length) })), { batch: { size: 2 } })
    const bench = workbench(handler)
    bench.grant({ seq: 1 })
    const paused = bench.worker.adjust({ paused: true })
    // The engine hears of the pause before the job, which would come again.
    await quiet()
    expect(bench.calls.said.map(({ op }) => op)).toEqual(['adjust', 'giveBack'])
    await paused
    await bench.clock.advance(10_000)
    expect(called).toEqual([])
    await bench.worker.adjust({ paused: false })
    bench.grant({ seq: 2 })
    bench.grant({ seq: 3 })
    await quiet()
    expect(called).toEqual([2, 2])
  })

  test('repeats the present state until it is answered, so that a former word undoes nothing', async () => {
    const bench = workbench(a.handler(() => {}))
    bench.calls.answer('adjust', () => new StorageError('no disk'))
    const paused = bench.worker.adjust({ paused: true })
    const resumed = bench.worker.adjust({ paused: false })
    await quiet()
    bench.calls.settle('adjust')
    await bench.clock.advance(250)
    await Promise.all([paused, resumed])
    expect(bench.calls.of('adjust').map(({ paused = false }) => paused)).toEqual([true, false, false, false])
    expect(bench.worker.paused).toBe(false)
  })

  test('is as before if the engine refuses, unless it has changed since', async () => {
    const bench = workbench(a.handler(() => {}))
    bench.calls.answer('adjust', () => new EngineStoppedError())
    await expect(bench.worker.adjust({ paused: true })).rejects.toThrow(EngineStoppedError)
    expect(bench.worker.paused).toBe(false)
    bench.grant()
    expect(bench.calls.outcomes).toMatchObject([{ op: 'complete' }])
  })

  test('that has ended keeps nobody waiting', async () => {
    const bench = workbench(a.handler(() => {}))
    bench.calls.answer('adjust', () => new StorageError('no disk'))
    const paused = bench.worker.adjust({ paused: true })
    await bench.worker.stop()
    await bench.clock.advance(250)
    await paused
    await bench.worker.adjust({ paused: false })
    expect(bench.calls.of('adjust')).toHaveLength(1)
  })
})

describe('a worker', () => {
  test('is paused with all of its sessions', async () => {
    const { worker, calls } = starting([a.handler(() => {}), tasks])
    await worker.pause()
    expect(worker.paused).toBe(true)
    expect(calls.of('adjust').map(({ session, paused }) => [session, paused])).toEqual(worker.sessions.map((session) => [session, true]))
    worker.take(grantOf({ session: worker.sessions[1] as string, name: 'tasks' }))
    expect(calls.outcomes).toMatchObject([{ op: 'giveBack' }])
    await worker.resume()
    expect(worker.paused).toBe(false)
  })

  test('is neither paused nor resumed with options, which JavaScript may pass', async () => {
    const { worker, calls } = starting([a.handler(() => {})])
    const refused = (instead: string) =>
      expect.objectContaining({ code: 'OPTION_TYPE', option: 'for', message: expect.stringContaining(instead) })
    await expect((worker.pause as (options: object) => Promise<void>).call(worker, { for: '1s' })).rejects.toEqual(
      refused("worker.pause has no option 'for': it takes no options; queues.pause(name, { for }) pauses a queue for a time"),
    )
    await expect((worker.resume as (options: object) => Promise<void>).call(worker, { for: '1s' })).rejects.toEqual(
      refused("worker.resume has no option 'for': it takes no options"),
    )
    expect(worker.paused).toBe(false)
    expect(calls.of('adjust')).toEqual([])
  })

  test('has the concurrency that is set; a pool has room for its threads and its prefetch', async () => {
    const { worker, calls } = starting([a.handler(() => {}), tasks], { minConcurrency: 2, maxConcurrency: 8 })
    expect(worker.concurrency).toBe(8)
    await worker.setConcurrency(40)
    await worker.setConcurrency(1)
    const rooms = calls.of('adjust').map(({ minConcurrency, maxConcurrency }) => [minConcurrency, maxConcurrency])
    expect(rooms).toEqual([
      [40, 40],
      [3, 3],
      [1, 1],
      [1, 1],
    ])
    expect(worker.concurrency).toBe(1)
  })

  test('of pools alone cannot run more than they have room for', async () => {
    const { worker, calls } = starting([tasks])
    await expect(worker.setConcurrency(4)).rejects.toThrow(
      "concurrency (4) must be at most 3, the room of this worker's pools: start it with more threads, thread(url, { threads }), or processes, childProcess(url, { processes })",
    )
    await worker.setConcurrency(3)
    expect([worker.concurrency, calls.of('adjust').length]).toEqual([3, 1])
  })

  test.each([0, 100_001, 1.5, Number.NaN, '4', undefined])('cannot run %s jobs at a time', async (concurrency) => {
    const { worker, calls } = starting([a.handler(() => {})])
    await expect(worker.setConcurrency(concurrency as number)).rejects.toMatchObject({ option: 'concurrency' })
    expect([worker.concurrency, calls.of('adjust')]).toEqual([16, []])
  })

  test('keeps room for its batches', async () => {
    const { worker } = starting([a.handler((items) => items.map(() => ({ output: 1 })), { batch: { size: 10 } })])
    await expect(worker.setConcurrency(9)).rejects.toThrow(OptionRangeError)
    expect(worker.concurrency).toBe(16)
    await worker.setConcurrency(10)
    expect(worker.concurrency).toBe(10)
  })

  test('has its former concurrency if the engine refuses', async () => {
    const { worker, calls } = starting([a.handler(() => {})])
    calls.answer('adjust', () => new EngineStoppedError())
    await expect(worker.setConcurrency(2)).rejects.toThrow(EngineStoppedError)
    expect(worker.concurrency).toBe(16)
  })
})
