/** Many jobs with one handler: when it is called, what it answers, and what befalls one of them leaves the others as they are. */
import { type Command, type FailedAttempt, JobCancelledError, NonRetryableError, RetryAfterError, StaleRunError } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { defineJob } from '../define.ts'
import { quiet } from '../testing/manualClock.ts'
import { unhandledDuring } from '../testing/unhandled.ts'
import { stop, type Workbench, workbench } from '../testing/workbench.ts'
import type { BatchFunction, BatchItem, BatchOptions, BatchOutcome } from './handler.ts'

const a = defineJob<number>({ name: 'a' })

interface Called {
  readonly seqs: readonly number[]
  readonly items: readonly BatchItem<number>[]
  readonly signal: AbortSignal
  answer(outcomes: unknown): void
  fail(error: unknown): void
}

/** A worker whose batches wait to be told how they end. */
function collecting(batch: BatchOptions = { size: 3, maxWait: '10s' }): Workbench & { readonly called: Called[] } {
  const called: Called[] = []
  const handle: BatchFunction<number> = (items, { signal }) =>
    new Promise((resolve, reject) => {
      const seqs = items.map(({ data }) => data)
      called.push({ seqs, items, signal, answer: resolve as Called['answer'], fail: reject })
    })
  return { ...workbench(a.handler(handle, { batch })), called }
}

/** Each job's data is its row. */
function grant(bench: Workbench, ...seqs: number[]): void {
  for (const seq of seqs) bench.grant({ seq, data: String(seq) })
}

const done = (seqs: readonly number[]) => seqs.map((seq): BatchOutcome => ({ output: seq * 10 }))
const key = ({ op, ...rest }: Command) => [op, 'seq' in rest ? rest.seq : 0]
const outcomes = ({ calls }: Workbench) => calls.outcomes.map(key)
const cancel = ({ worker }: Workbench, seq: number) =>
  worker.notice({ kind: 'abort', cause: 'cancel', session: worker.session, seq, run: 1 })

describe('a batch', () => {
  test('starts when it is full, and the next one collects meanwhile', () => {
    const bench = collecting()
    grant(bench, 1, 2)
    expect(bench.called).toEqual([])
    grant(bench, 3, 4, 5)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[1, 2, 3]])
    grant(bench, 6)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
    expect(bench.clock.timers).toBe(0)
  })

  test('or with what there is when its first job has waited long enough', async () => {
    const bench = collecting()
    grant(bench, 1)
    await bench.clock.advance(6_000)
    grant(bench, 2)
    await bench.clock.advance(3_999)
    expect(bench.called).toEqual([])
    await bench.clock.advance(1)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[1, 2]])
    grant(bench, 3)
    await bench.clock.advance(9_999)
    expect(bench.called).toHaveLength(1)
    await bench.clock.advance(1)
    expect(bench.called).toHaveLength(2)
  })

  test('waits one second where nothing is said, and not beyond the tick where nothing is to be waited for', async () => {
    const patient = collecting({ size: 3 })
    grant(patient, 1)
    await patient.clock.advance(999)
    expect(patient.called).toEqual([])
    await patient.clock.advance(1)
    expect(patient.called).toHaveLength(1)
    const hasty = collecting({ size: 3, maxWait: 0 })
    grant(hasty, 1, 2)
    await hasty.clock.advance(0)
    expect(hasty.called.map(({ seqs }) => seqs)).toEqual([[1, 2]])
  })

  test('each of its jobs is said to run, heartbeats, keeps checkpoints and enqueues for itself', async () => {
    const bench = collecting({ size: 2 })
    grant(bench, 1, 2)
    expect(bench.worker.running).toBe(2)
    const [{ items, answer }] = bench.called as [Called]
    await items[0]?.heartbeat()
    await items[1]?.checkpoint('half')
    items[1]?.progress(0.5)
    items[1]?.enqueue('child', 2)
    answer(done([1, 2]))
    await quiet()
    expect(bench.calls.said).toMatchObject([
      { op: 'heartbeat', seq: 1, run: 1 },
      { op: 'checkpoint', seq: 2, run: 1, value: '"half"' },
      { op: 'complete', seq: 1, run: 1, output: '10' },
      { op: 'progress', seq: 2, fraction: 0.5 },
      { op: 'complete', seq: 2, run: 1, output: '20', enqueues: [{ name: 'child', data: '2' }] },
    ])
    expect([items[0]?.job.attempt, items[1]?.job.run]).toEqual([1, 1])
    expect(bench.worker.running).toBe(0)
  })
})

