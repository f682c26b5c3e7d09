import { formatId, LIMITS, StaleRunError, WorkerStoppedError } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, test, vi } from 'vitest'
import { RunContext, type RunLink } from './context.ts'
import { defineJob } from './define.ts'
import { noSteps } from './testing/noSteps.ts'
import { unhandledDuring } from './testing/unhandled.ts'
import { grantOf } from './testing/workbench.ts'

function contextOf(change: Partial<RunLink> = {}, grant: Parameters<typeof grantOf>[0] = {}) {
  const link = {
    maxDataBytes: 1_000,
    heartbeat: vi.fn(async () => {}),
    parents: vi.fn(async () => ({ parents: [], next: null })),
    checkpoint: vi.fn(async () => {}),
    dirty: vi.fn(),
    complained: vi.fn(),
    now: () => 7,
    setTimer: () => () => {},
    steps: noSteps,
    ...change,
  }
  return { link, context: new RunContext(grantOf(grant), link) }
}

test('the facts of the job are frozen, and made once', () => {
  const { context } = contextOf({}, { checkpoint: '{"page":3}', tags: ['t'], meta: '{"by":"me"}', run: 3, attempt: 2 })
  expect(context.job).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'a',
    queue: 'default',
    run: 3,
    attempt: 2,
    maxAttempts: 4,
    checkpoint: { page: 3 },
    enqueuedAt: new Date(Date.UTC(2030, 0, 1)),
    tags: ['t'],
    meta: { by: 'me' },
  })
  expect(context.job).toBe(context.job)
  for (const part of [context.job, context.job.tags, context.job.meta]) expect(Object.isFrozen(part)).toBe(true)
})

test('handlers may take it apart', async () => {
  const { context, link } = contextOf()
  const { progress, heartbeat, checkpoint, log, enqueue, snooze, discard, cancel, signal, data } = context
  progress(0.5)
  log('info', 'hello')
  enqueue('child')
  await heartbeat()
  await checkpoint(1)
  expect(() => snooze(1)).toThrow()
  expect(() => discard('no')).toThrow()
  expect(() => cancel('no')).toThrow()
  expect([signal.aborted, data]).toEqual([false, undefined])
  expect([context.takeProgress(), context.takeLines()?.length, context.enqueues?.length]).toEqual([{ fraction: 0.5 }, 1, 1])
  expect(link.checkpoint).toHaveBeenCalledWith(context, '1')
})

test('the signal: made before the abort or after it, it says the first reason', () => {
  const { context: early } = contextOf()
  const told = vi.fn()
  early.signal.addEventListener('abort', told)
  const { context: late } = contextOf()
  for (const context of [early, late]) {
    context.abort(new WorkerStoppedError('first'))
    context.abort(new WorkerStoppedError('second'))
    expect(context.signal.aborted).toBe(true)
    expect(context.signal.reason).toMatchObject({ message: 'first' })
    expect(context.signal).toBe(context.signal)
  }
  expect(told).toHaveBeenCalledTimes(1)
})

test('heartbeat() and checkpoint() that nobody awaits do not end the process; awaited, they reject', async () => {
  const stale = async () => {
    throw new StaleRunError('gone')
  }
  const { context } = contextOf({ heartbeat: stale, checkpoint: stale })
  const reasons = await unhandledDuring(() => {
    void context.heartbeat()
    void context.checkpoint(1)
  })
  expect(reasons).toEqual([])
  await expect(context.heartbeat()).rejects.toMatchObject({ code: 'STALE_RUN' })
  await expect(context.checkpoint(1)).rejects.toMatchObject({ code: 'STALE_RUN' })
})

test('a checkpoint that cannot be stored is refused by its name', () => {
  const { context } = contextOf()
  expect(() => context.checkpoint(1n)).toThrow(/^checkpoint cannot be stored/)
  expect(() => context.checkpoint('x'.repeat(2_000))).toThrow(/checkpoint/)
})

