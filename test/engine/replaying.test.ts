/** Handlers that run again from their beginning: what they report, how their runs end, and code that is not repeatable. */
import { defineJob, type HandlerFunction, type JobHandle, type Middleware, NonRetryableError } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const order = defineJob<string>({ name: 'order', maxAttempts: 3, backoff: { type: 'fixed', delay: '10s', jitter: 0 } })
type Handler = HandlerFunction<string, unknown>

async function run(handler: Handler): Promise<JobHandle<unknown>> {
  t.engine.work(order.handler(handler))
  const handle = await t.engine.enqueue(order, '')
  await t.clock.advance(0)
  return handle
}

/** The lines that the job has stored, in all its runs. */
async function linesOf({ id }: { readonly id: string }): Promise<readonly string[] | undefined> {
  return (await t.engine.get(id))?.attempts.flatMap(({ logs = [] }) => logs.map(({ message }) => message))
}

describe('reports', () => {
  test('of a replay are not stored again; those of steps, and what follows, are', async () => {
    const handle = await run(async ({ step, sleep, log, progress }) => {
      log('info', 'begins')
      progress(0.1)
      await step('a', () => log('info', 'in a'))
      log('info', 'after a')
      progress(0.5)
      await sleep('b', '1h')
      log('info', 'awake')
      await step('c', ({ attempt }) => {
        log('info', `in c ${attempt}`)
        if (attempt === 1) throw new Error('no')
      })
      log('info', 'ends')
      progress(1)
    })
    await t.clock.advance('1h')
    await t.clock.advance('10s')
    await handle.result()
    // A failure comes back behind the last result, like any attempt.
    expect(await linesOf(handle)).toEqual(['begins', 'in a', 'after a', 'awake', 'in c 1', 'awake', 'in c 2', 'ends'])
    expect((await t.engine.get(handle.id))?.progress).toBe(1)
  })

  test('before the first durable call are stored where an earlier run has recorded nothing', async () => {
    const handle = await run(async ({ step, log }) => {
      log('info', 'begins')
      await step('a', ({ attempt }) => {
        if (attempt === 1) throw new Error('no')
      })
    })
    await t.clock.advance('10s')
    await handle.result()
    expect(await linesOf(handle)).toEqual(['begins', 'begins'])
  })

  test('of a job without durable calls are all stored: at its end, after 100 ms, and 100 lines', async () => {
    const going = Promise.withResolvers<void>()
    const handle = await run(async ({ job, log, progress }) => {
      log('info', `run ${job.run}`)
      progress(job.run / 10)
      if (job.run === 1) throw new Error('no')
      if (job.run === 2) for (let line = 2; line <= 100; line++) log('info', `line ${line}`)
      if (job.run === 2) throw new Error('no')
      await going.promise
      log('info', 'ends')
    })
    await t.clock.advance('10s')
    expect(await linesOf(handle)).toHaveLength(101)
    await t.clock.advance('10s')
    await t.clock.advance(99)
    expect(await linesOf(handle)).toHaveLength(101)
    await t.clock.advance(1)
    expect((await linesOf(handle))?.at(-1)).toBe('run 3')
    expect((await t.engine.get(handle.id))?.progress).toBe(0.3)
    going.resolve()
    await handle.result()
    expect((await linesOf(handle))?.at(-1)).toBe('ends')
  })

  test('a handler that returns without a recorded result leaves one warning', async () => {
    let isNew = false
    const handle = await run(async ({ step, sleep }) => {
      await step('a', () => 1)
      if (!isNew) await sleep('nap', '1h')
    })
    isNew = true
    await t.clock.advance('1h')
    await handle.result()
    const message =
      "the handler has returned, and its job has recorded 'nap' next: guard the change with changed('...'), or run the earlier code"
    expect(await linesOf(handle)).toEqual([message])
  })

  test('a handler that asks for another name is put off, without using an attempt', async () => {
    let name = 'old'
    const handle = await run(async ({ step, sleep }) => {
      await step(name, () => 1)
      await sleep('nap', '1h')
    })
    name = 'new'
    await t.clock.advance('1h')
    await t.clock.advance('1s')
    const job = await t.engine.get(handle.id)
    expect(job).toMatchObject({
      state: 'scheduled',
      attempts: [{ error: { name: 'StepsChangedError', message: expect.stringMatching(/asks for 'new'.*'old' next/) } }],
    })
    name = 'old'
    await t.clock.advance('1h')
    await handle.result()
  })
})

describe('a run that ends with a wait', () => {
  test('aborts its signal, and its middleware gets a WaitSignal; the handler does not continue', async () => {
    const seen: string[] = []
    const middleware: Middleware = {
      run: async (_, next) => {
        try {
          return await next()
        } catch (error) {
          seen.push((error as Error).name)
          throw error
        } finally {
          seen.push('finally')
        }
      },
    }
    t.engine.use(middleware)
    const handle = await run(async ({ signal, sleep, step }) => {
      signal.addEventListener('abort', () => void seen.push((signal.reason as Error).name))
      try {
        await sleep('nap', '1h')
        await step('fails', ({ attempt }) => {
          if (attempt === 1) throw new RangeError('no')
        })
      } finally {
        seen.push('handler')
      }
    })
    await t.clock.advance('1h')
    await t.clock.advance('10s')
    await handle.result()
    expect(seen).toEqual(['RunSuspended', 'WaitSignal', 'finally', 'RunSuspended', 'RangeError', 'finally', 'handler', 'finally'])
    expect((await t.engine.get(handle.id))?.attempts).toMatchObject([{ error: { name: 'RangeError' } }, {}])
  })

  test('does not wait for its middleware', async () => {
    t.engine.use({ run: async (_, next) => next().catch(() => new Promise(() => {})) })
    const handle = await run(async ({ sleep }) => {
      await sleep('a', '1h')
      return 'done'
    })
    await t.clock.advance('1h')
    expect(await handle.result()).toBe('done')
  })
})

