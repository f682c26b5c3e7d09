/** How a run ends: every way in which a handler may return, throw, or be told to stop. */
import { runInNewContext } from 'node:vm'
import {
  CancelJobError,
  type Grant,
  JobCancelledError,
  JobTimeoutError,
  LIMITS,
  NonRetryableError,
  RetryAfterError,
  ValidationError,
  WorkerStoppedError,
} from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { RunContext, type RunLink } from './context.ts'
import { execute, type Runnable } from './execute.ts'
import type { Context } from './handlerContext.ts'
import type { Settlement } from './settlement.ts'
import { quiet } from './testing/manualClock.ts'
import { noSteps } from './testing/noSteps.ts'
import { unhandledDuring } from './testing/unhandled.ts'
import { grantOf } from './testing/workbench.ts'

const complaints: string[] = []
afterEach(() => void complaints.splice(0))

const link: RunLink = {
  maxDataBytes: 1_000,
  heartbeat: async () => {},
  parents: async () => ({ parents: [], next: null }),
  checkpoint: async () => {},
  dirty: () => {},
  complained: (_, _mistake, message) => void complaints.push(message),
  now: () => 0,
  setTimer: () => () => {},
  steps: noSteps,
}

const key = { seq: 1, run: 1 }

function runnable(run: Runnable['run'], rest: Partial<Runnable> = {}): Runnable {
  return { schema: undefined, backoff: undefined, ...(run !== undefined && { run }), ...rest }
}

/** The one settlement of a run; more than one is an error. */
async function settle(what: Runnable, grant: Partial<Grant> = {}, before?: (context: RunContext) => void): Promise<Settlement> {
  const context = new RunContext(grantOf(grant), link)
  before?.(context)
  const settled = vi.fn<(settlement: Settlement) => void>()
  const reasons = await unhandledDuring(() => execute(what, context, 1_000, settled))
  await vi.waitFor(() => expect(settled).toHaveBeenCalled())
  await quiet()
  expect(settled).toHaveBeenCalledTimes(1)
  expect(reasons).toEqual([])
  return settled.mock.calls[0]?.[0] as Settlement
}

const thrower = (thrown: unknown) => () => {
  throw thrown
}
const rejecter = (thrown: unknown) => () => Promise.reject(thrown)

describe('returning', () => {
  test.for<readonly [what: string, output: unknown, stored: unknown]>([
    ['nothing', undefined, null],
    ['null', null, 'null'],
    ['a value', { a: [1] }, '{"a":[1]}'],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
  ])('%s, at once and later', async ([, output, stored]) => {
    expect(await settle(runnable(() => output))).toEqual({ op: 'complete', ...key, output: stored })
    expect(await settle(runnable(async () => output))).toEqual({ op: 'complete', ...key, output: stored })
  })

  test('at once means within the call', () => {
    const settled = vi.fn()
    execute(
      runnable(() => 1),
      new RunContext(grantOf(), link),
      1_000,
      settled,
    )
    expect(settled).toHaveBeenCalledOnce()
  })

  test.for<readonly [what: string, output: unknown]>([
    ['a BigInt', 1n],
    ['a function', () => {}],
    ['more than is stored', 'x'.repeat(2_000)],
    ['an object whose JSON throws', { toJSON: thrower(new Error('no')) }],
  ])('%s, which cannot be stored: fails for good', async ([, output]) => {
    expect(await settle(runnable(() => output))).toMatchObject({
      op: 'fail',
      ...key,
      retry: false,
      error: { message: expect.stringContaining('output') },
    })
  })

  test('an object whose `then` throws when it is looked at', async () => {
    const hostile = Object.defineProperty({}, 'then', { get: thrower(new Error('not to be read')) })
    expect(await settle(runnable(() => hostile))).toMatchObject({ op: 'fail', error: { message: 'not to be read' } })
  })

  test('a thenable that calls back twice, and one that throws after it has: the first word counts', async () => {
    const thenable = (then: (done: (value: unknown) => void) => void) => Object.defineProperty({}, 'then', { value: then })
    const twice = thenable((done) => {
      done(1)
      done(2)
    })
    const both = thenable((done) => {
      done(1)
      throw new Error('late')
    })
    expect(await settle(runnable(() => twice))).toMatchObject({ op: 'complete', output: '1' })
    expect(await settle(runnable(() => both))).toMatchObject({ op: 'complete', output: '1' })
  })

  test('with jobs that it enqueued', async () => {
    const settlement = await settle(
      runnable(({ enqueue }) => {
        enqueue('child', 1)
      }),
    )
    expect(settlement).toEqual({ op: 'complete', ...key, output: null, enqueues: [{ name: 'child', data: '1' }] })
  })
})