describe('its outcomes', () => {
  test('are those of each job', async () => {
    const bench = collecting({ size: 5 })
    grant(bench, 1, 2, 3, 4, 5)
    bench.called[0]?.answer([
      { output: 'fine' },
      { error: new Error('no') },
      { error: new NonRetryableError('never') },
      { error: new RetryAfterError('1m', 'later') },
      { snooze: '2m' },
    ])
    await quiet()
    expect(bench.calls.outcomes).toMatchObject([
      { op: 'complete', seq: 1, output: '"fine"' },
      { op: 'fail', seq: 2, error: { name: 'Error', message: 'no' } },
      { op: 'fail', seq: 3, error: { message: 'never' }, retry: false },
      { op: 'fail', seq: 4, error: { message: 'later' }, retry: 60_000 },
      { op: 'snooze', seq: 5, delay: 120_000 },
    ])
    expect(bench.calls.outcomes[1]).not.toHaveProperty('retry')
  })

  test('that are missing, doubtful or cannot be stored fail their own job alone', async () => {
    const bench = collecting({ size: 9 })
    grant(bench, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    const hostile = Object.defineProperty({}, 'output', {
      get: () => {
        throw new Error('not to be read')
      },
    })
    const wrong = [undefined, {}, { output: 1, error: 2 }, { output: 1n }, { snooze: 'soon' }, hostile]
    const pausing = [
      { output: 1, pause: 'queue' },
      { error: new Error('no'), pause: 'key' },
    ]
    bench.called[0]?.answer([...wrong, ...pausing, { output: 'fine' }])
    await quiet()
    expect(bench.calls.outcomes).toMatchObject([
      { op: 'fail', seq: 1, error: { name: 'BatchOutcomeError', message: expect.stringMatching(/none of/) } },
      { op: 'fail', seq: 2, error: { name: 'BatchOutcomeError', message: expect.stringMatching(/none of/) } },
      { op: 'fail', seq: 3, error: { name: 'BatchOutcomeError', message: expect.stringMatching(/more than one of/) } },
      { op: 'fail', seq: 4, retry: false, error: { message: expect.stringContaining('output') } },
      { op: 'fail', seq: 5, error: { name: 'OptionTypeError', message: expect.stringContaining('snooze') } },
      { op: 'fail', seq: 6, error: { message: 'not to be read' } },
      { op: 'fail', seq: 7, error: { name: 'BatchOutcomeError', message: expect.stringMatching(/pause goes with snooze/) } },
      { op: 'fail', seq: 8, error: { name: 'BatchOutcomeError', message: expect.stringMatching(/pause goes with snooze/) } },
      { op: 'complete', seq: 9, output: '"fine"' },
    ])
  })

  test.for<readonly [what: string, answer: unknown, message: RegExp]>([
    ['too few', done([1]), /answered 1 outcomes for a batch of 2 jobs/],
    ['too many', done([1, 2, 3]), /answered 3 outcomes for a batch of 2/],
    ['none', undefined, /answered no array for a batch of 2/],
  ])('%s, so that nobody knows whose they are: all fail, to be tried again', async ([, answer, message]) => {
    const bench = collecting({ size: 2 })
    grant(bench, 1, 2)
    bench.called[0]?.answer(answer)
    await quiet()
    const error = { name: 'BatchOutcomeError', message: expect.stringMatching(message) }
    expect(bench.calls.outcomes).toMatchObject([1, 2].map((seq) => ({ op: 'fail', seq, error })))
    expect(bench.calls.outcomes[0]).not.toHaveProperty('retry')
  })

  test('a throw, at once or later, is the outcome of all', async () => {
    const throwing = workbench(
      a.handler(
        () => {
          throw new RetryAfterError('1m')
        },
        { batch: { size: 2 } },
      ),
    )
    grant(throwing, 1, 2)
    await quiet()
    expect(throwing.calls.outcomes).toMatchObject([1, 2].map((seq) => ({ op: 'fail', seq, retry: 60_000 })))
    const bench = collecting({ size: 2 })
    grant(bench, 1, 2)
    bench.called[0]?.fail(new Error('no'))
    await quiet()
    expect(bench.calls.outcomes).toMatchObject([1, 2].map((seq) => ({ op: 'fail', seq, error: { message: 'no' } })))
  })

  test('a backoff function is asked for each job with its own error and attempt', async () => {
    const asked: unknown[] = []
    const backoff = (attempt: number, error: unknown, { data, job }: FailedAttempt) => {
      asked.push([attempt, error, data, job.attempt])
      return attempt * 1_000
    }
    const errors = [new Error('one'), new Error('two')]
    const handler = defineJob({ name: 'a', backoff }).handler(() => errors.map((error) => ({ error })), { batch: { size: 2 } })
    const bench = workbench(handler)
    bench.grant({ seq: 1, attempt: 1, data: '"x"' })
    bench.grant({ seq: 2, attempt: 3, data: '"y"' })
    await quiet()
    expect(asked).toEqual([
      [1, errors[0], 'x', 1],
      [3, errors[1], 'y', 3],
    ])
    expect(bench.calls.outcomes).toMatchObject([{ retry: 1_000 }, { retry: 3_000 }])
  })
})

describe('data', () => {
  const positive: StandardSchemaV1<number, string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async (value) =>
        typeof value === 'number' && value > 0 ? { value: `#${value}` } : { issues: [{ message: 'must be positive' }] },
    },
  }

  test('that its schema refuses fails its job, which is not in the batch', async () => {
    const seen: unknown[] = []
    const handler = defineJob({ name: 'a', schema: positive }).handler(
      (items) => {
        expectTypeOf(items).toEqualTypeOf<readonly BatchItem<string>[]>()
        seen.push(items.map(({ data }) => data))
        return items.map(({ data }) => ({ output: data.length }))
      },
      { batch: { size: 2 } },
    )
    const bench = workbench(handler)
    grant(bench, 1)
    bench.grant({ seq: 2, data: '-2' })
    bench.grant({ seq: 3, data: '{half' })
    grant(bench, 4)
    await quiet()
    expect(seen).toEqual([['#1', '#4']])
    expect(outcomes(bench).sort()).toEqual([
      ['complete', 1],
      ['complete', 4],
      ['fail', 2],
      ['fail', 3],
    ])
  })

  test('types say that a batch answers outcomes, and one job what it likes', () => {
    const handler = a.handler(({ data }) => data)
    expectTypeOf(handler.kind).toEqualTypeOf<'inline'>()
    // @ts-expect-error: an output is no outcome
    expect(a.handler((items) => items.map(({ data }) => data), { batch: { size: 1 } })).toMatchObject({ kind: 'batch' })
    // What ends a handler would end all of them.
    expectTypeOf<BatchItem>().not.toHaveProperty('snooze')
  })
})

