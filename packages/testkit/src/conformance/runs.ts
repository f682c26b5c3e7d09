/** Tests hand-outs, their ends, and what they leave, the same through every Port. */
import type { CommandOf, JobKey } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

export function runsConformance(under: () => Probe): void {
  let probe: Probe
  beforeEach(() => {
    probe = under()
  })

  const stateOf = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.state

  test('E1: every command gets exactly one reply, in the order of arrival; questions may be answered later, in their own', async () => {
    const replies = await probe.settle([
      { op: 'enqueue', jobs: [{ name: 'a', data: '1' }] },
      { op: 'stats' },
      { op: 'complete', seq: 99, run: 1, output: null },
      { op: 'enqueue', jobs: [{ name: 'a', data: '2' }] },
      { op: 'workers' },
    ])
    const questions = [2, 5]
    expect(probe.replied.filter((id) => !questions.includes(id))).toEqual([1, 3, 4])
    expect(probe.replied.filter((id) => questions.includes(id))).toEqual(questions)
    expect(replies.map((reply) => reply.refusal?.code)).toEqual([undefined, undefined, 'STALE_RUN', undefined, undefined])
  })

  test('a job goes from enqueue over its grant to completed, with data and output as they were', async () => {
    await probe.attach(['a'])
    const keys = { concurrencyKey: 'k', idempotencyKey: 'once' }
    const id = await probe.enqueue('a', { data: '{"x":1}', priority: 3, tags: ['t'], meta: '{"m":2}', ...keys })
    expect(id.created).toBe(true)
    const grant = await probe.grants.take()
    expect(grant).toMatchObject({
      seq: id.seq,
      session: 'session-1',
      name: 'a',
      queue: 'default',
      run: 1,
      attempt: 1,
      data: '{"x":1}',
      priority: 3,
      tags: ['t'],
      ...keys,
    })
    expect(await stateOf(id)).toBe('active')
    await probe.call<'complete'>({ op: 'complete', seq: grant.seq, run: grant.run, output: '"done"' })
    expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({
      state: 'completed',
      output: '"done"',
      run: 1,
      attempt: 1,
      meta: '{"m":2}',
    })
  })

  test('bytes stay bytes, whatever they are', async () => {
    await probe.attach(['a'])
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    const id = await probe.enqueue('a', { data: bytes })
    const grant = await probe.grants.take()
    expect(Uint8Array.from(grant.data as Uint8Array)).toEqual(bytes)
    await probe.call<'complete'>({ op: 'complete', seq: grant.seq, run: 1, output: bytes })
    const view = await probe.call<'get'>({ op: 'get', id })
    expect(Uint8Array.from(view?.data as Uint8Array)).toEqual(bytes)
    expect(Uint8Array.from(view?.output as Uint8Array)).toEqual(bytes)
  })

  test('strings survive: empty, NUL, lone surrogates, 1 MiB', async () => {
    for (const text of ['""', JSON.stringify('a\0b'), JSON.stringify('\ud800'), JSON.stringify('x'.repeat(2 ** 20 - 2))]) {
      const id = await probe.enqueue('nobody', { data: text })
      expect((await probe.call<'get'>({ op: 'get', id }))?.data).toBe(text)
    }
  })

  test('token-per-attempt: another run is stale, and changes nothing', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a')
    const bystander = await probe.enqueue('a')
    const { seq } = await probe.grants.take()
    const stale = [
      { seq, run: 0 },
      { seq, run: 2 },
    ] as const
    for (const run of stale) {
      const replies = await probe.settle([
        { op: 'complete', ...run, output: null },
        { op: 'fail', ...run, error: { name: 'E', message: 'm' } },
        { op: 'snooze', ...run, delay: 1 },
        { op: 'giveBack', ...run },
        { op: 'heartbeat', ...run },
        { op: 'checkpoint', ...run, value: '1' },
        { op: 'progress', ...run, fraction: 1 },
        { op: 'log', ...run, lines: [{ at: 0, level: 'info', message: 'm' }] },
      ])
      expect(replies.map((reply) => reply.refusal?.code)).toEqual(Array(8).fill('STALE_RUN'))
    }
    expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ state: 'active', run: 1, checkpoint: null, progress: null })
    expect(await stateOf(bystander)).toBe('active')
  })

  test('the same completion told twice is answered as the first', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a')
    const { seq, run } = await probe.grants.take()
    await probe.call<'complete'>({ op: 'complete', seq, run, output: '1' })
    await probe.call<'complete'>({ op: 'complete', seq, run, output: '1' })
    expect((await probe.settle([{ op: 'complete', seq, run, output: '2' }]))[0]?.refusal?.code).toBe('STALE_RUN')
    expect((await probe.call<'get'>({ op: 'get', id }))?.output).toBe('1')
  })

  test('E6, E9: a failed run is tried again at once when asked so, and leaves its error', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a', { maxAttempts: 2 })
    const first = await probe.grants.take()
    await probe.call<'log'>({
      op: 'log',
      seq: first.seq,
      run: 1,
      lines: [{ at: 1, level: 'warn', message: 'careful', fields: '{"k":1}' }],
    })
    const cause = [
      { name: 'Error', message: 'refused', code: 'ECONNREFUSED' },
      { name: 'Error', message: 'down' },
    ]
    const error = { name: 'TypeError', message: 'no', stack: 'at x', code: '502', cause }
    await probe.call<'fail'>({ op: 'fail', seq: first.seq, run: 1, error, retry: 0 })
    const second = await probe.grants.take()
    expect(second).toMatchObject({ seq: first.seq, run: 2, attempt: 2 })
    await probe.call<'fail'>({ op: 'fail', seq: first.seq, run: 2, error: { name: 'RangeError', message: 'never' } })
    const view = await probe.call<'get'>({ op: 'get', id })
    expect(view?.state).toBe('failed')
    expect(view?.attempts).toMatchObject([
      {
        run: 1,
        attempt: 1,
        worker: 'worker-1',
        error,
        logs: [{ level: 'warn', message: 'careful', fields: '{"k":1}' }],
      },
      { run: 2, attempt: 2, worker: 'worker-1', error: { name: 'RangeError', message: 'never' }, logs: [] },
    ])
  })

  test('E8: a checkpoint is durable, and the next attempt finds it', async () => {
    await probe.attach(['a'])
    await probe.enqueue('a')
    const { seq } = await probe.grants.take()
    await probe.call<'checkpoint'>({ op: 'checkpoint', seq, run: 1, value: '{"page":7}' })
    await probe.call<'fail'>({ op: 'fail', seq, run: 1, error: { name: 'E', message: 'm' }, retry: 0 })
    expect(await probe.grants.take()).toMatchObject({ run: 2, checkpoint: '{"page":7}' })
  })

  test('unstarted-restore-keeps-attempts: what is given back has used no attempt, and its run is never reused', async () => {
    await probe.attach(['a'])
    await probe.enqueue('a', { maxAttempts: 1 })
    const { seq } = await probe.grants.take()
    await probe.call<'giveBack'>({ op: 'giveBack', seq, run: 1 })
    expect(await probe.grants.take()).toMatchObject({ seq, run: 2, attempt: 1 })
  })

  test('a run says when it ends at the latest, which a heartbeat moves; a retry keeps the first due time', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a', { timeout: 60_000, heartbeatTimeout: 3_600_000 })
    const { seq, run } = await probe.grants.take()
    const deadlines = async () => {
      const [job, explained] = [await probe.call<'get'>({ op: 'get', id }), await probe.call<'explain'>({ op: 'explain', id })]
      const [worker] = await probe.call<'workers'>({ op: 'workers' })
      return [job?.deadlineAt, explained?.deadlineAt, worker?.nextDeadlineAt].map((at) => Number(at) - id.enqueuedAt)
    }
    for (const ms of await deadlines()) expect(Math.abs(ms - 60_000)).toBeLessThan(50_000)
    await probe.call<'heartbeat'>({ op: 'heartbeat', seq, run })
    for (const ms of await deadlines()) expect(ms).toBeGreaterThan(3_000_000)
    const due = (await probe.call<'get'>({ op: 'get', id }))?.runAt
    await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' }, retry: 3_600_000 })
    const job = await probe.call<'get'>({ op: 'get', id })
    expect(job).toMatchObject({ state: 'scheduled', originalRunAt: due })
    expect(job).not.toHaveProperty('deadlineAt')
    const { jobs } = await probe.call<'list'>({ op: 'list', filter: {}, limit: 1 })
    expect(jobs).toMatchObject([{ originalRunAt: due, runAt: job?.runAt }])
  })

  test('a job that waits is explained by all that holds it', async () => {
    const id = await probe.enqueue('a', { concurrencyKey: 'k' })
    const why = () => probe.call<'explain'>({ op: 'explain', id })
    const told = { name: 'a', queue: 'default', state: 'waiting', attempt: 0, maxAttempts: 4 }
    expect(await why()).toEqual({ ...told, causes: [{ code: 'no-worker' }] })
    await probe.call<'pause'>({ op: 'pause', queue: 'default', key: 'k', paused: true })
    expect(await why()).toEqual({ ...told, causes: [{ code: 'key-paused', of: 'k' }, { code: 'no-worker' }] })
    await probe.attach(['a'])
    expect(await why()).toMatchObject({ causes: [{ code: 'key-paused' }] })
    await probe.call<'pause'>({ op: 'pause', queue: 'default', key: 'k', paused: false })
    await probe.grants.take()
    expect(await why()).toEqual({ ...told, state: 'active', attempt: 1, deadlineAt: expect.any(Number), causes: [] })
    expect(await probe.call<'explain'>({ op: 'explain', id: { ...id, seq: id.seq + 9 } })).toBeNull()
  })

  test('log lines come page by page, those of the last run unless another is named', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a', { logLines: 4, maxAttempts: 2 })
    const { seq } = await probe.grants.take()
    const logs = (wanted: Partial<CommandOf<'logs'>> = {}) => probe.call<'logs'>({ op: 'logs', id, limit: 2, ...wanted })
    expect(await logs()).toEqual({ run: 1, lines: [], next: null })
    const lines = Array.from({ length: 6 }, (_, at) => ({ at, level: 'info' as const, message: `${at}`, fields: `[${at}]` }))
    await probe.call<'log'>({ op: 'log', seq, run: 1, lines })
    const told = (...numbers: readonly number[]) => numbers.map((number) => ({ number, ...lines[number] }))
    expect(await logs()).toEqual({ run: 1, lines: told(2, 3), next: 3 })
    expect(await logs({ after: 3 })).toEqual({ run: 1, lines: told(4, 5), next: null })
    expect(await logs({ newest: true, limit: 3 })).toEqual({ run: 1, lines: told(5, 4, 3), next: 3 })
    expect(await logs({ newest: true, after: 3 })).toEqual({ run: 1, lines: told(2), next: null })
    await probe.call<'fail'>({ op: 'fail', seq, run: 1, error: { name: 'E', message: 'm' }, retry: 0 })
    await probe.grants.take()
    expect(await logs()).toEqual({ run: 2, lines: [], next: null })
    expect(await logs({ run: 1, limit: 9 })).toMatchObject({ run: 1, lines: told(2, 3, 4, 5), next: null })
    expect(await logs({ id: { ...id, seq: id.seq + 9 } })).toBeNull()
  })

  test('E9: what a run has logged is told where it was given back or snoozed, too', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a', { maxAttempts: 1 })
    const bystander = await probe.enqueue('b')
    const { seq } = await probe.grants.take()
    const log = (run: number, message: string) => probe.call<'log'>({ op: 'log', seq, run, lines: [{ at: run, level: 'info', message }] })
    await log(1, 'stopped')
    await probe.call<'giveBack'>({ op: 'giveBack', seq, run: 1 })
    await probe.grants.take()
    // A run without logs leaves nothing to report.
    await probe.call<'giveBack'>({ op: 'giveBack', seq, run: 2 })
    await probe.grants.take()
    await log(3, 'not yet')
    await probe.call<'snooze'>({ op: 'snooze', seq, run: 3, delay: 3_600_000 })
    const told = [
      { run: 1, attempt: 1, worker: 'worker-1', logs: [{ message: 'stopped' }] },
      { run: 3, attempt: 1, worker: 'worker-1', logs: [{ message: 'not yet' }] },
    ]
    const view = await probe.call<'get'>({ op: 'get', id })
    expect(view).toMatchObject({ state: 'scheduled', attempt: 0, attempts: told })
    expect(view?.attempts.map(({ error, endedAt, startedAt }) => [error, endedAt >= startedAt && startedAt > 0])).toEqual([
      [undefined, true],
      [undefined, true],
    ])
    await probe.call<'runNow'>({ op: 'runNow', id })
    await probe.grants.take()
    await probe.call<'fail'>({ op: 'fail', seq, run: 4, error: { name: 'E', message: 'm' } })
    expect((await probe.call<'get'>({ op: 'get', id }))?.attempts).toMatchObject([...told, { run: 4, attempt: 1, error: { name: 'E' } }])
    expect((await probe.call<'get'>({ op: 'get', id: bystander }))?.attempts).toEqual([])
  })

  test('N11: what a handler enqueues is created with its completion', async () => {
    await probe.attach(['a'])
    await probe.enqueue('a')
    const { seq, run } = await probe.grants.take()
    await probe.call<'complete'>({
      op: 'complete',
      seq,
      run,
      output: null,
      enqueues: [
        { name: 'child', data: '1' },
        { name: 'child', data: '2' },
      ],
    })
    expect((await probe.call<'stats'>({ op: 'stats' })).states).toMatchObject({ completed: 1, waiting: 2 })
  })
}
