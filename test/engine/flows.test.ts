/** Flows and batches through the public interface, under the virtual clock. */
import { type Context, defineJob, JobBlockedError, LIMITS, ParentFailedError } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runs } from '../../packages/testkit/src/testing/runs.ts'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

const step = defineJob<{ fail?: boolean; output?: unknown }>({ name: 'step', maxAttempts: 1 })
const gather = defineJob({ name: 'gather', maxAttempts: 1 })
const handlers = [
  step.handler(({ data }) => {
    if (data.fail === true) throw new Error('no')
    return data.output
  }),
  gather.handler(async ({ parents }) => {
    const seen: Record<string, unknown> = {}
    for await (const { ref, state, output, error } of parents()) seen[ref] = state === 'completed' ? output : `${state}: ${error?.message}`
    return seen
  }),
]

describe('a flow', () => {
  test('a job that is not kept once it has ended leaves its output to the jobs that wait for it', async () => {
    t.engine.work(handlers)
    const { jobs } = await t.engine.flow([
      { ref: 'all', job: gather, dependsOn: ['gone', 'failed'], onParentFailure: 'continue', options: { delay: '5s' } },
      { ref: 'gone', job: step, data: { output: 7 }, options: { keep: 0 } },
      { ref: 'failed', job: step, data: { fail: true }, options: { keep: 0 } },
    ])
    const output = jobs.all.result()
    await quiet()
    expect(await Promise.all([jobs.gone, jobs.failed].map(({ id }) => t.engine.get(id)))).toEqual([undefined, undefined])
    await t.advance('5s')
    expect(await output).toEqual({ gone: 7, failed: 'failed: no' })
  })

  test('runs each job after those that it depends on, which it can ask for their outputs', async () => {
    t.engine.work(handlers)
    const { id, jobs } = await t.engine.flow([
      // In any order.
      { ref: 'all', job: gather, dependsOn: ['left', 'right'] },
      { ref: 'left', job: step, data: { output: 1 }, dependsOn: ['start'] },
      { ref: 'right', job: step, data: { output: new Uint8Array([1, 255]) }, dependsOn: ['start'], options: { delay: '5s' } },
      { ref: 'start', job: step, data: { output: 'go' } },
    ])
    await quiet()
    expect((await t.engine.stats()).states).toMatchObject({ completed: 2, scheduled: 1, blocked: 1 })
    const blocked = await t.engine.get(jobs['all']?.id as string)
    expect(blocked).toMatchObject({ state: 'blocked', flow: { id, ref: 'all', parents: 2, onParentFailure: 'fail' } })
    await t.advance('5s')
    const seen = (await jobs['all']?.result()) as Record<string, unknown>
    expect(seen['left']).toBe(1)
    // Bytes come as bytes, JSON or not.
    expect(Object.keys(seen)).toEqual(['left', 'right'])
    expect((await t.engine.list({ state: 'blocked' })).jobs).toEqual([])
  })

  test('one parent is asked for by its ref', async () => {
    const ask = defineJob({ name: 'ask' })
    t.engine.work([...handlers, ask.handler(async ({ parent }) => [(await parent('b'))?.output, await parent('x')])])
    const { jobs } = await t.engine.flow([
      { ref: 'a', job: step, data: { output: 1 } },
      { ref: 'b', job: step, data: { output: 2 } },
      { ref: 'c', job: ask, dependsOn: ['a', 'b'] },
    ])
    expect(await jobs['c']?.result()).toEqual([2, null])
  })

  test.each([
    ['fail', undefined],
    ['continue', { bad: 'failed: no', good: 1 }],
    ['ignore', { good: 1 }],
  ] as const)('with a parent that fails: %s', async (onParentFailure, expected) => {
    t.engine.work(handlers)
    const { jobs } = await t.engine.flow([
      { ref: 'bad', job: step, data: { fail: true } },
      { ref: 'good', job: step, data: { output: 1 } },
      { ref: 'end', job: gather, dependsOn: ['bad', 'good'], onParentFailure },
      { ref: 'after', job: gather, dependsOn: ['end'] },
    ])
    if (expected !== undefined) {
      expect(await jobs['end']?.result()).toEqual(expected)
      expect(await jobs['after']?.result()).toEqual({ end: expected })
      return
    }
    await expect(jobs['after']?.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'ParentFailedError' } })
    await expect(t.engine.retry(jobs['after']?.id as string)).rejects.toThrow(ParentFailedError)
    await expect(t.engine.runNow(jobs['end']?.id as string)).rejects.toMatchObject({ code: 'JOB_FINISHED' })
  })

  test('whose parent is retried goes on', async () => {
    let broken = true
    const flaky = defineJob({ name: 'flaky', maxAttempts: 1 })
    t.engine.work([
      ...handlers,
      flaky.handler(() => {
        if (broken) throw new Error('no')
        return 'fixed'
      }),
    ])
    const { jobs } = await t.engine.flow([
      { ref: 'a', job: flaky },
      { ref: 'b', job: gather, dependsOn: ['a'] },
      { ref: 'c', job: gather, dependsOn: ['b'] },
    ])
    await expect(jobs['c']?.result()).rejects.toThrow(/was not run/)
    broken = false
    await t.engine.retry(jobs['a']?.id as string)
    expect(await jobs['c']?.result()).toEqual({ b: { a: 'fixed' } })
  })

  test('is cancelled and retried below one of its jobs', async () => {
    const { jobs } = await t.engine.flow([
      { ref: 'a', job: step, data: { output: 1 } },
      { ref: 'b', job: gather, dependsOn: ['a'], onParentFailure: 'continue' },
      { ref: 'c', job: gather, dependsOn: ['b'] },
      { ref: 'd', job: step, data: {} },
    ])
    await expect(t.engine.runNow(jobs['b']?.id as string)).rejects.toThrow(JobBlockedError)
    expect(await t.engine.cancel(jobs['a']?.id as string, { descendants: true })).toBe('cancelled')
    await expect(jobs['c']?.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
    expect((await t.engine.stats()).states).toMatchObject({ cancelled: 3, waiting: 1 })
    await t.engine.retry(jobs['a']?.id as string, { descendants: true })
    t.engine.work(handlers)
    expect(await jobs['c']?.result()).toEqual({ b: { a: 1 } })
  })

  test('is created once under its key', async () => {
    const nodes = [
      { ref: 'b', job: step, data: {}, dependsOn: ['a'] },
      { ref: 'a', job: step, data: {} },
    ]
    const first = await t.engine.flow(nodes, { idempotencyKey: 'k' })
    const again = await t.engine.flow(nodes, { idempotencyKey: 'k' })
    expect(again.jobs['b']?.id).toBe(first.jobs['b']?.id)
    expect(again.jobs['b']?.created).toBe(false)
    expect((await t.engine.stats()).totals.enqueued).toBe(2)
  })

  test('of the most jobs that one may have: all wait for one, and one for all', async () => {
    const count = LIMITS.jobsPerCommand - 2
    const middle = Array.from({ length: count }, (_, index) => ({
      ref: `m${index}`,
      job: step,
      data: { output: index },
      dependsOn: ['first'],
    }))
    const seen = defineJob({ name: 'seen' })
    t.engine.work([
      ...handlers,
      seen.handler(async ({ parents }: Context) => {
        let [sum, parentsSeen] = [0, 0]
        for await (const { output } of parents()) {
          sum += output as number
          parentsSeen++
        }
        return [parentsSeen, sum]
      }),
    ])
    const { jobs } = await t.engine.flow([
      { ref: 'first', job: step, data: {} },
      ...middle,
      { ref: 'last', job: seen, dependsOn: middle.map(({ ref }) => ref) },
    ])
    expect(await jobs['last']?.result()).toEqual([count, (count * (count - 1)) / 2])
    expect((await t.engine.stats()).states).toMatchObject({ completed: count + 2, blocked: 0 })
  })
})

