/** Workers through the public interface, under the virtual clock. */
import { CancelJobError, defineJob, JobFailedError, NonRetryableError, RetryAfterError, StaleRunError } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

/** A handler that waits to be told how to end. */
function gate<T = void>() {
  const entered: { resolve: (value: T) => void; reject: (error: unknown) => void }[] = []
  return { entered, wait: () => new Promise<T>((resolve, reject) => entered.push({ resolve, reject })) }
}

describe('E2: job types', () => {
  test('a worker runs the names that it serves, others wait', async () => {
    const [a, b] = [defineJob({ name: 'a' }), defineJob({ name: 'b' })]
    const seen: string[] = []
    t.engine.work([a.handler(({ job }) => void seen.push(job.name))])
    await t.engine.enqueue(b)
    await (await t.engine.enqueue(a)).result()
    expect(seen).toEqual(['a'])
    expect((await t.engine.stats()).unserved).toEqual([{ queue: 'default', name: 'b', waiting: 1 }])
  })

  test('a plain name reaches its handler in whatever queue; queues can be named', async () => {
    const a = defineJob({ name: 'a', queue: 'media' })
    const seen: string[] = []
    t.engine.work([a.handler(({ job }) => void seen.push(job.queue))], { id: 'all' })
    await quiet()
    await (await t.engine.enqueue('a')).result()
    await (await t.engine.enqueue('a', undefined, { queue: 'other' })).result()
    // The definition that the worker brought says where a plain name goes.
    expect(seen).toEqual(['media', 'other'])
    const only = defineJob({ name: 'only' })
    t.engine.work([only.handler(() => 1)], { queues: ['q1'] })
    await (await t.engine.enqueue(only, undefined, { queue: 'q1' })).result()
    await t.engine.enqueue(only, undefined, { queue: 'q2' })
    expect((await t.engine.stats()).queues['q2']?.waiting).toBe(1)
  })

  test('work with a known id drains and replaces that worker', async () => {
    const a = defineJob({ name: 'a' })
    t.engine.work([a.handler(() => 'old')], { id: 'w' })
    expect(await (await t.engine.enqueue(a)).result()).toBe('old')
    t.engine.work([a.handler(() => 'new')], { id: 'w' })
    await quiet()
    expect(await (await t.engine.enqueue(a)).result()).toBe('new')
    expect((await t.engine.workers()).map((worker) => worker.id)).toEqual(['w'])
  })
})

describe('a worker that changes how much it takes', () => {
  const a = defineJob<number>({ name: 'a', timeout: '1h' })

  test('paused, it begins nothing until it resumes, whatever happens to the writer; others go on', async () => {
    const entered: number[] = []
    const { entered: held, wait } = gate()
    const worker = t.engine.work(
      a.handler(async ({ data }) => {
        entered.push(data)
        await wait()
      }),
      { id: 'one' },
    )
    await t.engine.enqueue(a, 1)
    await quiet()
    await worker.pause()
    const second = await t.engine.enqueue(a, 2)
    expect(await t.engine.workers()).toMatchObject([{ id: 'one', paused: true, runningJobs: 1 }])
    await t.faults.restartWriter()
    await t.clock.advance('1s')
    expect([entered, worker.paused, worker.running]).toEqual([[1], true, 1])
    expect((await t.engine.stats()).unserved).toEqual([])
    held[0]?.resolve()
    await t.clock.advance('1s')
    expect([entered, worker.running]).toEqual([[1], 0])
    const other = t.engine.work(
      a.handler(({ data }) => data * 10),
      { id: 'other', concurrency: 1 },
    )
    expect(await second.result()).toBe(20)
    await other.stop()
    await t.engine.enqueue(a, 3)
    await quiet()
    expect(entered).toEqual([1])
    await worker.resume()
    await quiet()
    expect(entered).toEqual([1, 3])
    held[1]?.resolve()
    await t.drain()
  })

  test('its concurrency grows and shrinks while it runs', async () => {
    let running = 0
    const worker = t.engine.work(
      a.handler(async () => {
        running++
        await t.clock.sleep('1m')
        running--
      }),
      { concurrency: 2 },
    )
    for (let index = 0; index < 20; index++) await t.engine.enqueue(a, index)
    await quiet()
    expect(running).toBe(2)
    await worker.setConcurrency(5)
    await quiet()
    expect(running).toBe(5)
    await worker.setConcurrency(1)
    await t.clock.advance('59s')
    expect(running).toBe(5)
    await t.clock.advance('1s')
    expect(running).toBe(1)
    await t.faults.restartWriter()
    await t.clock.advance('30s')
    expect([running, worker.concurrency]).toEqual([1, 1])
    expect(await t.engine.workers()).toMatchObject([{ minConcurrency: 1, maxConcurrency: 1 }])
  })
})

