// createTestEngine, as users have it: time, draining, inline mode, restarts.
import { defineJob, JobFailedError, LeaseLostError, OptionTypeError, ResultTimeoutError, WorkerLostError } from '@millrace/engine'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { quiet } from './clock.ts'
import { createTestEngine, DrainError, type TestEngineOptions } from './index.ts'

const mail = defineJob<{ to: string }>({ name: 'mail', maxAttempts: 3, backoff: { type: 'exponential', delay: '20s', jitter: 0 } })

function start(options?: TestEngineOptions) {
  const t = createTestEngine(options)
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

const timeOf = (t: ReturnType<typeof start>) => new Date(t.clock.read().wall).toISOString().slice(11, 19)

describe('options', () => {
  test('a mistyped one is named, a wrong one says what it takes', () => {
    expect(() => createTestEngine({ sed: 1 } as TestEngineOptions)).toThrow(/createTestEngine has no option 'sed'; did you mean 'seed'/)
    expect(() => createTestEngine({ mode: 'quick' as 'queue' })).toThrow(OptionTypeError)
    expect(() => createTestEngine({ now: 'soon' as unknown as Date })).toThrow(/now must be a Date/)
    expect(() => createTestEngine({ now: new Date('soon') })).toThrow(/now must be a Date/)
    expect(() => createTestEngine({ maxDataBytes: 0 })).toThrow(RangeError)
  })

  test('the same seed gives the same jitter, another one another', async () => {
    const runs = async (seed: number) => {
      await using t = createTestEngine({ seed })
      const at: number[] = []
      const shaky = defineJob({ name: 'shaky', maxAttempts: 4, backoff: { type: 'fixed', delay: '1m', jitter: 0.5 } })
      t.engine.work(
        shaky.handler(() => {
          at.push(t.clock.read().wall)
          throw new Error('no')
        }),
      )
      await t.engine.enqueue(shaky)
      await t.clock.advance('10m')
      return at
    }
    const [one, again, other] = [await runs(1), await runs(1), await runs(2)]
    expect(one).toHaveLength(4)
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
  })

  test('now is where time starts, for jobs too', async () => {
    const t = start({ now: new Date('2024-02-29T12:00:00Z') })
    const { id } = await t.engine.enqueue(mail, { to: 'a' }, { delay: '1d' })
    expect((await t.engine.get(id))?.runAt).toEqual(new Date('2024-03-01T12:00:00Z'))
  })
})

describe('dispose', () => {
  test.each([false, true])('a handler that never ends is given up when its grace ends, however long; restarted: %j', async (restarted) => {
    const t = createTestEngine()
    const begun = Promise.withResolvers<void>()
    const endless = mail.handler(() => {
      begun.resolve()
      return new Promise(() => {})
    })
    t.engine.work(endless, { abortGrace: '2h' })
    await t.engine.enqueue(mail, { to: 'a' })
    await begun.promise
    if (restarted) await t.restart()
    await t[Symbol.asyncDispose]()
    await expect(t.engine.stats()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  })
})

describe('clock.advance', () => {
  test.each([Number.POSITIVE_INFINITY, -1, 'soon', '101 years'])('%j is refused: it would never be there', async (duration) => {
    const t = start()
    const before = t.clock.read()
    const told = { option: 'advance', code: expect.stringMatching(/^OPTION_(RANGE|TYPE)$/) }
    await expect(t.clock.advance(duration as number)).rejects.toMatchObject(told)
    await expect(t.advance(duration as number)).rejects.toMatchObject(told)
    expect(t.clock.read()).toEqual(before)
  })

  test('fires delays, retries and timeouts in order, each with all that it sets off', async () => {
    const t = start()
    const seen: string[] = []
    const slow = defineJob({ name: 'slow', timeout: '45s', maxAttempts: 1, heartbeatTimeout: 0 })
    t.engine.work([
      mail.handler(({ data, job }) => {
        seen.push(`${timeOf(t)} ${data.to} ${job.attempt}`)
        if (data.to === 'flaky' && job.attempt < 3) throw new Error('not yet')
      }),
      slow.handler(
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              seen.push(`${timeOf(t)} slow ${(signal.reason as Error).name}`)
              reject(signal.reason)
            })
          }),
      ),
    ])
    const retried = t.engine.enqueue(mail, { to: 'flaky' }).then((handle) => handle.result())
    await t.engine.enqueue(slow)
    await t.engine.enqueue(mail, { to: 'later' }, { delay: '30s' })
    await t.clock.advance('2m')
    await retried
    expect(seen).toEqual(['00:00:00 flaky 1', '00:00:20 flaky 2', '00:00:30 later 1', '00:00:45 slow JobTimeoutError', '00:01:00 flaky 3'])
  })

  test('result({ timeout }) is of the same clock', async () => {
    const t = start()
    const { result } = await t.engine.enqueue(mail, { to: 'nobody' }).then((handle) => ({ result: handle.result({ timeout: '1m' }) }))
    const late = expect(result).rejects.toThrow(ResultTimeoutError)
    await t.clock.advance('1m')
    await late
  })

  test("a runner's fake timers are not in the way", async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const t = start()
    t.engine.work(mail.handler(() => 'sent'))
    await t.engine.enqueue(mail, { to: 'a' }, { delay: '1h' })
    await t.clock.advance('1h')
    await t.drain()
    await t.expectEnqueued(mail, { state: 'completed', output: 'sent' })
  })
})