describe('one of its jobs that is aborted', () => {
  test('while it is collected is settled at once, and leaves its place to another', async () => {
    const bench = collecting()
    grant(bench, 1, 2)
    cancel(bench, 1)
    await quiet()
    expect(bench.calls.outcomes).toMatchObject([{ op: 'fail', seq: 1, error: { name: 'JobCancelledError' } }])
    grant(bench, 3)
    expect(bench.called).toEqual([])
    grant(bench, 4)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[2, 3, 4]])
  })

  test('the only one that is collected takes the wait with it', async () => {
    const bench = collecting()
    grant(bench, 1)
    await bench.clock.advance(9_000)
    bench.worker.notice({ kind: 'abort', cause: 'timeout', session: bench.worker.session, seq: 1, run: 1 })
    await quiet()
    expect(bench.calls.outcomes).toMatchObject([{ op: 'fail', seq: 1, error: { name: 'JobTimeoutError' } }])
    grant(bench, 2)
    await bench.clock.advance(9_999)
    expect(bench.called).toEqual([])
    await bench.clock.advance(1)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[2]])
  })

  test('and lost while it is collected is never handed over, nor counted as one that ignores its abort', async () => {
    const bench = collecting({ size: 2 })
    grant(bench, 1)
    bench.calls.answer('giveBack', () => new StaleRunError('gone'))
    bench.calls.answer('fail', () => new StaleRunError('gone'))
    bench.worker.notice({ kind: 'lost', session: bench.worker.session, seq: 1, run: 1 })
    grant(bench, 2, 3)
    await quiet()
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[2, 3]])
    expect([bench.worker.zombies, bench.worker.running]).toEqual([0, 2])
    expect(bench.logged).toEqual([])
  })

  test('while the handler has it: its own signal, and not the others’', async () => {
    const bench = collecting()
    grant(bench, 1, 2, 3)
    const [{ items, signal, answer }] = bench.called as [Called]
    cancel(bench, 2)
    expect(items.map((item) => item.signal.aborted)).toEqual([false, true, false])
    expect(items[1]?.signal.reason).toBeInstanceOf(JobCancelledError)
    expect(signal.aborted).toBe(false)
    answer([{ output: 1 }, { error: items[1]?.signal.reason }, { output: 3 }])
    await quiet()
    expect(outcomes(bench)).toEqual([
      ['complete', 1],
      ['fail', 2],
      ['complete', 3],
    ])
  })

  test('past its grace it alone is given up; what the handler answers in the end counts for the others', async () => {
    const bench = collecting()
    grant(bench, 1, 2, 3)
    cancel(bench, 2)
    await bench.clock.advance(30_000)
    expect(bench.worker.zombies).toBe(1)
    bench.worker.notice({ kind: 'lost', session: bench.worker.session, seq: 2, run: 1 })
    expect(bench.worker.running).toBe(2)
    bench.calls.answer('complete', ({ seq }) => (seq === 2 ? new StaleRunError('gone') : true))
    bench.called[0]?.answer(done([1, 2, 3]))
    await quiet()
    expect([bench.worker.zombies, bench.worker.running]).toEqual([0, 0])
  })

  test('the batch’s signal aborts with the last of them', () => {
    const bench = collecting({ size: 2 })
    grant(bench, 1, 2)
    const [{ signal }] = bench.called as [Called]
    cancel(bench, 1)
    bench.worker.notice({ kind: 'lost', session: bench.worker.session, seq: 1, run: 1 })
    expect(signal.aborted).toBe(false)
    cancel(bench, 2)
    expect(signal.reason).toBeInstanceOf(JobCancelledError)
  })
})

