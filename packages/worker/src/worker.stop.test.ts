/** How a worker ends: what runs is given its time, what does not end is given back, and nothing is left behind. */
import { AuthFailedError, CommitUnknownError, EngineFailedError, LIMITS, StorageError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { defineJob } from './index.ts'
import { gate } from './testing/gate.ts'
import { quiet } from './testing/manualClock.ts'
import { workbench } from './testing/workbench.ts'

const a = defineJob({ name: 'a' })

test('one that has nothing to do: drain, leave, stopped', async () => {
  const bench = workbench(a.handler(() => 1))
  await bench.worker.stop()
  expect(bench.calls.said.map(({ op }) => op)).toEqual(['drain', 'leave'])
  expect(bench.stopped).toEqual([bench.worker])
  expect(bench.clock.timers).toBe(0)
})

test('stopping twice is stopping once; a wrong option is refused before anything happens', async () => {
  const { worker, calls } = workbench(a.handler(() => 1))
  expect(() => worker.stop({ timeout: 'soon' as never })).toThrow(/timeout/)
  expect(() => worker.stop({ time: 5 } as never)).toThrow(/time/)
  expect(calls.said).toEqual([])
  expect(worker.stop()).toBe(worker.stop({ timeout: 0 }))
  await worker.stop()
  expect(calls.of('leave')).toHaveLength(1)
})

test('an engine that never answers again is waited for a little, and what runs for as long as it was given', async () => {
  const { at, run } = gate()
  const { worker, calls, clock, stopped } = workbench(a.handler(run))
  for (const op of ['drain', 'leave'] as const) calls.hold(op)
  const stopping = worker.stop()
  await clock.advance(10_000)
  await stopping
  expect([stopped, clock.timers]).toEqual([[worker], 0])
  const busy = workbench(a.handler(run))
  for (const op of ['drain', 'complete', 'leave'] as const) busy.calls.hold(op)
  busy.grant()
  const late = busy.worker.stop({ timeout: '20s' })
  at(0).resolve('said, and never answered')
  await busy.clock.advance(120_000)
  await late
  expect(busy.stopped).toEqual([busy.worker])
})

describe('an engine that answers nothing: a stop ends a second after its timeout at the latest', () => {
  const silent = (...options: Parameters<typeof workbench>) => {
    const bench = workbench(...options)
    for (const op of ['drain', 'complete', 'giveBack', 'leave'] as const) bench.calls.hold(op)
    return bench
  }
  /** The time at which it stops, on its clock. */
  const stopsAt = async ({ worker, clock }: ReturnType<typeof workbench>, options?: Parameters<typeof worker.stop>[0]) => {
    let atMs = Number.NaN
    void worker.stop(options).then(() => {
      atMs = clock.read().mono
    })
    await clock.advance(120_000)
    expect(clock.timers).toBe(0)
    return atMs
  }

  test.each([
    ['0', 0, 1_000],
    ['2 s', 2_000, 3_000],
    // Nothing is at stake: it does not wait for all of that.
    ['30 s', 30_000, 6_000],
    ['no end', Number.POSITIVE_INFINITY, 6_000],
  ])('with nothing that runs and a timeout of %s', async (_what, timeout, atMs) => {
    expect(await stopsAt(silent(a.handler(() => 1)), { timeout })).toBe(atMs)
  })

  test.each([
    ['0', 0, 1_000],
    ['1 s', 1_000, 2_000],
    ['30 s', 30_000, 31_000],
  ])('with an outcome that is said, and a timeout of %s: nobody has a grace who has settled', async (_what, timeout, atMs) => {
    const bench = silent(a.handler(() => 1))
    bench.grant()
    await quiet()
    expect(await stopsAt(bench, { timeout })).toBe(atMs)
    expect(bench.calls.of('leave')).toHaveLength(1)
  })

  test('with a handler that heeds its signal', async () => {
    const handler = a.handler(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
    const bench = silent(handler)
    bench.grant()
    expect(await stopsAt(bench, { timeout: 2_000 })).toBe(3_000)
    expect(bench.calls.outcomes).toHaveLength(1)
  })

  test('a handler that ignores its signal has its grace beside that', async () => {
    const bench = silent(
      a.handler(() => new Promise(() => {})),
      { abortGrace: '5s' },
    )
    bench.grant()
    expect(await stopsAt(bench, { timeout: 2_000 })).toBe(8_000)
  })

  test('told to hurry, it counts from then', async () => {
    const bench = silent(a.handler(() => 1))
    bench.grant()
    void bench.worker.stop({ timeout: '1h' })
    await bench.clock.advance(60_000)
    expect(await stopsAt(bench, { timeout: 500 })).toBe(61_500)
  })

  test('an answer that comes in the last moment is taken', async () => {
    const bench = silent(a.handler(() => 1))
    bench.grant()
    const stopping = bench.worker.stop({ timeout: 1_000 })
    await bench.clock.advance(1_999)
    expect([bench.worker.running, bench.stopped.length]).toEqual([1, 0])
    for (const op of ['leave', 'complete'] as const) bench.calls.settle(op)
    await stopping
    expect(bench.worker.running).toBe(0)
  })
})

test('what runs may finish, and is answered before the worker leaves', async () => {
  const { at, run } = gate()
  const { worker, calls, clock, grant } = workbench(a.handler(run))
  grant()
  const stopping = worker.stop({ timeout: '10s' })
  await clock.advance(9_999)
  expect(at(0).context.signal.aborted).toBe(false)
  calls.answer('complete', () => new StorageError())
  at(0).resolve(1)
  await clock.advance(0)
  expect(calls.of('leave')).toEqual([])
  calls.answer('complete', () => true)
  await clock.advance(250)
  await stopping
  expect(calls.said.map(({ op }) => op)).toEqual(['drain', 'complete', 'complete', 'leave'])
  expect(clock.timers).toBe(0)
})

test('past its time what runs is told to stop, and given back, whatever it returns', async () => {
  const reasons: unknown[] = []
  const { worker, calls, clock, grant } = workbench(
    a.handler(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            resolve('half of it')
          })
        }),
    ),
  )
  grant()
  const stopping = worker.stop({ timeout: '10s' })
  await clock.advance(10_000)
  await stopping
  expect(reasons).toMatchObject([{ code: 'WORKER_STOPPED' }])
  expect(calls.outcomes).toEqual([{ op: 'giveBack', seq: 1, run: 1, started: true }])
  expect(clock.timers).toBe(0)
})