describe('E6: retries', () => {
  test('a throw is tried again after the backoff; the output of the attempt that works is the result', async () => {
    const flaky = defineJob({ name: 'flaky', backoff: { type: 'fixed', delay: '10s' } })
    const attempts: number[] = []
    t.engine.work([
      flaky.handler(({ job }) => {
        attempts.push(job.attempt)
        if (job.attempt < 3) throw new Error(`attempt ${job.attempt}`)
        return 'done'
      }),
    ])
    const handle = await t.engine.enqueue(flaky)
    const result = handle.result()
    await t.advance('9s')
    expect(attempts).toEqual([1])
    await t.advance('1s')
    await t.advance('10s')
    expect(await result).toBe('done')
    expect(attempts).toEqual([1, 2, 3])
  })

  test('attempts used up: failed, with the last error as cause', async () => {
    const bad = defineJob({ name: 'bad', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
    t.engine.work([
      bad.handler(({ job }) => {
        throw new RangeError(`no ${job.attempt}`)
      }),
    ])
    const handle = await t.engine.enqueue(bad)
    const error = await handle.result().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(JobFailedError)
    expect(error).toMatchObject({ code: 'JOB_FAILED', jobId: handle.id, attempt: 2, cause: { name: 'RangeError', message: 'no 2' } })
  })

  test('NonRetryableError fails at once; RetryAfterError sets the delay; a function is asked', async () => {
    const times: Record<string, number[]> = { fatal: [], later: [], asked: [] }
    const note = (name: string) => times[name]?.push(t.clock.read().mono)
    const fatal = defineJob({ name: 'fatal' })
    const later = defineJob({ name: 'later', maxAttempts: 2 })
    const asked = defineJob({
      name: 'asked',
      maxAttempts: 3,
      backoff: (attempt, _error, { data, job }) => (job.name === 'asked' ? attempt * (data as { step: number }).step : false),
    })
    t.engine.work([
      fatal.handler(() => {
        note('fatal')
        throw new NonRetryableError('never')
      }),
      later.handler(() => {
        note('later')
        throw new RetryAfterError('7s')
      }),
      asked.handler(() => {
        note('asked')
        throw new Error('again')
      }),
    ])
    const handles = [await t.engine.enqueue(fatal), await t.engine.enqueue(later), await t.engine.enqueue(asked, { step: 1_000 })]
    await t.advance('1m')
    expect(times).toEqual({ fatal: [0], later: [0, 7_000], asked: [0, 1_000, 3_000] })
    for (const handle of handles) expect((await t.engine.get(handle.id))?.state).toBe('failed')
  })
})

describe('E7: timeouts and heartbeats', () => {
  test('timeout-aborts-handler-signal: the signal says why; the attempt failed; the next one runs', async () => {
    const slow = defineJob({ name: 'slow', timeout: '10s', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
    const reasons: unknown[] = []
    t.engine.work([
      slow.handler(({ signal, job }) => {
        if (job.attempt === 2) return 'second'
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
        })
      }),
    ])
    const result = (await t.engine.enqueue(slow)).result()
    await t.advance('10s')
    expect(await result).toBe('second')
    expect(reasons).toMatchObject([{ code: 'JOB_TIMEOUT' }])
  })

  test('a hung handler is fenced: its late completion counts for nothing, and it is a zombie until then', async () => {
    const hung = defineJob({ name: 'hung', timeout: '10s', maxAttempts: 1 })
    const { entered, wait } = gate<string>()
    t.engine.work([hung.handler(wait)], { abortGrace: '5s' })
    const handle = await t.engine.enqueue(hung)
    await t.advance('10s')
    expect((await t.engine.get(handle.id))?.state).toBe('active')
    await t.advance('5s')
    expect((await t.engine.get(handle.id))?.state).toBe('failed')
    expect(await t.engine.workers()).toMatchObject([{ zombies: 1, runningJobs: 0 }])
    entered[0]?.resolve('late')
    await quiet()
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'failed', output: undefined })
    expect(await t.engine.workers()).toMatchObject([{ zombies: 0 }])
  })

  test('heartbeat() moves the deadline; a stale run is told so', async () => {
    const long = defineJob({ name: 'long', timeout: '10s', heartbeatTimeout: '10s', maxAttempts: 1 })
    const { entered, wait } = gate()
    let beat = async () => {}
    t.engine.work([
      long.handler(async ({ heartbeat }) => {
        beat = heartbeat
        await wait()
      }),
    ])
    const handle = await t.engine.enqueue(long)
    await quiet()
    for (let round = 0; round < 5; round++) {
      await t.advance('8s')
      await beat()
    }
    entered[0]?.resolve()
    await handle.result()
    await expect(beat()).rejects.toBeInstanceOf(StaleRunError)
  })
})

