/** From grant to answer: what a worker says of its runs, and says again. */
import {
  BusyError,
  CommitUnknownError,
  DiskFullError,
  EngineFailedError,
  EngineStoppedError,
  InternalError,
  OptionRangeError,
  OwnerLostError,
  RetryAfterError,
  StaleRunError,
  StorageBusyError,
  StorageError,
  UniqueConflictError,
} from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { type Context, defineJob } from './index.ts'
import { gate } from './testing/gate.ts'
import { quiet } from './testing/manualClock.ts'
import { unhandledDuring } from './testing/unhandled.ts'
import { stop, workbench } from './testing/workbench.ts'

const a = defineJob({ name: 'a' })
const b = defineJob({ name: 'b' })

describe('a run', () => {
  test('is settled as it ends, and forgotten when that is answered', async () => {
    const { worker, calls, grant } = workbench(a.handler(({ data }) => data))
    calls.hold('complete')
    grant({ data: '5' })
    expect(calls.outcomes).toEqual([{ op: 'complete', seq: 1, run: 1, output: '5' }])
    expect(worker.running).toBe(1)
    calls.settle('complete')
    await quiet()
    expect(worker.running).toBe(0)
  })

  test('goes to the handler of its name', async () => {
    const { calls, grant } = workbench([a.handler(() => 'a'), b.handler(() => 'b')])
    grant({ seq: 1, name: 'b' })
    grant({ seq: 2, name: 'a' })
    expect(calls.of('complete').map(({ seq, output }) => [seq, output])).toEqual([
      [1, '"b"'],
      [2, '"a"'],
    ])
  })

  test('unknown-kind-never-discarded: of a name that it does not know is given back, also while it drains', async () => {
    const bench = workbench(a.handler(() => 1))
    bench.grant({ name: 'unknown' })
    expect(bench.calls.outcomes).toEqual([{ op: 'giveBack', seq: 1, run: 1 }])
    const stopping = stop(bench)
    bench.grant({ seq: 2, name: 'unknown' })
    bench.grant({ seq: 3 })
    await stopping
    expect(bench.calls.outcomes.slice(1)).toEqual([
      { op: 'giveBack', seq: 2, run: 1 },
      { op: 'giveBack', seq: 3, run: 1 },
    ])
  })

  test('whatever is thrown, the job is settled, and nothing is left unhandled', async () => {
    const nameless = new Error('nameless')
    Object.defineProperty(nameless, 'name', { value: undefined })
    const hostile = Object.defineProperty(new Error(), 'name', {
      get() {
        throw new Error('not to be read')
      },
    })
    const thrown = [Object.create(null), nameless, hostile, Symbol('s'), undefined]
    const backoff = () => {
      throw new Error('no idea')
    }
    const { calls, worker, grant } = workbench(
      defineJob<number>({ name: 'a', backoff }).handler(({ data }) => Promise.reject(thrown[data])),
    )
    const reasons = await unhandledDuring(() => {
      for (const index of thrown.keys()) grant({ seq: index + 1, data: String(index) })
    })
    expect(reasons).toEqual([])
    expect(calls.of('fail').map(({ seq, error, retry }) => [seq, typeof error.message, retry])).toEqual(
      thrown.map((_, index) => [index + 1, 'string', undefined]),
    )
    expect(worker.running).toBe(0)
  })

  test('its reports go before its outcome; of a tick the last progress, all log lines together', async () => {
    const { calls, grant } = workbench(
      a.handler(({ progress, log }) => {
        progress(0.1)
        log('info', 'one')
        progress(1, 'done')
        log('warn', 'two', { n: 1n })
      }),
    )
    grant()
    await quiet()
    expect(calls.said).toMatchObject([
      { op: 'progress', fraction: 1, note: 'done' },
      { op: 'log', lines: [{ message: 'one' }, { message: 'two', fields: expect.stringContaining('unreadable') }] },
      { op: 'complete' },
    ])
  })

  test('reports of a run that goes on leave at the end of the tick', async () => {
    const { at, run } = gate()
    const { calls, grant } = workbench(a.handler(run))
    grant()
    const { progress, log } = at(0).context
    progress(0.1)
    progress(0.2)
    log('info', 'one')
    expect(calls.said).toEqual([])
    await quiet()
    expect(calls.said).toMatchObject([{ op: 'progress', seq: 1, run: 1, fraction: 0.2 }, { op: 'log' }])
    progress(0.3)
    await quiet()
    expect(calls.of('progress')).toHaveLength(2)
  })

  test('while a report is not answered the next ones wait with their run, whatever there are of them; its outcome does not', async () => {
    const { at, run } = gate()
    const { calls, grant } = workbench(a.handler(run))
    for (const op of ['progress', 'log'] as const) calls.hold(op)
    grant()
    const { progress, log } = at(0).context
    for (let n = 0; n < 500; n++) {
      progress(n / 1_000)
      log('info', String(n))
      await quiet()
    }
    expect(calls.said).toMatchObject([
      { op: 'progress', fraction: 0 },
      { op: 'log', lines: [{ message: '0' }] },
    ])
    for (const op of ['progress', 'log'] as const) calls.settle(op)
    await quiet()
    expect(calls.said.slice(2)).toMatchObject([
      { op: 'progress', fraction: 0.499 },
      { op: 'log', lines: { length: 100, 99: { message: '499' } } },
    ])
    calls.hold('progress')
    progress(0.8)
    await quiet()
    progress(1)
    at(0).resolve()
    await quiet()
    expect(calls.said.slice(4)).toMatchObject([{ op: 'progress', fraction: 0.8 }, { op: 'progress', fraction: 1 }, { op: 'complete' }])
    calls.settle('progress')
    await quiet()
    expect(calls.said).toHaveLength(7)
  })

  test('what a run says that is another worker’s by now is not sent', async () => {
    const { at, run } = gate()
    const { calls, grant, worker } = workbench(a.handler(run))
    grant()
    worker.lapsed(Number.POSITIVE_INFINITY)
    at(0).context.progress(0.5)
    await quiet()
    expect(calls.of('progress')).toEqual([])
  })

  test('reports that are refused are nobody’s loss', async () => {
    const { calls, grant } = workbench(a.handler(({ progress, log }) => [progress(1), log('info', 'x')].length))
    for (const op of ['progress', 'log'] as const) calls.answer(op, () => new StaleRunError())
    expect(await unhandledDuring(() => grant())).toEqual([])
    expect(calls.of('complete')).toHaveLength(1)
  })
})