class Unreadable extends Error {
  override get name(): string {
    throw new Error('not to be read')
  }
  override set name(_: string) {}
}

const nameless = new Error('nameless')
Object.defineProperty(nameless, 'name', { value: undefined })

describe('throwing', () => {
  test.for<readonly [what: string, thrown: unknown, error: { name: string; message: string }]>([
    ['an error', new TypeError('no'), { name: 'TypeError', message: 'no' }],
    ['a text', 'no', { name: 'Error', message: 'no' }],
    ['nothing', undefined, { name: 'Error', message: 'undefined' }],
    ['an object without a prototype', Object.create(null), { name: 'Error', message: '{}' }],
    ['an error without a name', nameless, { name: 'Error', message: 'nameless' }],
    [
      'an error that cannot be read',
      new Unreadable('x'),
      { name: 'Error', message: 'the handler has thrown something that cannot be read' },
    ],
  ])('%s: tried again by the stored backoff, with or without a function that is asked', async ([, thrown, error]) => {
    const failed = { op: 'fail', ...key, error }
    for (const run of [thrower(thrown), rejecter(thrown)]) {
      const settlement = await settle(runnable(run))
      expect(settlement).toMatchObject(failed)
      expect(settlement).not.toHaveProperty('retry')
      expect(await settle(runnable(run, { backoff: () => 5 }))).toMatchObject({ ...failed, retry: 5 })
    }
  })

  test.for<readonly [what: string, thrown: unknown]>([
    ['NonRetryableError', new NonRetryableError('never')],
    ['ValidationError', new ValidationError('wrong', { issues: [] })],
    ['one of that name from another copy of the package', Object.assign(new Error('never'), { name: 'NonRetryableError' })],
  ])('%s: never again, whatever the backoff says', async ([, thrown]) => {
    expect(await settle(runnable(thrower(thrown), { backoff: () => 5 }))).toMatchObject({ op: 'fail', retry: false })
  })

  test.for<readonly [what: string, thrown: Error, retry: number | undefined]>([
    ['whole milliseconds', new RetryAfterError(1_500), 1_500],
    ['a fraction of one, as jitter makes it: the next', new RetryAfterError(1_500.2), 1_501],
    ['as short as can be', new RetryAfterError(0), 0],
    ['more than a duration may have: the stored backoff', new RetryAfterError(LIMITS.durationMs + 1), undefined],
    ['of another copy of the package', Object.assign(new Error('later'), { name: 'RetryAfterError', delay: 7 }), 7],
    ['of that name alone', Object.assign(new Error('later'), { name: 'RetryAfterError', delay: 'soon' }), undefined],
  ])('RetryAfterError, %s', async ([, thrown, retry]) => {
    const settlement = await settle(runnable(thrower(thrown)))
    expect(settlement).toMatchObject({ op: 'fail', error: { name: 'RetryAfterError' } })
    expect((settlement as { retry?: number }).retry).toBe(retry)
  })

  const allowed = "a duration of 0 or more (milliseconds, '5m' or { minutes: 5 }), false to end the retries, or undefined"
  test.for<readonly [what: string, backoff: NonNullable<Runnable['backoff']>, retry: number | false | undefined, complaint?: string]>([
    ['answers a duration', () => '5s', 5_000],
    ['answers a fraction', () => 0.1, 1],
    ['is asked with attempt and error', (attempt, error) => attempt * (error as Error).message.length, 6],
    ['answers nothing', () => undefined, undefined],
    ['answers false', () => false, false],
    ['throws', thrower(new TypeError('no idea')), undefined, 'has thrown TypeError'],
    ['answers nonsense', () => 'soon' as never, undefined, `answered "soon", and must answer ${allowed}`],
    ['answers NaN', () => Number.NaN, undefined, `answered NaN, and must answer ${allowed}`],
    ['answers less than nothing', () => -1, undefined, `answered -1, and must answer ${allowed}`],
    ['answers for ever', () => Number.POSITIVE_INFINITY, undefined, `answered Infinity, and must answer ${allowed}`],
    ['is asynchronous', (async () => 5) as never, undefined, 'answered a promise, and must answer at once'],
    [
      'is asynchronous, and rejects',
      (async () => Promise.reject(new Error('no'))) as never,
      undefined,
      'answered a promise, and must answer at once',
    ],
  ])('a backoff function that %s', async ([, backoff, retry, complaint]) => {
    const settlement = await settle(runnable(thrower(new Error('no')), { backoff }), { attempt: 3 })
    expect(settlement).toMatchObject({ op: 'fail', error: { message: 'no' } })
    expect((settlement as { retry?: number }).retry).toBe(retry)
    expect(complaints).toEqual(complaint === undefined ? [] : [`the backoff function ${complaint}: the stored backoff is used`])
  })
})

