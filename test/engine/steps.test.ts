/** Handlers that remember: durable calls through the public interface, under the virtual clock. */
import { defineJob, type HandlerFunction, type JobHandle, NonRetryableError } from '@millrace/engine'
import { createTestEngine, type TestEngine, type TestEngineOptions } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const order = defineJob<string>({ name: 'order', maxAttempts: 3, backoff: { type: 'fixed', delay: '10s', jitter: 0 } })
type Handler = HandlerFunction<string, unknown>

/** Opens another engine in place of the one of each test. */
async function reopen(options: TestEngineOptions): Promise<void> {
  await t[Symbol.asyncDispose]()
  t = createTestEngine(options)
}

async function run(handler: Handler, data = ''): Promise<JobHandle<unknown>> {
  t.engine.work(order.handler(handler))
  const handle = await t.engine.enqueue(order, data)
  await quiet()
  return handle
}

describe('a step', () => {
  test('is called once, and gives what JSON gives back: now, and in every later run', async () => {
    const called: string[] = []
    const seen: unknown[] = []
    const handle = await run(async ({ step, sleep, job }) => {
      const at = await step('now', ({ key, attempt }) => {
        called.push(`${key.replace(job.id, 'id')} ${attempt}`)
        return { at: new Date(0), not: undefined }
      })
      await sleep('week 3', '7d')
      seen.push(at)
      return await step('last', () => undefined)
    })
    await t.clock.advance('6d')
    expect((await t.engine.get(handle.id))?.state).toBe('scheduled')
    await t.clock.advance('1d')
    expect(await handle.result()).toBeUndefined()
    expect(called).toEqual(['id:now 1'])
    expect(seen).toStrictEqual([{ at: '1970-01-01T00:00:00.000Z' }])
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'completed', run: 2, attempt: 1 })
  })

  test('that fails ends the run; a later one comes back to it, with all that is recorded', async () => {
    const called: string[] = []
    const handle = await run(async ({ step }) => {
      const note = (name: string) => step(name, ({ attempt }) => void called.push(`${name} ${attempt}`))
      await note('a')
      await step('shaky', ({ attempt }) => {
        called.push(`shaky ${attempt}`)
        if (attempt < 3) throw new Error('no')
      }).finally(() => called.push('settled'))
      await note('b')
    })
    await t.clock.advance('10s')
    await t.clock.advance('10s')
    await handle.result()
    expect(called).toEqual(['a 1', 'shaky 1', 'shaky 2', 'shaky 3', 'settled', 'b 1'])
  })

  test('that fails for good is undone by steps; uncaught, the job fails without another attempt', async () => {
    const called: string[] = []
    const handle = await run(async ({ step }) => {
      await Promise.all([step('seat', () => called.push('seat')), step('car', () => called.push('car'))])
      try {
        await step('pay', () => {
          called.push('pay')
          throw new NonRetryableError('no money')
        })
      } catch (error) {
        expect(error).toMatchObject({ name: 'StepFailedError', code: 'STEP_FAILED', step: 'pay', cause: { message: 'no money' } })
        await step('undo', () => called.push('undo'))
        throw error
      }
    })
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'StepFailedError' } })
    expect(called).toEqual(['seat', 'car', 'pay', 'undo'])
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'failed', run: 1, attempt: 1 })
  })

  test('has another key once its job is retried from the start', async () => {
    const keys: string[] = []
    const handle = await run(async ({ step }) => {
      await step('pay', ({ key }) => void keys.push(key))
      if (keys.length < 2) throw new NonRetryableError('no')
      await step('ship', ({ key }) => void keys.push(key))
    })
    await handle.result().catch(() => {})
    await t.engine.retry(handle.id, { from: 'start' })
    await t.drain()
    expect(keys).toEqual([`${handle.id}:pay`, `${handle.id}:pay:1`, `${handle.id}:ship:1`])
  })

  test.for<readonly [what: string, value: () => unknown, message: RegExp]>([
    ['a function', () => () => {}, /step cannot be stored as JSON: it is a function/],
    [
      'a cycle',
      () => {
        const cycle: { self?: unknown } = {}
        cycle.self = cycle
        return cycle
      },
      /cannot be stored as JSON: .*circular/,
    ],
    ['a BigInt', () => 1n, /BigInt/],
    ['too large', () => 'x'.repeat(2_000), /at most 1000 are stored/],
  ])('whose result cannot be stored fails for good: %s', async ([, value, message]) => {
    await reopen({ maxDataBytes: 1_000 })
    let calls = 0
    const handle = await run(async ({ step }) => {
      await step('make', () => {
        calls++
        return value()
      })
    })
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'StepFailedError', message: expect.stringMatching(message) } })
    expect([calls, (await t.engine.get(handle.id))?.run]).toEqual([1, 1])
  })

  test('may end its job in another way: snooze, cancel and discard count, at the last attempt, too', async () => {
    const one = defineJob<string>({ name: 'one', maxAttempts: 1 })
    t.engine.work(
      one.handler(async ({ data, job, step, snooze, cancel, discard }) => {
        await step('end', () => {
          if (data === 'cancel') cancel('unwanted')
          if (data === 'discard') discard('hopeless')
          if (job.run === 1) snooze('1h')
        })
      }),
    )
    const [cancelled, discarded, snoozed] = await Promise.all(['cancel', 'discard', 'snooze'].map((data) => t.engine.enqueue(one, data)))
    await expect(cancelled?.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED', reason: 'unwanted' })
    await expect(discarded?.result()).rejects.toMatchObject({ cause: { name: 'DiscardedError' } })
    await t.advance('1h')
    await snoozed?.result()
  })
})