describe('a worker that stops', () => {
  test('gives a run back at its next durable call, without an attempt', async () => {
    const going = Promise.withResolvers<void>()
    const seen: string[] = []
    const handler = order.handler(async ({ job, step }) => {
      await step('a', () => 1)
      if (job.run === 1) await going.promise
      await step('b', () => void seen.push(`b ${job.run}`))
    })
    const worker = t.engine.work(handler)
    const handle = await t.engine.enqueue(order, '')
    await quiet()
    const stopped = worker.stop({ timeout: '1h' })
    await quiet()
    expect((await t.engine.get(handle.id))?.state).toBe('active')
    going.resolve()
    await stopped
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'waiting', attempt: 0 })
    t.engine.work(handler)
    await handle.result()
    expect(seen).toEqual(['b 2'])
    expect(await t.engine.get(handle.id)).toMatchObject({ run: 2, attempt: 1 })
  })

  test('lets its steps end, and records them', async () => {
    const going = Promise.withResolvers<void>()
    let calls = 0
    const handler = order.handler(async ({ step }) => {
      await step('a', async () => {
        calls++
        await going.promise
      })
      await step('b', () => void calls++)
    })
    const worker = t.engine.work(handler)
    const handle = await t.engine.enqueue(order, '')
    await quiet()
    const stopped = worker.stop({ timeout: '1h' })
    going.resolve()
    await stopped
    expect([calls, (await t.engine.get(handle.id))?.state]).toEqual([1, 'waiting'])
    t.engine.work(handler)
    await handle.result()
    expect(calls).toBe(2)
  })

  test('does not take its abort for a failure of a step, at the last attempt either', async () => {
    const once = defineJob<string>({ name: 'once', maxAttempts: 1 })
    const handler = once.handler(async ({ job, step }) => {
      await step('a', ({ signal }) =>
        job.run > 1 ? 'done' : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      )
    })
    const worker = t.engine.work(handler)
    const handle = await t.engine.enqueue(once, '')
    await quiet()
    const stopped = worker.stop({ timeout: 0 })
    await t.clock.advance('1m')
    await stopped
    t.engine.work(handler)
    await handle.result()
  })
})

test('a batch has no durable calls', async () => {
  const messages: string[] = []
  t.engine.work(
    order.handler(
      (items) =>
        items.map((item) => {
          for (const name of ['step', 'sleep', 'changed'] as const)
            try {
              ;(item as unknown as Record<typeof name, (name: string) => unknown>)[name]('a')
            } catch (error) {
              messages.push((error as Error).message)
            }
          return { output: 1 }
        }),
      { batch: { size: 1 } },
    ),
  )
  await (await t.engine.enqueue(order, '')).result()
  expect(messages).toEqual(Array(3).fill(expect.stringMatching(/batches has no step, sleep, waitFor or changed/)))
})

describe("replay: 'always'", () => {
  beforeEach(async () => {
    await t[Symbol.asyncDispose]()
    t = createTestEngine({ replay: 'always' })
  })

  test('runs a repeatable handler once more for each result, and calls each step once', async () => {
    const called: string[] = []
    const handle = await run(async ({ changed, step, sleep }) => {
      if (await changed('new')) await step('a', () => called.push('a'))
      await Promise.all([step('b', () => called.push('b')), step('c', () => called.push('c'))])
      await sleep('d', '3d')
      return await step('e', () => 'done')
    })
    await t.clock.advance('3d')
    expect(await handle.result()).toBe('done')
    expect(called).toEqual(['a', 'b', 'c'])
    expect((await t.engine.get(handle.id))?.run).toBeGreaterThan(4)
  })

  test.for<readonly [what: string, handler: Handler, message: RegExp]>([
    [
      'another name',
      async ({ job, step }) => {
        await step(`a ${job.run}`, () => 1)
      },
      /asks for 'a 2', and its job has recorded 'a 1' next/,
    ],
    [
      'none at all',
      async ({ job, step }) => {
        await step('a', () => 1)
        if (job.run < 3) await step('b', () => 2)
      },
      /has returned, and its job has recorded 'b' next/,
    ],
  ])('fails a handler that is not repeatable, and names the first call that differs: %s', async ([, handler, message]) => {
    const handle = await run(handler)
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'StepsChangedError', message: expect.stringMatching(message) } })
    expect((await t.engine.get(handle.id))?.state).toBe('failed')
  })

  test('fails a handler that had other work pending when its run ended with a wait', async () => {
    const work = Promise.withResolvers<void>()
    const handle = await run(async ({ sleep }) => {
      await Promise.race([work.promise, sleep('nap', '1h')])
    })
    work.resolve()
    await t.clock.advance('1h')
    await expect(handle.result()).rejects.toMatchObject({ cause: { message: expect.stringMatching(/other work/) } })
  })
})

test('a permanently failed step stays failed in every run, whatever the handler does with it', async () => {
  let calls = 0
  const handle = await run(async ({ job, step, sleep }) => {
    const failed = await step('a', () => {
      calls++
      throw new NonRetryableError('no')
    }).catch((error: Error) => error.message)
    await sleep('nap', '1h')
    return [job.run, failed]
  })
  await t.clock.advance('1h')
  expect(await handle.result()).toEqual([2, "step 'a' has failed: no"])
  expect(calls).toBe(1)
})