describe('an error of another realm, or of another copy of the package', () => {
  test.for<readonly [what: string, script: string, settlement: object]>([
    ['NonRetryableError', "Object.assign(new Error('no'), { name: 'NonRetryableError' })", { op: 'fail', retry: false }],
    ['a class of that name', "class NonRetryableError extends Error {}; new NonRetryableError('no')", { op: 'fail', retry: false }],
    [
      'one that extends it',
      "class NonRetryableError extends Error {}; class No extends NonRetryableError {}; new No('no')",
      { op: 'fail', retry: false },
    ],
    ['RetryAfterError', "Object.assign(new Error('no'), { name: 'RetryAfterError', delay: 5_000 })", { op: 'fail', retry: 5_000 }],
    ['CancelJobError', "Object.assign(new Error('no'), { name: 'CancelJobError' })", { op: 'fail', retry: false, cancel: true }],
    ['ValidationError', "Object.assign(new Error('no'), { name: 'ValidationError', code: 'VALIDATION' })", { op: 'fail', retry: false }],
  ])('%s is honoured', async ([, script, settlement]) => {
    const settled = await settle(runnable(() => runInNewContext(`throw eval(${JSON.stringify(script)})`)))
    expect(settled).toMatchObject({ ...settlement, error: { message: 'no', stack: expect.any(String) } })
  })

  test('the ValidationError of another library is tried again', async () => {
    expect(await settle(runnable(thrower(Object.assign(new Error('no'), { name: 'ValidationError' }))))).not.toHaveProperty('retry')
  })
})