describe('an outcome', () => {
  test.for([
    ['CommitUnknownError', new CommitUnknownError()],
    ['StorageError', new StorageError()],
    ['StorageBusyError', new StorageBusyError()],
    ['DiskFullError', new DiskFullError()],
    ['BusyError', new BusyError()],
  ] as const)('after %s is kept, and said again until it is answered', async ([, refusal]) => {
    const { worker, calls, clock, grant } = workbench(a.handler(() => 1))
    calls.answer('complete', () => refusal)
    grant()
    await clock.advance(249)
    expect(calls.outcomes).toHaveLength(1)
    await clock.advance(1)
    expect(calls.outcomes).toHaveLength(2)
    await clock.advance(2_500)
    expect(calls.outcomes).toHaveLength(12)
    expect(worker.running).toBe(1)
    calls.answer('complete', () => true)
    await clock.advance(250)
    expect(worker.running).toBe(0)
    await clock.advance(10_000)
    expect(new Set(calls.outcomes)).toEqual(new Set([{ op: 'complete', seq: 1, run: 1, output: '1' }]))
    expect(calls.outcomes).toHaveLength(13)
  })

  test.for([
    ['StaleRunError', new StaleRunError()],
    ['EngineStoppedError', new EngineStoppedError()],
    ['EngineFailedError', new EngineFailedError()],
    ['OwnerLostError', new OwnerLostError()],
  ] as const)('after %s is dropped: nobody is left to hear it', async ([, refusal]) => {
    const { worker, calls, clock, grant } = workbench(a.handler(() => 1))
    calls.answer('complete', () => refusal)
    grant()
    await clock.advance(10_000)
    expect(calls.outcomes).toHaveLength(1)
    expect([worker.running, clock.timers]).toEqual([0, 0])
  })

  test('a completion that is refused for its enqueues becomes a failure, by the job’s backoff', async () => {
    const { worker, calls, grant } = workbench(
      a.handler(({ enqueue }) => {
        enqueue('child', undefined, { unique: { key: 'k', onConflict: 'error' } })
      }),
    )
    calls.answer('complete', () => new UniqueConflictError('the key is held', { jobId: 'x' }))
    grant()
    await quiet()
    expect(calls.outcomes).toMatchObject([
      { op: 'complete', enqueues: [{ name: 'child' }] },
      { op: 'fail', seq: 1, run: 1, error: { name: 'UniqueConflictError', message: 'the key is held' } },
    ])
    expect(calls.outcomes[1]).not.toHaveProperty('retry')
    expect(worker.running).toBe(0)
  })

  test('of a run whose lease lapsed here alone is said until it is answered, too: the engine may wait for it', async () => {
    const { at, run } = gate()
    const { worker, calls, clock, grant } = workbench(a.handler(run))
    grant()
    grant({ seq: 2 })
    worker.lapsed(120_000)
    expect([worker.running, at(0).context.signal.reason?.code]).toEqual([0, 'LEASE_LOST'])
    calls.answer('complete', () => new BusyError())
    at(0).resolve('late')
    at(1).resolve('late')
    await clock.advance(500)
    expect(calls.of('complete')).toHaveLength(6)
    // Of the second this worker has the next run by now: the former is the engine's to forget.
    grant({ seq: 2, run: 2 })
    calls.answer('complete', () => true)
    await clock.advance(10_000)
    expect(calls.of('complete').slice(6)).toEqual([{ op: 'complete', seq: 1, run: 1, output: '"late"' }])
    at(2).resolve()
    await quiet()
  })

  test('a failure or a snooze that the engine cannot store is said more simply, and never forgotten: it would run again at once', async () => {
    for (const run of [() => Promise.reject(new RetryAfterError(7)), ({ snooze }: Context) => snooze(7)]) {
      const { worker, calls, clock, logged, grant } = workbench(a.handler(run))
      for (const op of ['fail', 'snooze'] as const) calls.answer(op, () => new InternalError('no such column'))
      grant()
      await clock.advance(60_000)
      expect(calls.outcomes).toHaveLength(2)
      expect(calls.outcomes[1]).toMatchObject({ op: 'fail', seq: 1, run: 1 })
      expect(calls.outcomes[1]).not.toHaveProperty('retry')
      expect(worker.running).toBe(1)
      expect(logged).toEqual(['error: the outcome of a run was refused'])
      // What ends it is its deadline, by which the attempt counts.
      worker.notice({ kind: 'lost', session: worker.session, seq: 1, run: 1 })
      expect(worker.running).toBe(0)
    }
  })
})