describe('misuse is refused when it first happens', () => {
  test.for<readonly [what: string, message: RegExp, handler: Handler]>([
    [
      'a repeated name',
      /asked for 'a' before: .*index of a loop/,
      async ({ step }) => {
        await step('a', () => 1)
        await step('a', () => 2)
      },
    ],
    [
      'changed twice',
      /asked for 'c' before/,
      async ({ changed }) => {
        await Promise.all([changed('c'), changed('c')])
      },
    ],
    [
      'a step in a step',
      /'b' is asked for within the step 'a'.*outside of steps/,
      async ({ step }) => {
        await step('a', async () => step('b', () => 1))
      },
    ],
    [
      'the name start',
      /cannot have the name 'start'/,
      async ({ sleep }) => {
        await sleep('start', 1)
      },
    ],
    [
      'no name',
      /name must have 1 to 512 characters/,
      async ({ step }) => {
        await step('', () => 1)
      },
    ],
    [
      'a long name',
      /name must have 1 to 512 characters, got 513/,
      async ({ step }) => {
        await step('x'.repeat(513), () => 1)
      },
    ],
    [
      'no function',
      /step 'a' takes a function to call, got undefined/,
      async ({ step }) => {
        await step('a', undefined as never)
      },
    ],
    [
      'no duration',
      /sleep must be a duration/,
      async ({ sleep }) => {
        await sleep('a', 'soon' as never)
      },
    ],
    [
      'a date beyond a century',
      /sleep/,
      async ({ sleep }) => {
        await sleep('a', new Date(Date.UTC(2199, 0, 1)))
      },
    ],
  ])('%s', async ([, message, handler]) => {
    const once = defineJob<string>({ name: 'order', maxAttempts: 1 })
    t.engine.work(once.handler(handler))
    const handle = await t.engine.enqueue(once, '')
    const { cause } = await handle.result().then(
      () => ({ cause: undefined }),
      (error) => error,
    )
    expect(cause.message).toMatch(message)
    expect(JSON.stringify([cause.name, cause.cause?.name])).toMatch(/Option(?:Type|Range)Error/)
  })

  test('a durable call after the handler has returned never settles', async () => {
    let late: Promise<unknown> | undefined
    let settled = false
    const handle = await run(async ({ step }) => {
      void quiet().then(() => {
        late = step('late', () => 1).finally(() => {
          settled = true
        })
      })
    })
    await handle.result()
    await quiet()
    await quiet()
    expect([late, settled]).toEqual([expect.any(Promise), false])
  })

  test('a step that still runs when the handler returns is aborted, and leaves no result', async () => {
    let reason: unknown
    const handle = await run(async ({ step }) => {
      void step(
        'slow',
        ({ signal }) =>
          new Promise(() =>
            signal.addEventListener('abort', () => {
              reason = signal.reason
            }),
          ),
      )
      return 'done'
    })
    expect(await handle.result()).toBe('done')
    expect(reason).toMatchObject({ name: 'RunSuspended' })
    expect(t.inThread.actor.store.steps(1, 0, 10, 1_000).results).toEqual([])
  })
})