describe('what the handler asked for counts, whatever comes after', () => {
  const pages = [
    { job: 'page', data: { url: 'a' } },
    { job: 'page', data: { url: 'b' }, options: { delay: 5 } },
  ]

  test('join', async () => {
    const settlement = {
      op: 'join',
      ...key,
      name: 'pages',
      jobs: [
        { name: 'page', data: '{"url":"a"}' },
        { name: 'page', data: '{"url":"b"}', delay: 5 },
      ],
    }
    const joins: Runnable['run'] = async ({ join }) => void (await join('pages', () => Promise.resolve(pages)))
    expect(await settle(runnable(joins))).toEqual(settlement)
    expect(await settle(runnable(async ({ join }) => void (await join('pages', pages))))).toEqual(settlement)
    const swallowing = runnable(async ({ join }) => {
      await join('pages', pages).catch(() => {})
      return 'done'
    })
    expect(await settle(swallowing)).toEqual(settlement)
    // The first end that a handler asks for is its end.
    const both = runnable(async ({ join }) => void (await Promise.all([join('pages', pages), join('others', pages)])))
    expect(await settle(both)).toEqual(settlement)
    // A stop does not undo it.
    const stopped = (context: RunContext) => context.abort(new WorkerStoppedError('stop'))
    expect(await settle(runnable(joins), {}, stopped)).toEqual(settlement)
    // An unknown key of an item is refused, as for enqueueMany.
    const misspelt = [pages[0], { job: 'page', dta: 1 }] as unknown as typeof pages
    expect(await settle(runnable(async ({ join }) => void (await join('pages', misspelt))))).toMatchObject({
      op: 'fail',
      error: { name: 'OptionTypeError', message: "join[1] has no option 'dta'; did you mean 'data'?" },
    })
    // What has a schema is checked before it is sent.
    const checks: StandardSchemaV1 = {
      '~standard': { version: 1, vendor: 'test', validate: async () => ({ issues: [{ message: 'no' }] }) },
    }
    const checked = { name: 'page', defaults: {}, schema: checks, backoff: undefined }
    expect(await settle(runnable(async ({ join }) => void (await join('pages', [{ job: checked, data: 1 }]))))).toMatchObject({
      op: 'fail',
      error: { name: 'ValidationError' },
    })
  })

  test('join, of jobs that have ended: those of its name, with all of their pages; nothing to join is nothing to wait for', async () => {
    const joined = [
      { name: 'pages', place: 3, jobs: 2 },
      { name: 'none', place: 5, jobs: 1 },
    ]
    const asked: unknown[] = []
    const parents: RunLink['parents'] = async (_, after, until) => {
      asked.push([after, until])
      const parent = { seq: after, node: 1, enqueuedAt: 0, ref: `pages/${after - 2}`, state: 'completed' as const, output: `${after}` }
      return { parents: [parent], next: until === undefined || after + 1 === until ? null : after + 1 }
    }
    const seen: unknown[] = []
    const handler: Runnable['run'] = async ({ join, parents: own }) => {
      const never = () => {
        throw new Error('called again')
      }
      for await (const { ref, output } of await join('pages', never)) seen.push([ref, output])
      for await (const each of await join('empty', [])) seen.push(each)
      for await (const { output } of own()) seen.push(output)
    }
    const context = new RunContext(grantOf({ joined }), { ...link, parents })
    const settled = vi.fn()
    execute(runnable(handler), context, 1_000, settled)
    await vi.waitFor(() => expect(settled).toHaveBeenCalledWith({ op: 'complete', ...key, output: null }))
    expect(seen).toEqual([['pages/0', 2], ['pages/1', 3], 0])
    expect(asked).toEqual([
      [2, 4],
      [3, 4],
      [0, undefined],
    ])
  })

  test.for<readonly [what: string, run: Runnable['run'], error: object]>([
    ['is not awaited', ({ join }) => void join('pages', async () => pages), { message: expect.stringContaining('await context.join') }],
    ['has no name', async ({ join }) => void (await join('', pages)), { name: 'OptionRangeError' }],
    ['has no array', async ({ join }) => void (await join('pages', 'page' as never)), { message: expect.stringContaining('got "page"') }],
    ['has what is no job', async ({ join }) => void (await join('pages', [{} as never])), { message: expect.stringMatching(/^join\[0\]/) }],
    [
      'has a job with a key',
      async ({ join }) => void (await join('pages', [{ job: 'page', options: { idempotencyKey: 'k' } }])),
      { name: 'OptionTypeError', message: expect.stringContaining('idempotencyKey') },
    ],
    [
      'has too many jobs',
      async ({ join }) => void (await join('pages', Array(LIMITS.jobsPerCommand + 1).fill({ job: 'page' }))),
      { name: 'OptionRangeError' },
    ],
    ['cannot be made', async ({ join }) => void (await join('pages', () => Promise.reject(new Error('list')))), { message: 'list' }],
  ])('a join that %s fails its run', async ([, run, error]) => {
    expect(await settle(runnable(run))).toMatchObject({ op: 'fail', error })
  })

  test('a join is refused when the job has joined enough', async () => {
    const joined = Array.from({ length: LIMITS.joinsPerJob }, (_, place) => ({ name: `${place}`, place: place + 1, jobs: 1 }))
    const more = runnable(async ({ join }) => void (await join('pages', pages)))
    expect(await settle(more, { joined })).toMatchObject({ op: 'fail', error: { name: 'OptionRangeError' } })
    const many = [{ name: 'many', place: 1, jobs: LIMITS.edgesPerFlow - 1 }]
    expect(await settle(more, { joined: many })).toMatchObject({ op: 'fail', error: { name: 'OptionRangeError' } })
  })

  test('snooze', async () => {
    const settlement = { op: 'snooze', ...key, delay: 60_000 }
    expect(await settle(runnable(({ snooze }) => snooze('1m')))).toEqual(settlement)
    const swallowing = runnable(({ snooze }) => {
      try {
        return snooze('1m')
      } catch {
        return 'swallowed'
      }
    })
    expect(await settle(swallowing)).toEqual(settlement)
    const stumbling = runnable(async ({ snooze }) => {
      try {
        snooze('1m')
      } finally {
        await Promise.reject(new Error('while cleaning up'))
      }
    })
    expect(await settle(stumbling)).toEqual(settlement)
  })

  test('discard: fails for good, with the reason as its error', async () => {
    const settlement = { op: 'fail', ...key, retry: false, error: { name: 'DiscardedError', message: 'unwanted' } }
    expect(await settle(runnable(({ discard }) => discard('unwanted'), { backoff: () => 5 }))).toMatchObject(settlement)
    const swallowing = runnable(({ discard }) => {
      try {
        return discard('unwanted')
      } catch {
        return 'swallowed'
      }
    })
    expect(await settle(swallowing)).toMatchObject(settlement)
  })

  test.each([
    ['cancel', ({ cancel }: Context) => cancel('unwanted')],
    ['CancelJobError', thrower(new CancelJobError('unwanted'))],
    ['one from a second copy of the package', thrower(Object.assign(new Error('unwanted'), { name: 'CancelJobError' }))],
    [
      'cancel, although the handler catches what it throws',
      ({ cancel }: Context) => {
        try {
          return cancel('unwanted')
        } catch {
          return 'swallowed'
        }
      },
    ],
  ])('%s: the job is cancelled, also by a worker that stops', async (_what, run) => {
    const settlement = { op: 'fail', ...key, retry: false, cancel: true, error: { name: 'CancelJobError', message: 'unwanted' } }
    expect(await settle(runnable(run, { backoff: () => 5 }))).toMatchObject(settlement)
    expect(await settle(runnable(run), {}, (context: RunContext) => context.abort(new WorkerStoppedError()))).toMatchObject(settlement)
  })

  test('a duration that is none is the handler’s own error', async () => {
    expect(await settle(runnable(({ snooze }) => snooze('soon' as never)))).toMatchObject({
      op: 'fail',
      error: { name: 'OptionTypeError' },
    })
  })
})