test('Q4: told to stop by its engine, it does as by its own stop', async () => {
  const { at, run } = gate()
  const { worker, calls, clock, stopped, grant } = workbench(a.handler(run))
  grant()
  worker.notice({ kind: 'stop', session: worker.session, timeout: Number.POSITIVE_INFINITY })
  await clock.advance(600_000)
  expect([calls.of('drain').length, at(0).context.signal.aborted, stopped]).toEqual([1, false, []])
  at(0).resolve(1)
  await worker.stopped
  expect(calls.outcomes).toMatchObject([{ op: 'complete', seq: 1, run: 1 }])
  expect(clock.timers).toBe(0)
})

test('told once more it may have less patience, and not more', async () => {
  const { at, run } = gate()
  const { worker, calls, clock, grant } = workbench(a.handler(run))
  grant()
  void worker.stop({ timeout: Number.POSITIVE_INFINITY })
  await clock.advance(60_000)
  worker.notice({ kind: 'stop', session: worker.session, timeout: 1_000 })
  void worker.stop({ timeout: '1h' })
  await clock.advance(999)
  expect(at(0).context.signal.aborted).toBe(false)
  await clock.advance(1)
  expect(at(0).context.signal.reason).toMatchObject({ code: 'WORKER_STOPPED' })
  at(0).resolve('too late')
  await worker.stopped
  expect(calls.outcomes).toEqual([{ op: 'giveBack', seq: 1, run: 1, started: true }])
  expect(clock.timers).toBe(0)
})

test('what ignores that is left to the engine when its grace ends', async () => {
  const { at, run } = gate()
  const { worker, calls, clock, stopped, grant } = workbench(a.handler(run), { abortGrace: '5s' })
  grant()
  const stopping = worker.stop({ timeout: 0 })
  await clock.advance(5_999)
  expect(worker.zombies).toBe(1)
  expect(calls.of('leave')).toEqual([])
  await clock.advance(1)
  await stopping
  expect(calls.of('leave')).toHaveLength(1)
  expect(stopped).toHaveLength(1)
  at(0).resolve()
  await quiet()
  expect(worker.zombies).toBe(0)
})

test('a stop without end waits for as long as it takes', async () => {
  const { at, run } = gate()
  const { worker, clock, grant } = workbench(a.handler(run))
  grant()
  const stopping = worker.stop({ timeout: Number.POSITIVE_INFINITY })
  await clock.advance(100 * 86_400_000)
  expect(at(0).context.signal.aborted).toBe(false)
  at(0).resolve()
  await stopping
})