describe('a stop', () => {
  test('gives back what is collected, and what its schema still looks at; what the handler has gets its time', async () => {
    const bench = collecting()
    grant(bench, 1, 2, 3, 4)
    const stopping = bench.worker.stop({ timeout: '10s' })
    grant(bench, 5)
    await quiet()
    expect(outcomes(bench)).toEqual([
      ['giveBack', 5],
      ['giveBack', 4],
    ])
    bench.called[0]?.answer(done([1, 2, 3]))
    await stopping
    expect(outcomes(bench).slice(2)).toEqual([
      ['complete', 1],
      ['complete', 2],
      ['complete', 3],
    ])
    expect(bench.clock.timers).toBe(0)
  })

  test('of a worker whose schema takes its time: given back when that has answered', async () => {
    const checked: ((result: { value: number }) => void)[] = []
    const validate = () => new Promise<{ value: number }>((resolve) => void checked.push(resolve))
    const schema: StandardSchemaV1<number> = { '~standard': { version: 1, vendor: 'test', validate } }
    const bench = workbench(defineJob({ name: 'a', schema }).handler(() => [], { batch: { size: 1 } }))
    grant(bench, 1)
    const stopping = bench.worker.stop()
    checked[0]?.({ value: 1 })
    await stopping
    expect(outcomes(bench)).toEqual([['giveBack', 1]])
  })

  test('past its time gives back the whole batch, whatever it answers', async () => {
    const bench = collecting({ size: 2 })
    grant(bench, 1, 2)
    const stopping = bench.worker.stop({ timeout: '10s' })
    await bench.clock.advance(10_000)
    const [{ signal, answer }] = bench.called as [Called]
    expect(signal.reason).toMatchObject({ code: 'WORKER_STOPPED' })
    answer(done([1, 2]))
    await stopping
    expect(outcomes(bench)).toEqual([
      ['giveBack', 1],
      ['giveBack', 2],
    ])
  })
})