describe('a run that is lost', () => {
  test('is aborted with LeaseLostError, and what its handler says in the end is said once', async () => {
    const { at, run } = gate()
    const { worker, calls, clock, grant } = workbench(a.handler(run))
    grant()
    const { signal } = at(0).context
    worker.notice({ kind: 'lost', session: worker.session, seq: 1, run: 1 })
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' })
    expect([worker.running, worker.zombies]).toEqual([0, 1])
    calls.answer('complete', () => new CommitUnknownError())
    at(0).resolve(1)
    await clock.advance(10_000)
    expect(calls.outcomes).toHaveLength(1)
    expect([worker.running, worker.zombies, clock.timers]).toEqual([0, 0, 0])
  })

  test('after it was aborted: keeps that reason, and leaves no timer behind', async () => {
    const { at, run } = gate()
    const { worker, clock, grant } = workbench(a.handler(run))
    grant()
    worker.notice({ kind: 'abort', session: worker.session, cause: 'timeout', seq: 1, run: 1 })
    expect(clock.timers).toBe(1)
    worker.notice({ kind: 'lost', session: worker.session, seq: 1, run: 1 })
    expect(at(0).context.signal.reason).toMatchObject({ code: 'JOB_TIMEOUT' })
    expect([worker.zombies, clock.timers]).toEqual([1, 0])
  })

  test('after its handler has ended: its signal is left alone', async () => {
    let signal: AbortSignal | undefined
    const { worker, calls, grant } = workbench(
      a.handler((context) => {
        signal = context.signal
      }),
    )
    calls.hold('complete')
    grant()
    worker.notice({ kind: 'lost', session: worker.session, seq: 1, run: 1 })
    expect([signal?.aborted, worker.running, worker.zombies]).toEqual([false, 0, 0])
  })

  test('another run is not meant', () => {
    const { at, run } = gate()
    const { worker, grant } = workbench(a.handler(run))
    grant({ run: 2 })
    worker.notice({ kind: 'lost', session: worker.session, seq: 1, run: 1 })
    worker.notice({ kind: 'abort', session: worker.session, cause: 'cancel', seq: 1, run: 1 })
    expect([at(0).context.signal.aborted, worker.running]).toEqual([false, 1])
  })

  test('because its next one has come first: the former is told, counted and fenced, the next one runs', async () => {
    const { at, entered, run } = gate()
    const { worker, calls, grant } = workbench(a.handler(run))
    grant({ run: 1 })
    grant({ run: 2 })
    expect(entered.map(({ context }) => context.signal.reason?.code)).toEqual(['LEASE_LOST', undefined])
    expect([worker.running, worker.zombies]).toEqual([1, 1])
    calls.answer('complete', ({ run: number }) => (number === 1 ? new StaleRunError() : true))
    at(0).resolve('late')
    await quiet()
    expect([worker.running, worker.zombies]).toEqual([1, 0])
    at(1).resolve('in time')
    await quiet()
    expect(calls.of('complete').map((command) => command.run)).toEqual([1, 2])
    expect(worker.running).toBe(0)
  })
})

