/** Tests durable calls: what they record, their waits, and where a retry resumes, the same through every Port. */
import { type CommandOf, FAILED, type JobKey, LIMITS } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

const ERROR = { name: 'E', message: 'm' }

export function stepsConformance(under: () => Probe): void {
  let probe: Probe
  let id: JobKey
  let seq: number
  beforeEach(async () => {
    probe = under()
    await probe.attach(['a'])
    id = await probe.enqueue('a', { maxAttempts: 1 })
    seq = (await probe.grants.take()).seq
  })

  const step = (run: number, number: number, more: Partial<CommandOf<'step'>> = {}) =>
    probe.call<'step'>({
      op: 'step',
      ...{ seq, run, number, asked: 1, name: `s${number}`, kind: 'step', startedAt: 5, value: '1' },
      ...more,
    })
  const wait = (run: number, waits: CommandOf<'wait'>['waits'], more: Partial<CommandOf<'wait'>> = {}) =>
    probe.call<'wait'>({ op: 'wait', seq, run, settled: 0, waits, end: true, ...more })
  const recorded = (run: number, after = 0) => probe.call<'recorded'>({ op: 'recorded', seq, run, after })
  const steps = (more: Partial<CommandOf<'steps'>> = {}) => probe.call<'steps'>({ op: 'steps', id, after: 0, limit: 10, ...more })
  const namesOf = async (run: number) => (await recorded(run)).results.map(({ name }) => name)
  const fail = (run: number) => probe.call<'fail'>({ op: 'fail', seq, run, error: ERROR })
  const retry = (from?: string) => probe.call<'retry'>({ op: 'retry', id, ...(from !== undefined && { from }) })
  const refusalOf = async (call: Promise<unknown>) => {
    const error: unknown = await call.then(
      () => undefined,
      (refused: unknown) => refused,
    )
    return (error as { code?: unknown } | undefined)?.code
  }

  test('a result is recorded as it was, once, and every later run has it', async () => {
    const bystander = await probe.enqueue('b')
    const bytes = new Uint8Array([0, 255])
    const error = { name: 'E', message: 'm', code: 'C', cause: [{ name: 'F', message: 'n' }] }
    expect(await step(1, 1, { value: '"one"' })).toBe(true)
    await step(1, 2, { asked: 2, value: bytes, kind: 'change' })
    await step(1, 3, { value: null, error })
    // A number that is recorded already stays as it is.
    expect(await step(1, 1, { value: '"other"' })).toBe(true)
    const results = [
      { number: 1, asked: 1, name: 's1', kind: 'step', run: 1, startedAt: 5, endedAt: expect.any(Number), value: '"one"' },
      { number: 2, asked: 2, name: 's2', kind: 'change', run: 1, startedAt: 5, endedAt: expect.any(Number), value: bytes },
      { number: 3, asked: 1, name: 's3', kind: 'step', run: 1, startedAt: 5, endedAt: expect.any(Number), value: null, error },
    ]
    expect(await recorded(1)).toEqual({ results, next: null, generation: 0, waits: [] })
    await probe.call<'giveBack'>({ op: 'giveBack', seq, run: 1 })
    await probe.grants.take()
    expect(await recorded(2, 1)).toEqual({ results: results.slice(1), next: null, generation: 0, waits: [] })
    expect(await steps()).toEqual({ results, next: null, waits: [], messages: [], kept: 0 })
    expect(await steps({ id: bystander })).toEqual({ results: [], next: null, waits: [], messages: [], kept: 0 })
    expect(await steps({ id: { ...id, seq: seq + 9 } })).toBeNull()
  })

  test('a run that is over records, waits and reads nothing', async () => {
    await step(1, 1)
    await probe.call<'giveBack'>({ op: 'giveBack', seq, run: 1 })
    await probe.grants.take()
    for (const stale of [step(1, 2), wait(1, [{ name: 'w', asked: 1, delay: 0 }]), recorded(1)])
      expect(await refusalOf(stale)).toBe('STALE_RUN')
    expect(await namesOf(2)).toEqual(['s1'])
  })

  test('pages have at most so many results, and about so many bytes', async () => {
    const value = JSON.stringify('x'.repeat(LIMITS.dataBytes - 2))
    const fits = LIMITS.stepsBytes / LIMITS.dataBytes
    for (let number = 1; number <= fits + 1; number++) await step(1, number, { value })
    expect((await steps({ limit: 2 }))?.results.map(({ number }) => number)).toEqual([1, 2])
    expect(await steps({ after: 2, limit: 1 })).toMatchObject({ results: [{ number: 3 }], next: 3 })
    const whole = await steps()
    expect([whole?.results.length, whole?.next]).toEqual([fits, fits])
    expect(await steps({ after: fits })).toMatchObject({ results: [{ number: fits + 1 }], next: null })
    const page = await recorded(1)
    expect([page.results.length, page.next]).toEqual([fits, fits])
  })

  test('a sleep ends the run without an attempt, and the job wakes with the result', async () => {
    const before = await probe.call<'get'>({ op: 'get', id })
    expect(
      await wait(1, [
        { name: 'long', asked: 1, delay: 3_600_000 },
        { name: 'nap', asked: 1, delay: 1_800_000 },
      ]),
    ).toEqual({
      results: [],
      ended: true,
    })
    const asleep = await steps()
    expect(asleep).toEqual({
      results: [],
      next: null,
      messages: [],
      kept: 0,
      waits: ['nap', 'long'].map((name) => ({ name, asked: 1, since: expect.any(Number), until: expect.any(Number) })),
    })
    expect(await probe.call<'explain'>({ op: 'explain', id })).toMatchObject({
      state: 'scheduled',
      causes: [{ code: 'sleep', of: 'nap' }, { of: 'long' }],
    })
    await probe.call<'runNow'>({ op: 'runNow', id })
    expect(await probe.grants.take()).toMatchObject({ seq, run: 2, attempt: before?.attempt })
    const [nap, long] = asleep?.waits ?? []
    const { results } = await recorded(2)
    expect(results).toMatchObject([{ number: 1, asked: 1, name: 'nap', kind: 'sleep', value: null, startedAt: nap?.since }])
    expect((await steps())?.waits).toEqual([long])
  })

  test('a wait that is over is answered at once, and an open one keeps its end', async () => {
    expect(
      await wait(1, [
        { name: 'past', asked: 1, until: 1 },
        { name: 'w', asked: 1, delay: 3_600_000 },
      ]),
    ).toEqual({
      results: [expect.objectContaining({ number: 1, name: 'past', kind: 'sleep' })],
      ended: false,
      next: expect.any(Number),
    })
    expect(await wait(1, [{ name: 'w', asked: 2, delay: 1 }], { settled: 1 })).toEqual({ results: [], ended: true })
    const [open] = (await steps())?.waits ?? []
    expect((open?.until ?? 0) - (open?.since ?? 0)).toBe(3_600_000)
    await probe.call<'runNow'>({ op: 'runNow', id })
    expect(await probe.grants.take()).toMatchObject({ seq, run: 2 })
    expect(await namesOf(2)).toEqual(['past', 'w'])
  })

  test('a retry resumes at the first failed step, at a step by its name, or at the start', async () => {
    await step(1, 1)
    await step(1, 2, { asked: 2, value: null, error: ERROR })
    await fail(1)
    await retry()
    await probe.grants.take()
    expect(await namesOf(2)).toEqual(['s1'])
    await step(2, 2, { asked: 2 })
    await fail(2)
    expect(await refusalOf(retry('nowhere'))).toBe('STEP_NOT_FOUND')
    await probe.call<'retry'>({ op: 'retry', id, from: 's2' })
    await probe.grants.take()
    expect(await recorded(3)).toMatchObject({ results: [{ name: 's1' }], generation: 0 })
    await fail(3)
    await retry('start')
    await probe.grants.take()
    expect(await recorded(4)).toEqual({ results: [], next: null, generation: 1, waits: [] })
  })

  test('a retry is refused if the handler went on after the failed step, until it says from where', async () => {
    await step(1, 1, { value: null, error: ERROR })
    await step(1, 2, { asked: 2, name: 'undo' })
    await fail(1)
    expect(await refusalOf(retry())).toBe('AMBIGUOUS_RETRY')
    const many = await probe.call<'retryMany'>({ op: 'retryMany', filter: { state: FAILED }, limit: 10, dryRun: true })
    expect(many).toMatchObject({ skipped: { ambiguousRetry: 1 } })
    await retry('s1')
    await probe.grants.take()
    expect(await namesOf(2)).toEqual([])
  })

  test('a job is retried by its key from a step, too', async () => {
    id = await probe.enqueue('a', { maxAttempts: 1, idempotencyKey: 'k' })
    seq = (await probe.grants.take()).seq
    await step(1, 1)
    await step(1, 2, { asked: 2 })
    await fail(1)
    const of = { kind: 'idempotency' as const, name: 'a', key: 'k' }
    await probe.call<'byKey'>({ op: 'byKey', of, call: 'retry', from: 's2' })
    await probe.grants.take()
    expect(await namesOf(2)).toEqual(['s1'])
  })

  const send = (more: Partial<CommandOf<'send'>> = {}) => probe.call<'send'>({ op: 'send', id, name: 'm', value: '"1"', ...more })

  test('a message wakes the job that sleeps until it, and one that comes before is kept', async () => {
    expect(await wait(1, [{ name: 'w', asked: 1, message: 'm' }])).toEqual({ results: [], ended: true })
    expect(await probe.call<'explain'>({ op: 'explain', id })).toMatchObject({ causes: [{ code: 'message', of: 'm' }] })
    expect(await send({ name: 'n', by: 'ops', idempotencyKey: 'k' })).toBe('kept')
    expect(await send({ name: 'n', idempotencyKey: 'k' })).toBe('known')
    expect(await steps()).toMatchObject({ waits: [{ name: 'w', message: 'm' }], kept: 1, messages: [{ number: 1, name: 'n', by: 'ops' }] })
    expect(await refusalOf(probe.call<'runNow'>({ op: 'runNow', id }))).toBe('JOB_SCHEDULED')
    expect(await send()).toBe('taken')
    expect(await probe.grants.take()).toMatchObject({ seq, run: 2 })
    expect(await recorded(2)).toMatchObject({ results: [{ name: 'w', kind: 'message', value: '"1"' }] })
    expect(await wait(2, [{ name: 'x', asked: 2, message: 'n', delay: 3_600_000 }], { settled: 1 })).toMatchObject({
      ended: false,
      results: [{ number: 2, name: 'x', value: '"1"' }],
    })
    expect((await steps())?.kept).toBe(0)
  })

  test('a run beside its wait hears that a message has come', async () => {
    expect(await wait(1, [{ name: 'w', asked: 1, message: 'm' }], { end: false })).toEqual({ results: [], ended: false })
    await send()
    expect(await probe.notices.take()).toMatchObject({ kind: 'messaged', seq, run: 1 })
    expect(await wait(1, [{ name: 'w', asked: 1, message: 'm' }])).toMatchObject({ results: [{ name: 'w', value: '"1"' }] })
  })

  test('a message is refused by a job that has ended, or that is another', async () => {
    await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
    expect(await refusalOf(send())).toBe('JOB_FINISHED')
    expect(await refusalOf(send({ id: { ...id, seq: seq + 9 } }))).toBe('JOB_NOT_FOUND')
    const other = await probe.enqueue('a', { unique: { key: 'u', onConflict: 'skip', until: 'end' } } as never)
    expect(await refusalOf(send({ id: other, only: ['b'] }))).toBe('FORBIDDEN')
    const { id: _id, ...keyed } = { id, of: { kind: 'unique', name: 'a', key: 'u' } } as const
    expect(await probe.call<'send'>({ op: 'send', ...keyed, name: 'm', value: '"1"', only: ['a'] })).toBe('kept')
  })
}