test.for<readonly [what: string, make: () => unknown, message: RegExp]>([
  ['no function', () => a.handler(5 as never, { batch: { size: 1 } }), /the handler of job 'a' must be a function/],
  ['no batch', () => a.handler(() => [], {} as never), /batch/],
  ['an unknown option', () => a.handler(() => [], { batch: { size: 1 }, retries: 1 } as never), /retries/],
  ['an unknown option of the batch', () => a.handler(() => [], { batch: { sise: 1 } as never }), /did you mean 'size'/],
  ['no size', () => a.handler(() => [], { batch: {} as never }), /batch\.size must be a whole number/],
  ['a size of 0', () => a.handler(() => [], { batch: { size: 0 } }), /batch\.size must be between 1 and 10000/],
  ['a wait that is none', () => a.handler(() => [], { batch: { size: 1, maxWait: 'soon' as never } }), /batch\.maxWait must be a duration/],
  [
    'a wait as long as the timeout',
    () => a.handler(() => [], { batch: { size: 1, maxWait: '5m' } }),
    /must be less than the timeout of job 'a' \(5m\)/,
  ],
  [
    'more than the worker is handed',
    () =>
      workbench(
        a.handler(() => [], { batch: { size: 17 } }),
        { minConcurrency: 16, maxConcurrency: 64 },
      ),
    /batch\.size of job 'a' \(17\) must be at most the worker's minConcurrency \(16\)/,
  ],
])('%s is refused at once', ([, make, message]) => {
  expect(make).toThrow(message)
})

type Step =
  | { readonly kind: 'grant' | 'cancel' | 'lose'; readonly at: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'answer'; readonly at: number; readonly how: 'each' | 'throw' | 'short' }

const at = fc.nat({ max: 30 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('grant' as const), at }) },
  fc.record({ kind: fc.constantFrom('cancel' as const, 'lose' as const), at }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat({ max: 40_000 }) }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('answer' as const), at, how: fc.constantFrom('each' as const, 'throw', 'short') }),
  },
)