describe('told to stop', () => {
  test('by its worker: given back, whatever it returns or throws', async () => {
    const told = (context: RunContext) => context.abort(new WorkerStoppedError())
    for (const run of [() => 1, async () => 1, thrower(new Error('no')), thrower(new NonRetryableError('no'))]) {
      expect(await settle(runnable(run), {}, told)).toEqual({ op: 'giveBack', ...key, started: true })
    }
  })

  test('for other reasons: as the handler says; the engine has decided already', async () => {
    for (const reason of [new JobTimeoutError(), new JobCancelledError()]) {
      const told = (context: RunContext) => context.abort(reason)
      expect(
        await settle(
          runnable(() => 1),
          {},
          told,
        ),
      ).toMatchObject({ op: 'complete' })
      expect(
        await settle(
          runnable(({ signal }) => Promise.reject(signal.reason)),
          {},
          told,
        ),
      ).toMatchObject({
        op: 'fail',
        error: { name: reason.name },
      })
    }
  })
})

function doubling(asynchronous: boolean): StandardSchemaV1<number, number> {
  const check = (value: unknown) => (typeof value === 'number' ? { value: value * 2 } : { issues: [{ message: 'must be a number' }] })
  return { '~standard': { version: 1, vendor: 'test', validate: (value) => (asynchronous ? Promise.resolve(check(value)) : check(value)) } }
}