describe('a batch', () => {
  test('runs its callback once, when all have ended, and that one sees how', async () => {
    t.engine.work(handlers)
    const batch = await t.engine.batch(
      [
        { job: step, data: { output: 'a' } },
        { job: step, data: { fail: true } },
      ],
      { job: gather },
    )
    expect(batch.jobs).toHaveLength(2)
    expect(await batch.callback.result()).toEqual({ 0: 'a', 1: 'failed: no' })
    expect((await t.engine.stats()).totals).toMatchObject({ enqueued: 3, completed: 2, failed: 1 })
  })

  const ends = [
    ['all complete', { output: 'b' }, { onSuccess: 'completed', onFailure: undefined, onEnd: 'completed' }, 'completed'],
    ['one fails', { fail: true }, { onSuccess: 'cancelled', onFailure: 'completed', onEnd: 'completed' }, 'failed'],
  ] as const
  test.each(ends)('runs the callbacks of its end: %s', async (_, data, expected, whole) => {
    t.engine.work(handlers)
    const { id, jobs, callbacks } = await t.engine.batch(
      [
        { job: step, data: { output: 'a' }, options: { delay: '1m' } },
        { job: step, data },
      ],
      { onSuccess: { job: gather }, onFailure: { job: gather }, onEnd: { job: gather } },
    )
    expect(Object.keys(callbacks)).toEqual(['onSuccess', 'onFailure', 'onEnd'])
    await quiet()
    const early = (await t.engine.get(callbacks.onFailure.id))?.output
    expect(early).toEqual('fail' in data ? { 0: 'scheduled: undefined', 1: 'failed: no' } : undefined)
    await t.advance('1m')
    const states = Object.entries(callbacks).map(async ([name, each]) => [name, (await t.engine.get(each.id))?.state])
    expect(Object.fromEntries(await Promise.all(states))).toEqual(expected)
    expect((await jobs[0].result()) as string).toBe('a')
    expect((await t.engine.flows.list()).flows).toMatchObject([{ id, state: whole }])
    if (expected.onSuccess === 'completed') return
    await expect(callbacks.onSuccess.result()).rejects.toMatchObject({
      code: 'JOB_CANCELLED',
      reason: expect.stringContaining('is failed'),
    })
    await t.engine.retry(jobs[1].id)
    await t.advance(0)
    // It has failed once more, and whoever was told of it before is not told again.
    expect((await t.engine.get(callbacks.onFailure.id))?.run).toBe(1)
  })

  test('of no jobs runs its callback at once', async () => {
    t.engine.work(handlers)
    expect(await (await t.engine.batch([], { job: gather })).callback.result()).toEqual({})
  })
})

