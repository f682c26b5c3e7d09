/** Middleware around enqueues and runs: their order, what they may change, and how their errors end a call or a run. */
import { encodeData, type Grant, JobCancelledError, WorkerStoppedError } from '@millrace/core'
import { describe, expect, test, vi } from 'vitest'
import { RunContext, type RunLink } from './context.ts'
import { execute, type Runnable } from './execute.ts'
import type { Context } from './handlerContext.ts'
import { aroundEnqueue, type Middleware, middlewareOption, withMiddleware } from './middleware.ts'
import type { Settlement } from './settlement.ts'
import { quiet } from './testing/manualClock.ts'
import { noSteps } from './testing/noSteps.ts'
import { unhandledDuring } from './testing/unhandled.ts'
import { grantOf } from './testing/workbench.ts'

const link: RunLink = {
  maxDataBytes: 1_000,
  heartbeat: async () => {},
  parents: async () => ({ parents: [], next: null }),
  checkpoint: async () => {},
  dirty: () => {},
  complained: () => {},
  now: () => 0,
  setTimer: () => () => {},
  steps: noSteps,
}

const ENDING = { schema: undefined, backoff: undefined }
const key = { seq: 1, run: 1 }
const by = (name: string) => ({ message: name })

/** The one settlement of a run with the middleware around its handler. */
async function settle(
  middleware: readonly Middleware[],
  parts: Partial<Runnable>,
  before?: (context: RunContext) => void,
  grant: Partial<Grant> = {},
): Promise<Settlement> {
  const context = new RunContext(grantOf(grant), link)
  before?.(context)
  const settled = vi.fn<(settlement: Settlement) => void>()
  const reasons = await unhandledDuring(async () => {
    execute(withMiddleware({ ...ENDING, ...parts }, middleware, ENDING, 1_000), context, 1_000, settled)
    await vi.waitFor(() => expect(settled).toHaveBeenCalled())
    await quiet()
  })
  expect(reasons).toEqual([])
  expect(settled).toHaveBeenCalledTimes(1)
  return settled.mock.calls[0]?.[0] as Settlement
}

const completed = (output: unknown, more = {}) => ({ op: 'complete', ...key, output: encodeData('output', output, 1_000), ...more })

describe('around a run', () => {
  test('the first is the outermost; each sees the context, and the output of those within', async () => {
    const order: string[] = []
    const noting = (name: string): Middleware => ({
      run: async ({ job, data }, next) => {
        order.push(`${name} before ${job.name} ${data}`)
        order.push(`${name} after ${await next()}`)
      },
    })
    const settled = await settle([noting('one'), { enqueue: (_, next) => next() }, noting('two')], { run: () => 'done' }, undefined, {
      data: '7',
    })
    expect(settled).toEqual(completed('done'))
    expect(order).toEqual(['one before a 7', 'two before a 7', 'two after done', 'one after done'])
  })

  test.for<readonly [what: string, run: NonNullable<Middleware['run']>, settlement: object]>([
    ['a value replaces the output', async (_, next) => `${await next()}!`, completed('done!')],
    [
      'null is a value',
      async (_, next) => {
        await next()
        return null
      },
      completed(null),
    ],
    ['without next, the handler does not run', () => 'skipped', completed('skipped')],
    ['an error before next fails the run', () => Promise.reject(new TypeError('no')), { op: 'fail', error: { name: 'TypeError' } }],
    [
      'an error at once does too',
      () => {
        throw new RangeError('no')
      },
      { op: 'fail', error: { name: 'RangeError' } },
    ],
    [
      'and one after next',
      async (_, next) => {
        await next()
        throw new TypeError('late')
      },
      { op: 'fail', error: { message: 'late' } },
    ],
    [
      'a second next is an error',
      async (_, next) => [await next(), await next()],
      { op: 'fail', error: { message: expect.stringContaining('once') } },
    ],
    ['it may discard', ({ discard }) => discard('not wanted'), { op: 'fail', retry: false, error: { name: 'DiscardedError' } }],
    ['it may snooze', (context, next) => next().then(() => context.snooze(50)), { op: 'snooze', ...key, delay: 50 }],
  ])('%s', async ([, run, settlement]) => {
    expect(await settle([{ run }], { run: async () => 'done' })).toMatchObject(settlement)
  })

  test('a handler’s error goes through, and may be caught', async () => {
    const failing = { run: () => Promise.reject(new TypeError('no')) }
    expect(await settle([{ run: (_, next) => next() }], failing)).toMatchObject({ op: 'fail', error: { name: 'TypeError' } })
    const caught: Middleware = { run: (_, next) => next().catch((error: Error) => error.message) }
    expect(await settle([caught], failing)).toEqual(completed('no'))
    const silent: Middleware = { run: async (_, next) => void (await next().catch(() => {})) }
    expect(await settle([silent], failing)).toEqual(completed(undefined))
  })

  test('a run ends with its handler, even if a middleware does not wait: with its output, or its error', async () => {
    const gate = Promise.withResolvers<string>()
    const hasty: Middleware = { run: (_, next) => void next() }
    const settled = settle([hasty], { run: () => gate.promise })
    await quiet()
    gate.resolve('late')
    expect(await settled).toEqual(completed('late'))
    expect(await settle([hasty], { run: () => Promise.reject(new TypeError('no')) })).toMatchObject({
      op: 'fail',
      error: { name: 'TypeError' },
    })
    const thrown: Middleware = {
      run: (_, next) => {
        void next()
        throw new RangeError('own')
      },
    }
    let ended = false
    const own = await settle([thrown], {
      run: () =>
        quiet().then(() => {
          ended = true
        }),
    })
    expect([own, ended]).toMatchObject([{ op: 'fail', error: { name: 'RangeError' } }, true])
  })

  test('an error that a middleware never asked for fails the run, even if it came before the middleware ended', async () => {
    const failed = { op: 'fail', error: { name: 'TypeError' } }
    const thrown = {
      run: () => {
        throw new TypeError('no')
      },
    }
    const rejected = { run: () => Promise.reject(new TypeError('no')) }
    const hasty: Middleware = { run: (_, next) => void next() }
    const slow: Middleware = {
      run: async (_, next) => {
        void next()
        await quiet()
      },
    }
    const returning: Middleware = { run: (_, next) => next() }
    for (const middleware of [[hasty], [slow], [returning, hasty], [hasty, returning]])
      for (const handler of [thrown, rejected]) expect(await settle(middleware, handler)).toMatchObject(failed)
  })

  test('methods of an instance keep their object', async () => {
    class Counting implements Middleware {
      runs = 0
      run(_: Context, next: () => Promise<unknown>) {
        this.runs++
        return next()
      }
    }
    const counting = new Counting()
    await settle([counting], { run: () => 'done' })
    expect(counting.runs).toBe(1)
  })
})