test('progress: a fraction from 0 to 1; the last of a tick is taken', () => {
  const { context, link } = contextOf()
  context.progress(0.25)
  for (const wrong of [-0.1, 50, 50, Number.NaN]) context.progress(wrong)
  expect(vi.mocked(link.complained).mock.calls).toEqual([
    [context, 'fraction', 'progress must be a number from 0 to 1, got -0.1; the value is ignored'],
  ])
  expect(context.takeProgress()).toEqual({ fraction: 0.25 })
  context.progress(0)
  context.progress(1, 'n'.repeat(10_000))
  expect(link.dirty).toHaveBeenCalledTimes(3)
  expect(context.takeProgress()).toEqual({ fraction: 1, note: 'n'.repeat(LIMITS.logMessageLength) })
  expect(context.takeProgress()).toBeUndefined()
})

test('progress: a value beside the fraction, or alone, which leaves the fraction as it was', () => {
  const { context } = contextOf()
  context.progress({ step: 'list' })
  expect(context.takeProgress()).toEqual({ fraction: 0, value: '{"step":"list"}' })
  context.progress(0.5, 'half', [1, 2])
  expect(context.takeProgress()).toEqual({ fraction: 0.5, note: 'half', value: '[1,2]' })
  context.progress({ step: 'copy' })
  expect(context.takeProgress()).toEqual({ fraction: 0.5, value: '{"step":"copy"}' })
  context.progress(0.75, undefined, null)
  expect(context.takeProgress()).toEqual({ fraction: 0.75, value: 'null' })
})

test.each([
  ['too large', { x: 'é'.repeat(LIMITS.progressBytes / 2) }, /^progress must have at most 16384 bytes of JSON, got 16392/],
  ['a BigInt', { n: 1n }, /^progress cannot be stored as JSON/],
  ['a Map', new Map(), /^progress cannot be stored as JSON: it has the type Map/],
])('progress: a value that cannot be stored is ignored with a warning: %s', (_what, value, said) => {
  const { context, link } = contextOf()
  context.progress(0.25)
  context.progress(0.5, 'half', value)
  context.progress(value)
  expect(vi.mocked(link.complained).mock.calls).toEqual([[context, 'value', expect.stringMatching(said)]])
  expect(context.takeProgress()).toEqual({ fraction: 0.25 })
})

test('progress: a string is neither a fraction nor a value', () => {
  const { context, link } = contextOf()
  context.progress('half' as never)
  expect(vi.mocked(link.complained).mock.calls[0]?.[2]).toBe(
    'progress must be a number from 0 to 1 or an object, got "half"; the value is ignored',
  )
  expect(context.takeProgress()).toBeUndefined()
})

const cyclic: Record<string, unknown> = {}
cyclic['itself'] = cyclic