describe('refused by name', () => {
  const node = (ref: string, ...dependsOn: string[]) => ({ ref, job: step, data: {}, dependsOn })
  const tooMany = () => Array.from({ length: 10_001 }, (_, index) => node(`${index}`))
  const around = createTestEngine()
  afterAll(() => around[Symbol.asyncDispose]())
  const cases: readonly [what: string, call: () => Promise<unknown>, message: RegExp][] = [
    [
      'a cycle',
      () => t.engine.flow([node('a', 'c'), node('b', 'a'), node('c', 'b')]),
      /cycle.*"a" waits for "c" waits for "b" waits for "a"/,
    ],
    ['a job that waits for itself', () => t.engine.flow([node('a', 'a')]), /"a" waits for "a"/],
    ['an unknown ref', () => t.engine.flow([node('apple'), node('b', 'aple')]), /nodes\[1\] depends on "aple".*did you mean 'apple'/],
    ['a ref given twice', () => t.engine.flow([node('a'), node('a')]), /nodes\[0\] and nodes\[1\] both have the ref "a"/],
    ['a parent named twice', () => t.engine.flow([node('a'), node('b', 'a', 'a')]), /depends on "a" twice/],
    ['no ref', () => t.engine.flow([{ job: step, data: {} } as never]), /nodes\[0\]\.ref must be a string/],
    ['nothing', () => t.engine.flow([]), /at least one node/],
    ['no array', () => t.engine.flow({} as never), /requires an array/],
    ['an unknown field', () => t.engine.flow([{ ...node('a'), dependson: [] } as never]), /did you mean 'dependsOn'/],
    [
      'an unknown policy',
      () => t.engine.flow([{ ...node('a'), onParentFailure: 'skip' } as never]),
      /onParentFailure must be 'fail' or 'continue' or 'ignore'/,
    ],
    [
      'a key of its own',
      () => t.engine.flow([{ ...node('a'), options: { idempotencyKey: 'k' } }]),
      /nodes\[0\] \('a'\) has the option 'idempotencyKey'/,
    ],
    ['a unique key', () => t.engine.flow([{ ...node('a'), options: { unique: { key: 'k' } } }]), /has the option 'unique'/],
    ['too many jobs', () => t.engine.flow(tooMany()), /at most 10000 jobs, not 10001: create several flows/],
    [
      'too many jobs, with a middleware',
      () => around.engine.use({ enqueue: (_jobs, next) => next() }).flow(tooMany()),
      /at most 10000 jobs, not 10001: create several flows/,
    ],
    ['a batch of too many jobs', () => t.engine.batch(tooMany(), { job: step, data: {} }), /not 10002: create several batches/],
    [
      'too many edges',
      () =>
        t.engine.flow([
          ...Array.from({ length: 300 }, (_, index) => node(`${index}`)),
          ...Array.from({ length: 300 }, (_, child) => node(`c${child}`, ...Array.from({ length: 300 }, (_, index) => `${index}`))),
        ]),
      /at most 50000 others/,
    ],
    ['an unknown option of a cancel', () => t.engine.cancel('x', { descendant: true } as never), /did you mean 'descendants'/],
    ['a batch of no array', () => t.engine.batch('x' as never, { job: step, data: {} }), /batch takes an array/],
    ['a batch without a callback', () => t.engine.batch([], undefined as never), /callback of a batch/],
    ['a batch without callbacks', () => t.engine.batch([], {}), /one of them at least/],
    [
      'a batch with a callback that there is not',
      () => t.engine.batch([], { onSucces: { job: step } } as never),
      /did you mean 'onSuccess'/,
    ],
    [
      'a batch of no jobs with a callback for failures',
      () => t.engine.batch([], { onFailure: { job: step, data: {} } }),
      /at least one job/,
    ],
  ]
  test('an unknown ref is an error of types, too; refs name the handles', async () => {
    // @ts-expect-error: no node has that ref
    await expect(t.engine.flow([{ ref: 'a', job: step, data: {}, dependsOn: ['b'] }])).rejects.toThrow(/depends on "b"/)
    const { jobs } = await t.engine.flow([{ ref: 'a', job: step, data: {} }])
    expect(jobs.a.created).toBe(true)
  })

  test.each(cases)('%s', async (_what, call, message) => {
    await expect(call()).rejects.toThrow(message)
    expect((await t.engine.stats()).totals.enqueued).toBe(0)
  })
})