test('E8: a checkpoint is found by the next attempt; data stays what it was', async () => {
  const copy = defineJob<{ pages: number }>({ name: 'copy', backoff: { type: 'fixed', delay: 0 } })
  const seen: unknown[] = []
  t.engine.work([
    copy.handler(async ({ data, job, checkpoint }) => {
      seen.push([data, job.checkpoint])
      if (job.attempt === 1) {
        await checkpoint({ page: 3 })
        throw new Error('half way')
      }
    }),
  ])
  await (await t.engine.enqueue(copy, { pages: 9 })).result()
  expect(seen).toEqual([
    [{ pages: 9 }, undefined],
    [{ pages: 9 }, { page: 3 }],
  ])
})

test('E9: every run is told: start, end, worker, error, log', async () => {
  const told = defineJob({ name: 'told', backoff: { type: 'fixed', delay: 0 } })
  t.engine.work(
    [
      told.handler(({ job, log }) => {
        log('info', `attempt ${job.attempt}`, { n: job.attempt })
        if (job.attempt === 1) throw new TypeError('first')
      }),
    ],
    { id: 'w1' },
  )
  const handle = await t.engine.enqueue(told)
  await handle.result()
  const job = await t.engine.get(handle.id)
  expect(job?.attempts).toMatchObject([
    {
      run: 1,
      attempt: 1,
      worker: 'w1',
      error: { name: 'TypeError', message: 'first' },
      logs: [{ level: 'info', message: 'attempt 1', fields: { n: 1 } }],
    },
    { run: 2, attempt: 2, worker: 'w1', logs: [{ message: 'attempt 2' }] },
  ])
  expect(job?.attempts[0]?.error?.stack).toContain('working.test.ts')
  expect(job?.attempts[0]?.startedAt).toBeInstanceOf(Date)
})

test('E11: an active job is cancelled through its signal, and ends as cancelled whatever it returns', async () => {
  const a = defineJob({ name: 'a' })
  const reasons: unknown[] = []
  const { entered, wait } = gate<string>()
  t.engine.work([
    a.handler(({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      return wait()
    }),
  ])
  const handle = await t.engine.enqueue(a)
  await quiet()
  expect(await t.engine.cancel(handle.id)).toBe('cancelling')
  await quiet()
  expect(reasons).toMatchObject([{ code: 'JOB_CANCELLED' }])
  entered[0]?.resolve('finished anyway')
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED', jobId: handle.id })
})

test('E14: bulk add, explicit outcomes, and throws of any kind are caught', async () => {
  const a = defineJob<number>({ name: 'a', maxAttempts: 1 })
  t.engine.work([
    a.handler(({ data }) => {
      if (data === 1) return Promise.reject('a string')
      if (data === 2) return Promise.reject(Object.create(null))
      if (data === 3) return Promise.reject(new Error('rejected'))
      return data
    }),
  ])
  const handles = await t.engine.enqueueMany([0, 1, 2, 3].map((data) => ({ job: a, data })))
  const results = await Promise.allSettled(handles.map((handle) => handle.result()))
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
  expect((await t.engine.get(handles[1]?.id ?? ''))?.attempts[0]?.error).toMatchObject({ message: 'a string' })
})

test('N11: what a handler enqueues comes with its completion, or not at all', async () => {
  const parent = defineJob({ name: 'parent', backoff: { type: 'fixed', delay: 0 } })
  const child = defineJob<number>({ name: 'child' })
  t.engine.work([
    parent.handler(({ job, enqueue }) => {
      enqueue(child, job.attempt, { priority: 2 })
      if (job.attempt === 1) throw new Error('not yet')
    }),
  ])
  await (await t.engine.enqueue(parent)).result()
  const { jobs } = await t.engine.list({ name: 'child' })
  expect(jobs).toMatchObject([{ data: 2, priority: 2 }])
})

test('a completion whose enqueues are refused fails the run, and creates nothing', async () => {
  const parent = defineJob({ name: 'parent', maxAttempts: 1 })
  await t.engine.enqueue('child', undefined, { unique: { key: 'k' } })
  t.engine.work([
    parent.handler(({ enqueue }) => {
      enqueue('other')
      enqueue('child', undefined, { unique: { key: 'k', onConflict: 'error' } })
    }),
  ])
  const handle = await t.engine.enqueue(parent)
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'UniqueConflictError' } })
  expect((await t.engine.list({ name: 'other' })).jobs).toEqual([])
})