test.for<readonly [what: string, fields: Record<string, unknown>, stored: RegExp | string]>([
  ['plain fields', { n: 1 }, '{"n":1}'],
  ['a BigInt', { n: 1n }, /^\{"n":"\[unreadable: .*BigInt\]"\}$/],
  ['a BigInt beside another field', { n: 1n, job: 7 }, '{"n":"[unreadable: Do not know how to serialize a BigInt]","job":7}'],
  ['a cycle', cyclic, /"\[unreadable: Converting circular structure to JSON\]"/],
  [
    'a getter that throws',
    {
      get n() {
        throw new Error('no')
      },
    },
    '{"n":"[unreadable: no]"}',
  ],
  ['nothing that JSON can hold', (() => {}) as never, /^\{"unreadable":/],
  ['more than is kept', { text: 'x'.repeat(10_000) }, /^\{"text":"x{4087}$/],
])('log with %s does not fail the handler', ([, fields, stored]) => {
  const { context } = contextOf()
  context.log('info', 'message', fields)
  const text = context.takeLines()?.[0]?.fields ?? ''
  if (typeof stored === 'string') expect(text).toBe(stored)
  else expect(text).toMatch(stored)
})

test.each([0, 1, 250])('log: of a run that keeps %i lines, no more are sent', (logLines) => {
  const { context } = contextOf({}, { logLines })
  for (let line = 0; line < 777; line++) context.log('debug', `${line}`)
  const lines = (context.takeLines() ?? []).map(({ message }) => Number(message))
  expect(lines).toEqual(Array.from({ length: logLines }, (_, index) => 777 - logLines + index))
})

test('log: levels are checked, messages are cut, the newest lines are kept', () => {
  const { context } = contextOf()
  expect(() => context.log('fatal' as never, 'no')).toThrow(/level/)
  for (let line = 0; line < LIMITS.logLinesPerRun + 5; line++) context.log('debug', `line ${line}`)
  context.log('error', 'x'.repeat(10_000))
  const lines = context.takeLines() ?? []
  expect(lines).toHaveLength(LIMITS.logLinesPerRun)
  expect(lines[0]).toEqual({ at: 7, level: 'debug', message: 'line 6' })
  expect(lines.at(-1)?.message).toHaveLength(LIMITS.logMessageLength)
  expect(context.takeLines()).toBeUndefined()
})

const asynchronous: StandardSchemaV1<number> = {
  '~standard': { version: 1, vendor: 'test', validate: async () => ({ issues: [{ message: 'no' }] }) },
}

test('enqueue: with the definition’s defaults and the call’s options; checked at once', () => {
  const { context } = contextOf()
  context.enqueue(defineJob<{ n: number }>({ name: 'child', queue: 'q', maxAttempts: 2 }), { n: 1 }, { priority: 3 })
  context.enqueue('other')
  expect(context.enqueues).toEqual([
    { name: 'child', data: '{"n":1}', queue: 'q', maxAttempts: 2, priority: 3 },
    { name: 'other', data: null },
  ])
  expect(() => context.enqueue('not a name!')).toThrow(/name/)
  expect(() => context.enqueue('child', 'x'.repeat(2_000))).toThrow(/data/)
  expect(context.enqueues).toHaveLength(2)
})

test('enqueue with an asynchronous schema is refused, and what the schema says in the end ends nothing', async () => {
  const { context } = contextOf()
  const job = defineJob({ name: 'child', schema: asynchronous })
  expect(await unhandledDuring(() => expect(() => context.enqueue(job, 1)).toThrow(/schema of job 'child' is asynchronous/))).toEqual([])
  expect(context.enqueues).toBeUndefined()
})

test('one run enqueues no more than one command holds', () => {
  const { context } = contextOf({ maxDataBytes: LIMITS.dataBytes })
  for (let job = 0; job < LIMITS.jobsPerCommand; job++) context.enqueue('child')
  expect(() => context.enqueue('child')).toThrow(/split the work/)
  const { context: heavy } = contextOf({ maxDataBytes: LIMITS.dataBytes })
  const mebibyte = 'x'.repeat(LIMITS.dataBytes - 2)
  for (let job = 0; job < 16; job++) heavy.enqueue('child', mebibyte)
  expect(() => heavy.enqueue('child', mebibyte)).toThrow(/split the work/)
  expect(heavy.enqueues).toHaveLength(16)
})

describe('parents', () => {
  const key = { node: 1, enqueuedAt: 1_700_000_000_000 }
  const pages = [
    {
      parents: [
        { ...key, seq: 1, ref: 'a', state: 'completed', output: '{"n":1}' },
        { ...key, seq: 2, ref: 'b', state: 'failed', output: null, error: { name: 'E', message: 'm' } },
      ],
      next: 2,
    },
    { parents: [], next: 5 },
    { parents: [{ ...key, seq: 3, ref: 'c', state: 'completed', output: new Uint8Array([1]) }], next: null },
  ] as const
  const paged = () => {
    const asked: number[] = []
    const { context } = contextOf({
      parents: async (_run, after) => {
        asked.push(after)
        return pages[asked.length - 1] as never
      },
    })
    return { context, asked }
  }

  test('are read a page at a time, decoded, in order', async () => {
    const { context, asked } = paged()
    const seen: unknown[] = []
    for await (const parent of context.parents()) seen.push(parent)
    expect(asked).toEqual([0, 2, 5])
    expect(seen).toEqual([
      { id: formatId({ ...key, seq: 1 }), ref: 'a', state: 'completed', output: { n: 1 } },
      { id: formatId({ ...key, seq: 2 }), ref: 'b', state: 'failed', output: undefined, error: { name: 'E', message: 'm' } },
      { id: formatId({ ...key, seq: 3 }), ref: 'c', state: 'completed', output: new Uint8Array([1]) },
    ])
  })

  test('one of them is looked for no further than it stands', async () => {
    const { context, asked } = paged()
    const { parent } = context
    expect(await parent('b')).toMatchObject({ ref: 'b', state: 'failed' })
    expect(asked).toEqual([0])
  })

  test('one that is not among them', async () => {
    expect(await paged().context.parent('x')).toBeUndefined()
  })
})