test('whatever waits for whatever: each runs once, after its parents, and the outcome is as a child would reckon', async () => {
  const node = fc.record({
    parents: fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 3 }),
    policy: fc.constantFrom('fail', 'continue', 'ignore'),
    bad: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(node, { minLength: 1, maxLength: 10 }), fc.boolean(), async (drawn, reversed) => {
      const engine = createTestEngine()
      const order: string[] = []
      const run = defineJob<{ ref: string; bad: boolean }>({ name: 'run', maxAttempts: 1 })
      engine.engine.work([
        run.handler(({ data: { ref, bad } }) => {
          order.push(ref)
          if (bad) throw new Error('no')
        }),
      ])
      const nodes = drawn.map(({ parents, policy, bad }, index) => ({
        ref: `${index}`,
        job: run,
        data: { ref: `${index}`, bad },
        dependsOn: parents.filter((parent) => parent < index).map(String),
        onParentFailure: policy as 'fail' | 'continue' | 'ignore',
      }))
      const { jobs } = await engine.engine.flow(reversed ? nodes.toReversed() : nodes)
      const outcomes = await Promise.all(
        nodes.map(({ ref }) =>
          jobs[ref]?.result().then(
            () => 'completed',
            (error) => error.cause.name,
          ),
        ),
      )
      const expected: string[] = []
      for (const { dependsOn, onParentFailure, data } of nodes) {
        const forsaken = onParentFailure === 'fail' && dependsOn.some((ref) => expected[Number(ref)] !== 'completed')
        expected.push(forsaken ? 'ParentFailedError' : data.bad ? 'Error' : 'completed')
      }
      expect(outcomes).toEqual(expected)
      expect(order.toSorted()).toEqual(nodes.flatMap(({ ref }) => (expected[Number(ref)] === 'ParentFailedError' ? [] : [ref])).toSorted())
      for (const { ref, dependsOn } of nodes) {
        const place = order.indexOf(ref)
        if (place >= 0) for (const parent of dependsOn) expect(order.indexOf(parent)).toBeLessThan(place)
      }
      await engine[Symbol.asyncDispose]()
    }),
    { numRuns: runs(60) },
  )
})

test('in a thread, parents are asked for in the same way', async () => {
  const asked = defineJob({ name: 'asked' })
  t.engine.work([...handlers, asked.thread(new URL('./handlers/askParents.ts', import.meta.url), { threads: 1 })])
  const { jobs } = await t.engine.flow([
    { ref: 'a', job: step, data: { output: { deep: true } } },
    { ref: 'b', job: asked, dependsOn: ['a'] },
  ])
  expect(await jobs['b']?.result()).toEqual({ a: { deep: true } })
})