describe('drain', () => {
  test('waits for all that jobs set off, also in real time, and leaves what is for later', async () => {
    const t = start()
    t.engine.work([
      defineJob<number>({ name: 'down' }).handler(async ({ data, enqueue }) => {
        await new Promise<void>((resolve) => process.nextTick(() => setTimeout(resolve, 1)))
        if (data > 0) enqueue('down', data - 1)
        return data
      }),
    ])
    await t.engine.enqueue('down', 3)
    await t.engine.enqueue('down', 0, { delay: '1h' })
    await t.drain()
    const { states } = await t.engine.stats()
    expect(states).toMatchObject({ completed: 4, scheduled: 1, waiting: 0, active: 0 })
    t.clock.jump(3_600_000)
    await t.drain()
    expect((await t.engine.stats()).states).toMatchObject({ completed: 5, scheduled: 0 })
  })

  test('waits for handlers on threads', async () => {
    const t = start()
    t.engine.work(mail.thread(new URL('./testing/echo.ts', import.meta.url), { threads: 1 }))
    await t.engine.enqueue(mail, { to: 'ann' })
    await t.drain()
    await t.expectEnqueued(mail, { state: 'completed', output: { to: 'ann' } })
  })

  test('with nothing to do it does nothing', async () => {
    const t = start()
    const before = t.clock.read()
    await t.drain()
    expect(t.clock.read()).toEqual(before)
  })

  test('says why it cannot: names without worker, pauses, limits, full workers', async () => {
    const t = start()
    const { engine } = t
    const hang = defineJob({ name: 'hang' })
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    engine.work(
      ['hang', 'a', 'b', 'rated', 'keyed'].map((name) =>
        defineJob({ name }).handler(async () => (name === 'hang' ? await held : undefined)),
      ),
    )
    engine.work(
      defineJob({ name: 'one' }).handler(() => held),
      { concurrency: 1 },
    )
    for (const queue of ['stopped', 'keys']) await engine.queues.configure(queue, {})
    await engine.queues.pause('stopped')
    await engine.queues.pause('default', { job: 'b' })
    await engine.queues.pause('keys', { key: 'ann' })
    await engine.queues.configure('keys', { perKeyLimit: 1 })
    await engine.queues.configure('narrow', { concurrencyLimit: 1 })
    await engine.queues.configure('beside', { sharedLimit: { name: 'smtp', limit: 1 } })
    await engine.queues.configure('slow', { rateLimit: { limit: 1, period: '1m' } })
    await engine.queues.configure('paced', { perKeyRateLimit: { limit: 1, period: '1m' } })
    await engine.queues.configure('ordered', { keyOrder: 'strict' })
    await engine.enqueue('nobody')
    await engine.enqueue('a', 1, { queue: 'stopped' })
    await engine.enqueue('b')
    await engine.enqueue('keyed', 1, { queue: 'keys', concurrencyKey: 'ann' })
    for (let i = 0; i < 2; i++) {
      await engine.enqueue(hang, i, { queue: 'narrow' })
      await engine.enqueue(hang, i, { queue: 'beside' })
      await engine.enqueue('hang', i, { queue: 'keys', concurrencyKey: 'bob' })
      await engine.enqueue('rated', i, { queue: 'slow' })
      await engine.enqueue('rated', i, { queue: 'paced', concurrencyKey: 'kim' })
      await engine.enqueue('hang', i, { queue: 'ordered', concurrencyKey: 'eve' })
      await engine.enqueue('one')
    }
    const error = await t.drain({ timeout: 20 }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(DrainError)
    const { message, left } = error as DrainError
    expect(message).toMatch(/^drain has left jobs undone within 20 ms:\n/)
    const why = (queue: string, name: string, state = 'waiting') =>
      left.find((one) => one.queue === queue && one.name === name && one.state === state)?.why
    expect(why('default', 'nobody')).toMatch(/^no worker serves it/)
    expect(why('stopped', 'a')).toBe("the queue is paused: engine.queues.resume('stopped')")
    expect(why('default', 'b')).toBe("the job name is paused: engine.queues.resume('default', { job: 'b' })")
    expect(why('keys', 'keyed')).toBe("1 with the concurrencyKey 'ann', which is paused")
    expect(why('keys', 'hang')).toBe("1 with the concurrencyKey 'bob', of which 1 run: the queue's perKeyLimit")
    expect(why('narrow', 'hang')).toBe("1 of its queue run, which is the queue's concurrencyLimit")
    expect(why('beside', 'hang')).toBe("1 or more jobs run in the queues of the sharedLimit 'smtp'")
    expect(why('slow', 'rated')).toBe("the queue's rateLimit has its next token in 60000 ms: clock.advance(60000)")
    expect(why('paced', 'rated')).toBe(
      "1 with the concurrencyKey 'kim', of which the queue's perKeyRateLimit has its next token in 60000 ms: clock.advance(60000)",
    )
    expect(why('ordered', 'hang')).toBe("1 with the concurrencyKey 'eve', behind the one that has its turn: the queue's keyOrder")
    expect(why('default', 'one')).toMatch(/^its workers run as many as they may/)
    expect(why('narrow', 'hang', 'active')).toMatch(/^its handler has not ended/)
    letGo()
    await engine.queues.resume('stopped')
    await engine.queues.resume('default', { job: 'b' })
    await engine.queues.resume('keys', { key: 'ann' })
    await t.clock.advance('1m')
    engine.work(defineJob({ name: 'nobody' }).handler(() => 'somebody'))
    await t.drain()
    expect((await engine.stats()).states).toMatchObject({ completed: 18, waiting: 0 })
  })

  test('says that workers are paused', async () => {
    const t = start()
    const [first, other] = [
      t.engine.work(defineJob({ name: 'a' }).handler(() => 1)),
      t.engine.work(defineJob({ name: 'a' }).handler(() => 2)),
    ]
    await Promise.all([first.pause(), other.pause()])
    await t.engine.enqueue('a')
    await expect(t.drain()).rejects.toThrow("1 waiting 'a' in queue 'default': its workers are paused: worker.resume()")
    await other.resume()
    await t.drain()
    await t.expectEnqueued('a', { state: 'completed', output: 2 })
  })

  test('what nothing can change is told at once', async () => {
    const t = start()
    await t.engine.enqueue(mail, { to: 'nobody' })
    await expect(t.drain({ timeout: '1h' })).rejects.toThrow(
      "drain has left jobs undone:\n  1 waiting 'mail' in queue 'default': no worker serves it: engine.work([...])",
    )
    await expect(t.drain({ timeout: 'soon' as '1h' })).rejects.toThrow(OptionTypeError)
  })
})

describe("mode: 'inline'", () => {
  test('a job that joins others has ended with them when its enqueue returns', async () => {
    const t = start({ mode: 'inline' })
    const part = defineJob<number, number>({ name: 'part' })
    const whole = defineJob<number, number>({ name: 'whole' })
    t.engine.work([
      part.handler(({ data }) => data),
      whole.handler(async ({ data, join }) => {
        let sum = 0
        for await (const { output } of await join('parts', [part.job(data), part.job(data)])) sum += output ?? 0
        return sum
      }),
    ])
    const { id } = await t.engine.enqueue(whole, 4)
    expect(await t.engine.get(id)).toMatchObject({ state: 'completed', output: 8 })
  })

  test('enqueue resolves once its job has run, in real time if need be', async () => {
    const t = start({ mode: 'inline' })
    const sent: string[] = []
    t.engine.work(
      mail.handler(async ({ data }) => {
        await new Promise<void>((resolve) => setImmediate(() => setTimeout(resolve, 1)))
        sent.push(data.to)
        return `to ${data.to}`
      }),
    )
    const handle = await t.engine.enqueue(mail, { to: 'ann' })
    expect(sent).toEqual(['ann'])
    expect(await handle.result()).toBe('to ann')
    await t.engine.enqueueMany(['bob', 'cid'].map((to) => ({ job: mail, data: { to } })))
    expect(sent.toSorted()).toEqual(['ann', 'bob', 'cid'])
  })

  test('a failure is the outcome, not an error of enqueue; retries and delays wait for the clock', async () => {
    const t = start({ mode: 'inline' })
    t.engine.work(
      mail.handler(({ data }) => {
        throw new Error(`no ${data.to}`)
      }),
    )
    const handle = await t.engine.enqueue(mail, { to: 'ann' }, { maxAttempts: 1 })
    await expect(handle.result()).rejects.toThrow(JobFailedError)
    const retried = await t.engine.enqueue(mail, { to: 'bob' })
    expect(await t.engine.get(retried.id)).toMatchObject({ state: 'scheduled', attempt: 1 })
    await t.clock.advance('5m')
    expect(await t.engine.get(retried.id)).toMatchObject({ state: 'failed', attempt: 3 })
    const later = await t.engine.enqueue(mail, { to: 'cid' }, { delay: '1h' })
    expect(await t.engine.get(later.id)).toMatchObject({ state: 'scheduled', attempt: 0 })
  })

  test('handlers enqueue too, and wait for that', async () => {
    const t = start({ mode: 'inline' })
    const order: string[] = []
    t.engine.work([
      defineJob({ name: 'outer' }).handler(async () => {
        await t.engine.enqueue('inner')
        order.push('outer')
      }),
      defineJob({ name: 'inner' }).handler(() => void order.push('inner')),
    ])
    await t.engine.enqueue('outer')
    expect(order).toEqual(['inner', 'outer'])
  })

  test('flows and batches run to their ends', async () => {
    const t = start({ mode: 'inline' })
    const order: unknown[] = []
    const step = defineJob<string>({ name: 'step' })
    t.engine.work(
      step.handler(async ({ data, parents }) => {
        await new Promise<void>((resolve) => setTimeout(resolve, 1))
        const outputs: unknown[] = []
        for await (const { output } of parents()) outputs.push(output)
        order.push(`${data}(${outputs.join()})`)
        return data
      }),
    )
    await t.engine.flow([
      { ref: 'c', job: step, data: 'c', dependsOn: ['a', 'b'] },
      { ref: 'a', job: step, data: 'a' },
      { ref: 'b', job: step, data: 'b', dependsOn: ['a'] },
    ])
    expect(order).toEqual(['a()', 'b(a)', 'c(a,b)'])
    await t.engine.batch(
      [
        { job: step, data: 'x' },
        { job: step, data: 'y' },
      ],
      { job: step, data: 'end' },
    )
    expect(order.at(-1)).toBe('end(x,y)')
  })

  test('where nobody can run it, it says so, and the job is there', async () => {
    const t = start({ mode: 'inline' })
    await expect(t.engine.enqueue(mail, { to: 'nobody' })).rejects.toThrow(
      /^mode 'inline' runs what is enqueued at once, and cannot: enqueue of 'mail', committed as it is, has left jobs undone:\n {2}1 waiting 'mail'.+no worker serves it/,
    )
    await t.expectEnqueued(mail, { data: { to: 'nobody' }, state: 'waiting' })
  })
})

describe('restart', () => {
  test('what is stored is there, what ran has used an attempt and comes again, to workers that are started anew', async () => {
    const t = start()
    const runs: string[] = []
    const stuck = t.engine.work(
      mail.handler(({ job, signal }) => {
        runs.push(`first ${job.attempt}`)
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('of the dead')))
      }),
    )
    const { id } = await t.engine.enqueue(mail, { to: 'ann' })
    await t.engine.enqueue(mail, { to: 'later' }, { delay: '1h' })
    await t.engine.enqueue('bystander')
    await t.restart()
    expect(stuck.running).toBe(0)
    expect((await t.engine.stats()).workers).toBe(0)
    expect(await t.engine.get(id)).toMatchObject({ state: 'waiting', attempt: 1, attempts: [{ error: { name: WorkerLostError.name } }] })
    t.engine.work(mail.handler(({ job }) => `second ${job.attempt}`))
    await t.clock.advance('1h')
    expect(await t.engine.get(id)).toMatchObject({ state: 'completed', output: 'second 2' })
    expect(runs).toContain('first 1')
    expect((await t.enqueued('bystander')).map(({ state }) => state)).toEqual(['waiting'])
  })

  test('handles and events go on through it', async () => {
    const t = start()
    const handle = await t.engine.enqueue(mail, { to: 'ann' })
    const result = handle.result()
    const types: string[] = []
    const reading = (async () => {
      for await (const item of t.engine.events({ after: 0, filter: { name: mail.name } })) {
        types.push(item.type)
        if (item.type === 'completed') return
      }
    })()
    await t.clock.advance(0)
    await t.restart()
    t.engine.work(mail.handler(() => 'sent'))
    expect(await result).toBe('sent')
    await reading
    expect(types).toEqual(['enqueued', 'started', 'completed'])
  })
})