test('whatever happens, each run is with the handler at most once and settled exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), async (steps, size) => {
      const bench = collecting({ size, maxWait: '10s' })
      const granted = new Set<number>()
      const lost = new Set<number>()
      const open = () =>
        [...granted].filter((seq) => !lost.has(seq) && !bench.calls.outcomes.some((said) => 'seq' in said && said.seq === seq))
      const answered = new Set<Called>()
      const answer = (called: Called, how: 'each' | 'throw' | 'short') => {
        answered.add(called)
        if (how === 'throw') called.fail(new Error('all'))
        else
          called.answer(
            how === 'short' ? done(called.seqs).slice(1) : called.seqs.map((seq) => (seq % 2 === 0 ? { output: seq } : { error: 'odd' })),
          )
      }
      const play = async (next: Step) => {
        const one = next.kind === 'wait' ? undefined : open()[next.at % Math.max(1, open().length)]
        const waiting = bench.called.filter((called) => !answered.has(called))
        if (next.kind === 'grant') {
          granted.add(granted.size + 1)
          grant(bench, granted.size)
        } else if (next.kind === 'wait') await bench.clock.advance(next.ms)
        else if (next.kind === 'cancel' && one !== undefined) cancel(bench, one)
        else if (next.kind === 'lose' && one !== undefined) {
          lost.add(one)
          bench.worker.notice({ kind: 'lost', session: bench.worker.session, seq: one, run: 1 })
        } else if (next.kind === 'answer' && waiting.length > 0) answer(waiting[next.at % waiting.length] as Called, next.how)
        await quiet()
      }
      const reasons = await unhandledDuring(async () => {
        for (const next of steps) await play(next)
        const stopping = stop(bench, { timeout: '10s' })
        for (const called of bench.called) if (!answered.has(called)) answer(called, 'each')
        await stopping
      })
      expect(reasons).toEqual([])
      const settled = bench.calls.outcomes.map((said) => ('seq' in said ? said.seq : 0))
      expect(new Set(settled).size).toBe(settled.length)
      expect([...granted].filter((seq) => !lost.has(seq) && !settled.includes(seq))).toEqual([])
      const handed = bench.called.flatMap(({ seqs }) => seqs)
      expect(new Set(handed).size).toBe(handed.length)
      expect(bench.called.every(({ seqs }) => seqs.length > 0 && seqs.length <= size)).toBe(true)
      expect([bench.worker.running, bench.worker.zombies, bench.clock.timers]).toEqual([0, 0, 0])
    }),
    { numRuns: runs(100) },
  )
})

describe('a batch of one key', () => {
  const keyed = (bench: Workbench, key: string | undefined, ...seqs: number[]) => {
    for (const seq of seqs) bench.grant({ seq, data: String(seq), concurrencyKey: key })
  }
  const grouped = () => collecting({ size: 2, maxWait: '10s', groupBy: 'concurrencyKey' })

  test('is full by itself, whatever comes of other keys, and jobs without a key are together', async () => {
    const bench = grouped()
    keyed(bench, 'ann', 1)
    keyed(bench, 'bob', 2)
    keyed(bench, undefined, 3)
    expect(bench.called).toEqual([])
    keyed(bench, 'bob', 4)
    keyed(bench, undefined, 5)
    keyed(bench, 'ann', 6)
    keyed(bench, 'ann', 7)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([
      [2, 4],
      [3, 5],
      [1, 6],
    ])
    expect(bench.called.map(({ items }) => items.map(({ job }) => job.concurrencyKey))).toEqual([
      ['bob', 'bob'],
      [undefined, undefined],
      ['ann', 'ann'],
    ])
    for (const call of bench.called) call.answer(done(call.seqs))
    await quiet()
    expect(outcomes(bench).map(([, seq]) => seq)).toEqual([2, 4, 3, 5, 1, 6])
    expect(bench.clock.timers).toBe(1)
  })

  test('waits for as long as its own first job', async () => {
    const bench = grouped()
    keyed(bench, 'ann', 1)
    await bench.clock.advance(6_000)
    keyed(bench, 'bob', 2)
    await bench.clock.advance(4_000)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[1]])
    await bench.clock.advance(6_000)
    expect(bench.called.map(({ seqs }) => seqs)).toEqual([[1], [2]])
  })

  test('loses a job that is cancelled, and all are given back by a stop', async () => {
    const bench = grouped()
    keyed(bench, 'ann', 1)
    keyed(bench, 'bob', 2)
    cancel(bench, 1)
    keyed(bench, 'ann', 3)
    expect(bench.called).toEqual([])
    await stop(bench)
    expect(outcomes(bench)).toEqual([
      ['fail', 1],
      ['giveBack', 2],
      ['giveBack', 3],
    ])
    expect([bench.called, bench.clock.timers]).toEqual([[], 0])
  })

  test('is asked for by that word alone', () => {
    const handle: BatchFunction<number> = () => []
    expect(() => a.handler(handle, { batch: { size: 2, groupBy: 'tags' as 'concurrencyKey' } })).toThrow(
      expect.objectContaining({ option: 'batch.groupBy' }),
    )
  })
})