describe('aborts', () => {
  test('cancel: the signal says why, and by whom, if the engine does', () => {
    const { at, run } = gate()
    const { worker, grant } = workbench(a.handler(run))
    grant()
    grant({ seq: 2 })
    worker.notice({ kind: 'abort', session: worker.session, cause: 'cancel', seq: 1, run: 1, reason: 'wrong file', by: 'ada' })
    worker.notice({ kind: 'abort', session: worker.session, cause: 'cancel', seq: 2, run: 1 })
    expect(at(0).context.signal.reason).toMatchObject({ message: 'the job was cancelled: wrong file', reason: 'wrong file', by: 'ada' })
    const bare = at(1).context.signal.reason
    expect([bare.message, 'reason' in bare, 'by' in bare]).toEqual(['the job was cancelled', false, false])
  })

  test.for([
    ['timeout', 'JOB_TIMEOUT'],
    ['cancel', 'JOB_CANCELLED'],
    ['stop', 'WORKER_STOPPED'],
  ] as const)('%s: the signal says %s', ([cause, code]) => {
    const { at, run } = gate()
    const { worker, grant } = workbench(a.handler(run))
    grant()
    worker.notice({ kind: 'abort', session: worker.session, cause, seq: 1, run: 1 })
    expect(at(0).context.signal.reason).toMatchObject({ code })
    expect(worker.running).toBe(1)
  })

  test('zombies are counted when the grace ends, and uncounted when they end; those that listen are none', async () => {
    const { at, run } = gate()
    const { worker, clock, logged, grant } = workbench(a.handler(run), { abortGrace: '5s' })
    for (const seq of [1, 2]) {
      grant({ seq })
      worker.notice({ kind: 'abort', session: worker.session, cause: 'timeout', seq, run: 1 })
    }
    at(0).reject(at(0).context.signal.reason)
    await clock.advance(4_999)
    expect(worker.zombies).toBe(0)
    await clock.advance(1)
    expect(worker.zombies).toBe(1)
    expect(logged.at(-1)).toBe('warn: a handler has ignored its abort signal for the whole grace, and may still run')
    worker.notice({ kind: 'lost', session: worker.session, seq: 2, run: 1 })
    expect(worker.zombies).toBe(1)
    at(1).resolve()
    await quiet()
    expect([worker.zombies, worker.running, clock.timers]).toEqual([0, 0, 0])
  })

  test('a grace of 30 days is one', async () => {
    const { at, run } = gate()
    const { worker, clock, grant } = workbench(a.handler(run), { abortGrace: '30d' })
    grant()
    worker.notice({ kind: 'abort', session: worker.session, cause: 'timeout', seq: 1, run: 1 })
    await clock.advance(30 * 86_400_000 - 1)
    expect(worker.zombies).toBe(0)
    await clock.advance(1)
    expect(worker.zombies).toBe(1)
    at(0).resolve()
  })
})