test('snooze and discard end a run, even where the handler catches what they throw', async () => {
  const nap = defineJob({ name: 'nap', maxAttempts: 1 })
  const drop = defineJob({ name: 'drop' })
  t.engine.work([
    nap.handler(({ job, snooze }) => {
      try {
        if (job.run < 3) snooze('1h')
      } catch {
        return 'swallowed'
      }
      return 'awake'
    }),
    drop.handler(({ discard }) => discard('no longer wanted')),
  ])
  const napping = (await t.engine.enqueue(nap)).result()
  const dropped = await t.engine.enqueue(drop)
  await expect(dropped.result()).rejects.toMatchObject({
    code: 'JOB_FAILED',
    cause: { name: 'DiscardedError', message: 'no longer wanted' },
  })
  await t.advance('2h')
  expect(await napping).toBe('awake')
})

test('a handler cancels its own job, by the context or by an error; another job goes on', async () => {
  const drop = defineJob<string>({ name: 'drop' })
  const worker = t.engine.work([
    drop.handler(({ data, cancel }) => {
      if (data === 'context') cancel('no longer wanted')
      if (data === 'error') throw new CancelJobError('no longer wanted')
      return data
    }),
  ])
  for (const way of ['context', 'error']) {
    const handle = await t.engine.enqueue(drop, way)
    const said = { reason: 'no longer wanted', by: worker.id }
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED', ...said })
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'cancelled', attempt: 1, cancellation: said })
  }
  expect(await (await t.engine.enqueue(drop, 'neither')).result()).toBe('neither')
})

test('a cancel that says why is told to the handler, to result, get, list and listeners, and survives a restart', async () => {
  const a = defineJob({ name: 'a' })
  const { entered, wait } = gate()
  const told: unknown[] = []
  t.engine.on('cancelled', ({ jobId, message, error }) => told.push([jobId, message, error]))
  t.engine.work([
    a.handler(async ({ signal }) => {
      await wait()
      throw signal.reason
    }),
  ])
  const [running, waiting, bystander] = [await t.engine.enqueue(a), await t.engine.enqueue('b'), await t.engine.enqueue('b')]
  await quiet()
  const said = { reason: 'wrong file', by: 'ada' }
  expect(await t.engine.cancel(running.id, said)).toBe('cancelling')
  expect((await t.engine.get(running.id))?.cancellation).toEqual(said)
  expect(await t.engine.cancelMany({ ids: [waiting.id] }, { ...said, limit: 1 })).toMatchObject({ changed: 1 })
  entered[0]?.resolve()
  const refused = { code: 'JOB_CANCELLED', message: expect.stringMatching(/was cancelled: wrong file$/), ...said }
  await expect(running.result()).rejects.toMatchObject(refused)
  await expect(waiting.result()).rejects.toMatchObject(refused)
  expect(told.sort()).toEqual([running, waiting].map(({ id }) => [id, 'wrong file', undefined]).sort())
  expect((await t.engine.get(running.id))?.attempts[0]?.error).toMatchObject({ message: 'the job was cancelled: wrong file' })
  await t.restart()
  expect((await t.engine.list({ state: 'cancelled' })).jobs.map(({ cancellation }) => cancellation)).toEqual([said, said])
  expect(await t.engine.get(bystander.id)).toMatchObject({ state: 'waiting' })
  expect(await t.engine.get(bystander.id)).not.toHaveProperty('cancellation')
})