describe('around a handler that runs elsewhere', () => {
  const ended = (settlement: Settlement): Partial<Runnable> => ({ settle: async () => settlement })
  const passing: Middleware = { run: (_, next) => next() }
  const completion = { op: 'complete' as const, ...key, output: '"done"', enqueues: [{ name: 'b', data: null }] }

  test.for<readonly [what: string, settlement: Settlement]>([
    ['a completion, with what it enqueues', completion],
    [
      'a failure, with what it says of another attempt',
      { op: 'fail', ...key, error: { name: 'E', message: 'm', stack: 's', code: 'C' }, retry: false },
    ],
    ['a snooze', { op: 'snooze', ...key, delay: 50 }],
    ['a join', { op: 'join', ...key, name: 'pages', jobs: [{ name: 'b', data: null }] }],
    ['a job that is given back', { op: 'giveBack', ...key, started: true }],
  ])('%s comes through as it was', async ([, settlement]) => {
    expect(await settle([passing, { run: async (_, next) => void (await next()) }], ended(settlement))).toEqual(settlement)
  })

  test('a middleware sees the data, the output and the error, and may change how the run ends', async () => {
    const seen: unknown[] = []
    const seeing: Middleware = {
      run: async ({ data }, next) => {
        seen.push(data)
        seen.push(await next().catch((error: Error) => [error.name, error.message]))
        return 'mine'
      },
    }
    expect(await settle([seeing], ended(completion), undefined, { data: '{"a":1}' })).toEqual({ ...completion, output: '"mine"' })
    expect(await settle([seeing], ended({ op: 'fail', ...key, error: by('no') as never, retry: false }))).toEqual(completed('mine'))
    expect(await settle([seeing], ended({ op: 'snooze', ...key, delay: 50 }))).toEqual({ op: 'snooze', ...key, delay: 50 })
    expect(seen).toEqual([{ a: 1 }, 'done', undefined, [undefined, 'no'], undefined, ['SnoozeSignal', 'snoozed for 50 ms']])
  })

  test('without next nothing runs there; its own error fails the run, and nothing is enqueued', async () => {
    const elsewhere = vi.fn(async () => completion)
    expect(await settle([{ run: () => 'skipped' }], { settle: elsewhere })).toEqual(completed('skipped'))
    expect(elsewhere).not.toHaveBeenCalled()
    const failing: Middleware = {
      run: async (_, next) => {
        await next()
        throw new TypeError('late')
      },
    }
    const failed = await settle([failing], { settle: elsewhere })
    expect(failed).toMatchObject({ op: 'fail', error: { name: 'TypeError' } })
    expect(failed).not.toHaveProperty('enqueues')
  })

  test('data that is no JSON fails the run for good, before any middleware', async () => {
    const seen = vi.fn()
    const failed = await settle([{ run: seen }], ended(completion), undefined, { data: '{' })
    expect(failed).toMatchObject({ op: 'fail', retry: false, error: { name: 'NonRetryableError' } })
    expect(seen).not.toHaveBeenCalled()
  })

  test('a run that is to stop is given back, whatever a middleware returns', async () => {
    const stopping = (context: RunContext) => context.abort(new WorkerStoppedError('stop'))
    expect(await settle([passing], { run: () => 'half' }, stopping)).toEqual({ op: 'giveBack', ...key, started: true })
    const cancelled = (context: RunContext) => context.abort(new JobCancelledError('cancelled'))
    expect(await settle([passing], { run: () => 'whole' }, cancelled)).toEqual(completed('whole'))
  })
})