describe('data', () => {
  test('as it was enqueued, or as its schema makes it', async () => {
    const seen: unknown[] = []
    const run: Runnable['run'] = ({ data }) => void seen.push(data)
    await settle(runnable(run), { data: '{"a":1}' })
    await settle(runnable(run), { data: null })
    await settle(runnable(run), { data: Uint8Array.of(7) })
    for (const asynchronous of [false, true]) await settle(runnable(run, { schema: doubling(asynchronous) }), { data: '4' })
    expect(seen).toEqual([{ a: 1 }, undefined, Uint8Array.of(7), 8, 8])
  })

  test('that its schema refuses, or that is no JSON: fails for good, and the handler does not run', async () => {
    const run = vi.fn()
    for (const asynchronous of [false, true]) {
      expect(await settle(runnable(run, { schema: doubling(asynchronous) }), { data: '"four"' })).toMatchObject({
        op: 'fail',
        retry: false,
        error: { name: 'ValidationError', message: expect.stringContaining('must be a number') },
      })
    }
    expect(await settle(runnable(run), { data: '{half' })).toMatchObject({
      op: 'fail',
      retry: false,
      error: { message: expect.stringContaining('not JSON') },
    })
    expect(run).not.toHaveBeenCalled()
  })
})

describe('in another thread', () => {
  const elsewhere = (settlement: Settlement, rest: Partial<Runnable> = {}) =>
    runnable(undefined, { ...rest, settle: async () => settlement })

  test('as it was settled there', async () => {
    expect(await settle(elsewhere({ op: 'complete', ...key, output: '1' }))).toEqual({ op: 'complete', ...key, output: '1' })
  })

  test('the backoff function is asked here, where nothing was said there', async () => {
    const failure = { op: 'fail', ...key, error: { name: 'RangeError', message: 'no' } } as const
    const backoff = vi.fn(() => 9)
    expect(await settle(elsewhere(failure, { backoff }))).toEqual({ ...failure, retry: 9 })
    const job = expect.objectContaining({ attempt: 1 })
    expect(backoff).toHaveBeenCalledWith(1, expect.objectContaining({ name: 'RangeError', message: 'no' }), { data: undefined, job })
    await settle(elsewhere(failure, { backoff }), { data: '{"to":1}' })
    expect(backoff).toHaveBeenLastCalledWith(1, expect.anything(), { data: { to: 1 }, job })
    await settle(elsewhere(failure, { backoff, schema: doubling(true) }), { data: '4' })
    expect(backoff).toHaveBeenLastCalledWith(1, expect.anything(), { data: 8, job })
    expect(await settle(elsewhere({ ...failure, retry: false }, { backoff }))).toMatchObject({ retry: false })
    expect(await settle(elsewhere(failure, { backoff: thrower(new Error('no idea')) }))).toEqual(failure)
  })

  test('the schema is asked here: what it makes goes there, what it refuses does not', async () => {
    const there = vi.fn(async (): Promise<Settlement> => ({ op: 'complete', ...key, output: null }))
    await settle(runnable(undefined, { settle: there, schema: doubling(true) }), { data: '4' })
    expect(there).toHaveBeenCalledWith(expect.anything(), { data: 8 })
    expect(await settle(runnable(undefined, { settle: there, schema: doubling(false) }), { data: '"x"' })).toMatchObject({
      op: 'fail',
      retry: false,
    })
    await settle(runnable(undefined, { settle: there }), { data: '{half' })
    expect(there).toHaveBeenLastCalledWith(expect.anything(), undefined)
    expect(there).toHaveBeenCalledTimes(2)
  })
})