test.each([
  [{ reason: '' }, 'OPTION_RANGE', 'reason must have 1 to 1000 characters, got 0'],
  [{ reason: 'x'.repeat(1_001) }, 'OPTION_RANGE', 'reason must have 1 to 1000 characters, got 1001'],
  [{ by: 'x'.repeat(129) }, 'OPTION_RANGE', 'by must have 1 to 128 characters, got 129'],
  [{ reason: 1 as never }, 'OPTION_TYPE', 'reason must be a string, got 1'],
  [{ why: 'x' } as never, 'OPTION_TYPE', expect.stringContaining("'why'")],
])('a cancel with %j is refused, and changes nothing', async (options, code, message) => {
  const { id } = await t.engine.enqueue('a')
  await expect(t.engine.cancel(id, options)).rejects.toMatchObject({ code, message })
  await expect(t.engine.cancelMany({ all: true }, options)).rejects.toMatchObject({ code, message })
  expect(await t.engine.get(id)).toMatchObject({ state: 'waiting' })
})

test('maxLost: lost workers use no attempt, across restarts; then the job fails with WorkerLostError', async () => {
  const a = defineJob({ name: 'a', maxAttempts: 1, maxLost: 1 })
  const starts: number[] = []
  const work = () =>
    t.engine.work([
      a.handler(async ({ job }) => {
        starts.push(job.attempt)
        await t.clock.sleep('1h')
      }),
    ])
  work()
  const handle = await t.engine.enqueue(a)
  const bystander = await t.engine.enqueue('b')
  await quiet()
  await t.restart()
  expect(await t.engine.get(handle.id)).toMatchObject({ state: 'waiting', attempt: 0, run: 1, maxLost: 1, lostRuns: 1 })
  work()
  await quiet()
  await t.restart()
  await expect(t.engine.handle(handle.id).result()).rejects.toMatchObject({
    code: 'JOB_FAILED',
    cause: { name: 'WorkerLostError', message: expect.stringMatching(/happened to 2 of its runs, and maxLost allows 1$/) },
  })
  expect(starts).toEqual([1, 1])
  expect(await t.engine.get(bystander.id)).toMatchObject({ state: 'waiting', lostRuns: 0, maxLost: undefined })
})

test('a running job shows its deadline, which a heartbeat moves, and an abort; so do explain and its worker', async () => {
  const [a, b] = [defineJob({ name: 'a', timeout: '5m', heartbeatTimeout: '2m' }), defineJob({ name: 'b', timeout: Infinity })]
  const alive = gate()
  t.engine.work(
    [
      a.handler(async ({ heartbeat }) => {
        await alive.wait()
        await heartbeat()
        await t.clock.sleep('1h')
      }),
      b.handler(() => t.clock.sleep('1h')),
    ],
    { abortGrace: '30s', concurrency: 2 },
  )
  const { id } = await t.engine.enqueue(a)
  const bystander = await t.engine.enqueue(b)
  await quiet()
  const startedAt = Number((await t.engine.get(id))?.startedAt)
  const deadlines = async () => [
    Number((await t.engine.get(id))?.deadlineAt) - startedAt,
    Number((await t.engine.explain(id))?.deadlineAt) - startedAt,
    Number((await t.engine.workers())[0]?.nextDeadlineAt) - startedAt,
  ]
  expect(await deadlines()).toEqual([300_000, 300_000, 300_000])
  const words = new Date(startedAt + 300_000).toISOString()
  expect((await t.engine.explain(id))?.message).toBe(`is running at attempt 1 of 4, with a deadline of ${words}`)
  await t.advance('4m')
  expect(await deadlines()).toEqual([300_000, 300_000, 300_000])
  alive.entered[0]?.resolve()
  await quiet()
  expect(await deadlines()).toEqual([360_000, 360_000, 360_000])
  await t.engine.cancel(id)
  expect(await deadlines()).toEqual([270_000, 270_000, 270_000])
  await t.advance('30s')
  expect((await t.engine.get(id))?.deadlineAt).toBeUndefined()
  expect(await t.engine.explain(id)).not.toHaveProperty('deadlineAt')
  expect((await t.engine.workers())[0]?.nextDeadlineAt).toBeUndefined()
  expect(await t.engine.get(bystander.id)).toMatchObject({ state: 'active', deadlineAt: undefined })
})