describe('around an enqueue', () => {
  const requests = [
    { job: 'a', data: 1 },
    { job: 'b', data: 2, options: { priority: 3 } },
  ] as const
  const send = vi.fn(async (sent: readonly unknown[]) => sent)

  test('the first is the outermost; each may change data and options, and keeps what a request has beside', async () => {
    const order: string[] = []
    const adding = (tag: string): Middleware => ({
      enqueue: async (jobs, next) => {
        order.push(`${tag} ${jobs.map(({ name, data }) => `${name}${data}`)}`)
        await next(jobs.map((job) => ({ ...job, data: `${job.data}${tag}`, options: { ...job.options, tags: [tag] } })))
        order.push(`${tag} stored`)
      },
    })
    const refs = requests.map((request, index) => ({ ...request, ref: `r${index}` }))
    expect(await aroundEnqueue([adding('x'), { run: () => {} }, adding('y')], refs, send)).toEqual([
      { job: 'a', ref: 'r0', data: '1xy', options: { tags: ['y'] } },
      { job: 'b', ref: 'r1', data: '2xy', options: { priority: 3, tags: ['y'] } },
    ])
    expect(order).toEqual(['x a1,b2', 'y a1x,b2x', 'y stored', 'x stored'])
  })

  test.for<readonly [what: string, enqueue: NonNullable<Middleware['enqueue']>, message: RegExp]>([
    ['an error', () => Promise.reject(new TypeError('refused')), /refused/],
    [
      'an error at once',
      () => {
        throw new TypeError('refused')
      },
      /refused/,
    ],
    ['to return without next', () => {}, /must call next/],
    ['fewer jobs', (jobs, next) => next(jobs.slice(1)), /it was given 2 and passed on 1/],
    ['another name', (jobs, next) => next(jobs.map((job) => ({ ...job, name: 'c' }))), /jobs\[0\] was 'a' and is/],
    ['no array', (_, next) => next({} as never), /next takes an array/],
    ['no jobs', (jobs, next) => next(jobs.map(() => null as never)), /jobs\[0\] is null/],
  ])('%s refuses the call: nothing is sent', async ([, enqueue, message]) => {
    const sent = vi.fn()
    const reasons = await unhandledDuring(() => expect(aroundEnqueue([{ enqueue }], requests, sent)).rejects.toThrow(message))
    expect(sent).not.toHaveBeenCalled()
    expect(reasons).toEqual([])
  })

  test('an error of the call cannot be swallowed, and a second next is an error; neither is left unhandled', async () => {
    const failing = () => Promise.reject(new RangeError('disk'))
    const swallowing: Middleware = { enqueue: (_, next) => next().catch(() => {}) }
    const reasons = await unhandledDuring(async () => {
      await expect(aroundEnqueue([swallowing], requests, failing)).rejects.toThrow('disk')
      await expect(aroundEnqueue([{ enqueue: (_, next) => void next() }], requests, failing)).rejects.toThrow('disk')
      await expect(aroundEnqueue([{ enqueue: (_, next) => next().then(() => next()) }], requests, send)).rejects.toThrow(/once/)
    })
    expect(reasons).toEqual([])
  })

  test('in a run: each job passes through before the run ends, and a refused one fails it', async () => {
    const tagging: Middleware = {
      enqueue: async (jobs, next) => {
        await quiet()
        await next(jobs.map((job) => ({ ...job, options: { tags: ['t'] } })))
      },
    }
    const handler = ({ enqueue }: RunContext) => {
      enqueue('b', 1)
      enqueue('c', 2, { priority: 4 })
      return 'done'
    }
    const b = { name: 'b', data: '1', tags: ['t'] }
    expect(await settle([tagging], { run: handler })).toEqual(completed('done', { enqueues: [b, { ...b, name: 'c', data: '2' }] }))
    const refusing: Middleware = {
      enqueue: () => {
        throw new TypeError('refused')
      },
    }
    const refused = await settle([refusing], { run: handler })
    expect(refused).toMatchObject({ op: 'fail', error: { message: 'refused' } })
    // A batch of one: its outcome was told before the jobs came through.
    const batch = async (context: RunContext): Promise<Settlement> => {
      context.enqueue('b', 1)
      return { op: 'complete', ...key, output: null }
    }
    expect(await settle([tagging], { settle: batch })).toEqual(completed(undefined, { enqueues: [b] }))
    expect(await settle([refusing], { settle: batch })).toMatchObject({ op: 'fail', error: { message: 'refused' } })
  })
})

test.for([undefined, null, {}, { run: 1 }, { enqueue: () => {}, run: 'x' }, () => {}])('%o is no middleware', (value) => {
  expect(() => middlewareOption(value)).toThrow(/a middleware must be \{ enqueue, run \}/)
})