test('close-during-fetch-returns-job: what is granted while it drains is given back, unstarted', async () => {
  const started: number[] = []
  const { worker, calls, grant } = workbench(a.handler(({ job }) => void started.push(job.run)))
  calls.hold('drain')
  const stopping = worker.stop()
  grant({ seq: 5, run: 3 })
  calls.settle('drain')
  await stopping
  expect(started).toEqual([])
  expect(calls.outcomes).toEqual([{ op: 'giveBack', seq: 5, run: 3 }])
})

describe('leaving', () => {
  test('is said again where the answer leaves it open, for a while', async () => {
    const bench = workbench(a.handler(() => 1))
    bench.calls.answer('leave', () => new StorageError())
    const stopping = bench.worker.stop()
    await bench.clock.advance(1_000)
    expect(bench.calls.of('leave')).toHaveLength(5)
    expect(bench.stopped).toEqual([])
    // Nobody waits for it any longer; a server may be away for more than that.
    await bench.clock.advance(10_000)
    await stopping
    expect(bench.stopped).toHaveLength(1)
    const { length } = bench.calls.of('leave')
    await bench.clock.advance(50_000)
    expect(bench.calls.of('leave').length).toBeGreaterThan(length)
    await bench.clock.advance(LIMITS.leaseMs)
    expect(bench.clock.timers).toBe(0)
  })

  test('nor does the end of the stop end that: what ignores its abort would be held until its deadline', async () => {
    const bench = workbench(
      a.handler(() => new Promise(() => {})),
      { abortGrace: '5s' },
    )
    bench.calls.answer('leave', () => new CommitUnknownError())
    bench.grant()
    const stopping = bench.worker.stop({ timeout: 0 })
    await bench.clock.advance(6_000)
    await stopping
    expect(bench.calls.of('leave')).toHaveLength(1)
    bench.calls.settle('leave')
    await bench.clock.advance(250)
    expect([bench.calls.of('leave').length, bench.clock.timers]).toEqual([2, 0])
  })

  test('an engine that answers nothing any more holds nobody up', async () => {
    const bench = workbench(a.handler(() => 1))
    for (const op of ['drain', 'leave'] as const) bench.calls.answer(op, () => new EngineFailedError())
    await bench.worker.stop()
    expect(bench.stopped).toHaveLength(1)
  })
})

describe('an engine that has ended', () => {
  const reason = new EngineFailedError('the writer failed again and again')

  function abandoned(bench: ReturnType<typeof workbench>): void {
    for (const op of ['drain', 'leave', 'complete', 'fail'] as const) bench.calls.answer(op, () => reason)
    bench.worker.abandon(reason)
  }

  test('tells what runs why, and the worker stops by itself when that has ended', async () => {
    const { at, run } = gate()
    const bench = workbench(a.handler(run))
    bench.grant()
    abandoned(bench)
    expect(at(0).context.signal.reason).toBe(reason)
    await quiet()
    expect([bench.worker.running, bench.stopped.length]).toEqual([1, 0])
    at(0).resolve()
    await quiet()
    expect([bench.worker.running, bench.stopped.length, bench.clock.timers]).toEqual([0, 1, 0])
  })

  test('lets go of outcomes that nobody takes, whatever they are refused with', async () => {
    const { at, run } = gate()
    const bench = workbench(a.handler(run))
    bench.grant()
    const refusal = new AuthFailedError('the token is not known any more')
    for (const op of ['drain', 'leave', 'complete', 'fail'] as const) bench.calls.answer(op, () => refusal)
    bench.worker.abandon(refusal)
    at(0).resolve()
    await quiet()
    expect([bench.worker.running, bench.stopped.length, bench.clock.timers]).toEqual([0, 1, 0])
  })

  test('takes no grants any more', () => {
    const { entered, run } = gate()
    const bench = workbench(a.handler(run))
    abandoned(bench)
    bench.grant()
    expect(entered).toEqual([])
  })

  test('cuts a stop short that waits for what runs', async () => {
    const bench = workbench(
      a.handler(() => new Promise(() => {})),
      { abortGrace: '5s' },
    )
    bench.grant()
    const stopping = bench.worker.stop({ timeout: '1h' })
    await quiet()
    abandoned(bench)
    await bench.clock.advance(6_000)
    await stopping
    expect(bench.worker.zombies).toBe(1)
  })

  test('outcomes that are still open are let go', async () => {
    const bench = workbench(a.handler(() => 1))
    bench.calls.answer('complete', () => new CommitUnknownError())
    bench.grant()
    await quiet()
    abandoned(bench)
    await bench.clock.advance(1_000)
    expect([bench.worker.running, bench.stopped.length, bench.clock.timers]).toEqual([0, 1, 0])
  })
})