test('a killed worker: its run is lost and another worker has it, what the dead one says is not heard', async () => {
  const t = start()
  const heard: unknown[] = []
  let say = (_: string) => {}
  const first = t.engine.work(
    mail.handler(({ signal }) => {
      signal.addEventListener('abort', () => heard.push(signal.reason))
      return new Promise<string>((resolve) => {
        say = resolve
      })
    }),
    { id: 'first' },
  )
  const bystander = t.engine.work(defineJob({ name: 'bystander' }).handler(() => 'fine'))
  const { id } = await t.engine.enqueue(mail, { to: 'ann' })
  await t.clock.advance(0)
  await t.faults.killWorker(first)
  expect(heard).toEqual([expect.any(LeaseLostError)])
  expect((await t.engine.workers()).map((worker) => worker.id)).toEqual([bystander.id])
  say('too late')
  await quiet()
  t.engine.work(mail.handler(({ job }) => `attempt ${job.attempt}`))
  await t.engine.enqueue('bystander')
  await t.drain()
  expect(await t.engine.get(id)).toMatchObject({ state: 'completed', output: 'attempt 2' })
  await t.faults.restartWriter()
  expect((await t.engine.workers()).map((worker) => worker.id)).not.toContain('first')
})

afterEach(() => vi.useRealTimers())