describe('heartbeat() and checkpoint()', () => {
  test('resolve when they are answered', async () => {
    const { at, run } = gate()
    const { calls, grant } = workbench(a.handler(run))
    grant()
    await at(0).context.heartbeat()
    await at(0).context.checkpoint({ page: 1 })
    expect(calls.said).toEqual([
      { op: 'heartbeat', seq: 1, run: 1 },
      { op: 'checkpoint', seq: 1, run: 1, value: '{"page":1}' },
    ])
  })

  test('of a fenced run reject; nobody has to listen', async () => {
    const { at, run } = gate()
    const { calls, grant } = workbench(a.handler(run))
    for (const op of ['heartbeat', 'checkpoint'] as const) calls.answer(op, () => new StaleRunError())
    grant()
    const { heartbeat, checkpoint } = at(0).context
    const reasons = await unhandledDuring(() => {
      void heartbeat()
      void checkpoint(1)
    })
    expect(reasons).toEqual([])
    await expect(heartbeat()).rejects.toMatchObject({ code: 'STALE_RUN' })
  })

  test('are said again where the answer leaves them open: a writer that starts again fails no handler', async () => {
    const { at, run } = gate()
    const { calls, clock, grant } = workbench(a.handler(run))
    grant()
    const { heartbeat, checkpoint } = at(0).context
    for (const op of ['heartbeat', 'checkpoint'] as const) calls.answer(op, () => new CommitUnknownError())
    const both = Promise.all([heartbeat(), checkpoint(1)])
    await clock.advance(1_000)
    for (const op of ['heartbeat', 'checkpoint'] as const) calls.answer(op, () => true)
    await clock.advance(250)
    await both
    expect(calls.of('checkpoint')).toHaveLength(6)
  })

  test('an older checkpoint is not said again after a newer one', async () => {
    const { at, run } = gate()
    const { calls, clock, grant } = workbench(a.handler(run))
    grant()
    const { checkpoint } = at(0).context
    calls.answer('checkpoint', ({ value }) => (value === '1' ? new CommitUnknownError() : true))
    const older = checkpoint(1)
    await checkpoint(2)
    await clock.advance(250)
    await expect(older).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(calls.of('checkpoint').map(({ value }) => value)).toEqual(['1', '2'])
  })

  test('a handler that is told to stop is not kept waiting', async () => {
    const { at, run } = gate()
    const { worker, calls, clock, grant } = workbench(a.handler(run))
    grant()
    calls.answer('heartbeat', () => new StorageError())
    const beating = at(0).context.heartbeat()
    await clock.advance(1_000)
    worker.notice({ kind: 'abort', session: worker.session, cause: 'cancel', seq: 1, run: 1 })
    await clock.advance(250)
    await expect(beating).rejects.toMatchObject({ code: 'STORAGE' })
  })
})

test('two handlers for one name are refused, before any thread is started', () => {
  const url = new URL('./testing/modules/echo.ts', import.meta.url)
  const seen: unknown[] = []
  const note = (worker: unknown) => void seen.push(worker)
  process.on('worker', note)
  try {
    expect(() => workbench([a.thread(url), b.handler(() => 1), a.handler(() => 1)])).toThrow(OptionRangeError)
    expect(() => workbench([a.handler(() => 1), a.handler(() => 1)])).toThrow(/two handlers for job 'a'/)
  } finally {
    process.off('worker', note)
  }
  expect(seen).toEqual([])
})