test('the first runAt stays with a job that is tried again, across restarts', async () => {
  const a = defineJob({ name: 'a', backoff: { type: 'fixed', delay: '1m' } })
  const fails = () =>
    t.engine.work([
      a.handler(() => {
        throw new Error('no')
      }),
    ])
  fails()
  const runAt = new Date(t.clock.read().wall + 3_600_000)
  const { id } = await t.engine.enqueue(a, undefined, { runAt })
  const bystander = await t.engine.enqueue('b', undefined, { runAt })
  expect(await t.engine.get(id)).toMatchObject({ state: 'scheduled', runAt, originalRunAt: undefined })
  await t.advance('1h')
  const retryAt = new Date(runAt.getTime() + 60_000)
  expect(await t.engine.get(id)).toMatchObject({ state: 'scheduled', runAt: retryAt, originalRunAt: runAt })
  await t.restart()
  expect(await t.engine.get(id)).toMatchObject({ runAt: retryAt, originalRunAt: runAt })
  const { jobs } = await t.engine.list({ name: 'a' })
  expect(jobs).toMatchObject([{ runAt: retryAt, originalRunAt: runAt }])
  expect(await t.engine.get(bystander.id)).toMatchObject({ runAt, originalRunAt: undefined })
})

test('progress is kept, and told as an event', async () => {
  const a = defineJob({ name: 'a' })
  const { entered, wait } = gate()
  const events: unknown[] = []
  t.engine.on('progress', (event) => events.push(event.progress))
  t.engine.work([
    a.handler(async ({ progress }) => {
      progress(0.2)
      progress(0.5, 'half', { rows: 7 })
      await wait()
    }),
  ])
  const handle = await t.engine.enqueue(a)
  await quiet()
  expect(await t.engine.get(handle.id)).toMatchObject({ progress: 0.5, progressNote: 'half', progressValue: { rows: 7 } })
  expect(events).toEqual([0.5])
  entered[0]?.resolve()
  await handle.result()
})

describe('E15: stopping', () => {
  test('running jobs finish, what waits stays, later calls are refused by name', async () => {
    const a = defineJob({ name: 'a' })
    const { entered, wait } = gate<string>()
    const worker = t.engine.work([a.handler(wait)], { concurrency: 1 })
    const [first, second] = [await t.engine.enqueue(a), await t.engine.enqueue(a)]
    const result = first.result()
    const stopped = worker.stop()
    await quiet()
    entered[0]?.resolve('finished')
    await stopped
    expect(await result).toBe('finished')
    expect((await t.engine.get(second.id))?.state).toBe('waiting')
    await t.engine.stop()
    await expect(t.engine.enqueue(a)).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  })

  test('past the time limit the signal aborts, and the job is given back without using an attempt', async () => {
    const a = defineJob({ name: 'a', maxAttempts: 1, timeout: '1h' })
    const reasons: unknown[] = []
    const worker = t.engine.work([
      a.handler(
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason)
              reject(signal.reason)
            })
          }),
      ),
    ])
    const handle = await t.engine.enqueue(a)
    await quiet()
    const stopped = worker.stop({ timeout: '10s' })
    await t.advance('10s')
    await stopped
    expect(reasons).toMatchObject([{ code: 'WORKER_STOPPED' }])
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'waiting', attempt: 0, run: 1 })
  })

  test('close-resolves-under-redelay-loop: stop resolves while a job snoozes again and again', async () => {
    const loop = defineJob({ name: 'loop' })
    const worker = t.engine.work([loop.handler(({ snooze }) => snooze(1))])
    await t.engine.enqueue(loop)
    await t.advance(10)
    await worker.stop()
    expect((await t.engine.stats()).states.active).toBe(0)
  })
})
