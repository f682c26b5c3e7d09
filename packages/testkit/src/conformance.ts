/** Tests the promises of every Port in one suite: each Port's own test file runs it, whatever is behind the Port. */
import { type Enqueued, formatId, isJobEvent, type JobKey, type NewsEvent, type Port } from '@millrace/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Probe } from './probe.ts'
import { scheduleConformance } from './scheduleConformance.ts'
import { upkeepConformance } from './upkeepConformance.ts'

export interface PortUnderTest {
  readonly port: Port
  close(): Promise<void>
}

export function portConformance(name: string, open: () => Promise<PortUnderTest>): void {
  describe(`Port conformance: ${name}`, () => {
    let under: PortUnderTest
    let probe: Probe

    beforeEach(async () => {
      under = await open()
      probe = new Probe(under.port)
    })

    afterEach(() => under.close())

    const stateOf = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.state

    test('E1: every command gets exactly one reply, in the order of arrival', async () => {
      const replies = await probe.settle([
        { op: 'enqueue', jobs: [{ name: 'a', data: '1' }] },
        { op: 'stats' },
        { op: 'complete', seq: 99, run: 1, output: null },
        { op: 'enqueue', jobs: [{ name: 'a', data: '2' }] },
        { op: 'workers' },
      ])
      expect(probe.replied).toEqual([1, 2, 3, 4, 5])
      expect(replies.map((reply) => reply.refusal?.code)).toEqual([undefined, undefined, 'STALE_RUN', undefined, undefined])
    })

    test('a job goes from enqueue over its grant to completed, with data and output as they were', async () => {
      await probe.attach(['a'])
      const id = await probe.enqueue('a', { data: '{"x":1}', priority: 3, tags: ['t'], meta: '{"m":2}' })
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

    test('E11: a waiting job is cancelled at once, a running one through its signal', async () => {
      const waiting = await probe.enqueue('a')
      expect(await probe.call<'cancel'>({ op: 'cancel', id: waiting })).toBe('cancelled')
      await probe.attach(['a'])
      const running = await probe.enqueue('a')
      const { seq } = await probe.grants.take()
      expect(await probe.call<'cancel'>({ op: 'cancel', id: running })).toBe('cancelling')
      expect(await probe.notices.take()).toMatchObject({ kind: 'abort', cause: 'cancel', session: 'session-1', seq, run: 1 })
      // This holds whatever the handler says in the end.
      await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: '1' })
      expect([await stateOf(waiting), await stateOf(running)]).toEqual(['cancelled', 'cancelled'])
    })

    test('E11: update before the start; JOB_ACTIVE and JOB_FINISHED after', async () => {
      const id = await probe.enqueue('a', { data: '1' })
      const bystander = await probe.enqueue('a', { data: '1' })
      await probe.call<'update'>({ op: 'update', id, changes: { data: '2', priority: 9, weight: 2, checkpoint: '3' } })
      expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ data: '2', priority: 9, weight: 2, checkpoint: '3' })
      expect(await probe.call<'get'>({ op: 'get', id: bystander })).toMatchObject({ data: '1', priority: 0, weight: 1, checkpoint: null })
      await probe.attach(['a'])
      const { seq, run } = await probe.grants.take()
      expect(seq).toBe(id.seq)
      const change = () => probe.settle([{ op: 'update', id, changes: { priority: 1 } }])
      expect((await change())[0]?.refusal?.code).toBe('JOB_ACTIVE')
      await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
      expect((await change())[0]?.refusal?.code).toBe('JOB_FINISHED')
    })

    test('a job that is not there: JOB_NOT_FOUND, and nothing for get', async () => {
      const id = { seq: 1, node: 1, enqueuedAt: 1 }
      const replies = await probe.settle([
        { op: 'cancel', id },
        { op: 'update', id, changes: {} },
        { op: 'retry', id },
        { op: 'runNow', id },
        { op: 'delete', id },
        { op: 'watch', id },
        { op: 'get', id },
      ])
      expect(replies.map((reply) => reply.refusal?.code ?? reply.value)).toEqual([...Array(6).fill('JOB_NOT_FOUND'), null])
      expect(replies[0]?.refusal?.details?.['jobId']).toBe(formatId(id))
    })

    test('E4: priority first, then the order of arrival, across the names that a worker serves', async () => {
      const order = [
        await probe.enqueue('a'),
        await probe.enqueue('b', { priority: 5 }),
        await probe.enqueue('b'),
        await probe.enqueue('a', { priority: 5 }),
      ].map((id) => id.seq)
      await probe.attach(['a', 'b'], { minConcurrency: 1, maxConcurrency: 1 })
      const got: number[] = []
      for (let job = 0; job < 4; job++) {
        const { seq, run } = await probe.grants.take()
        got.push(seq)
        await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
      }
      expect(got).toEqual([order[1], order[3], order[0], order[2]])
    })

    test('E2, unknown-kind-never-discarded: a worker gets the names that it serves, and no other', async () => {
      const other = await probe.enqueue('other')
      const own = await probe.enqueue('a')
      await probe.attach(['a'])
      expect((await probe.grants.take()).seq).toBe(own.seq)
      await probe.barrier()
      expect(probe.grants.size).toBe(0)
      expect(await stateOf(other)).toBe('waiting')
      expect((await probe.call<'stats'>({ op: 'stats' })).unserved).toEqual([{ queue: 'default', name: 'other', waiting: 1 }])
    })

    test('E5: filled up to max when the running weight falls below min, and not before', async () => {
      for (let job = 0; job < 10; job++) await probe.enqueue('a')
      await probe.attach(['a'], { minConcurrency: 2, maxConcurrency: 4 })
      const running = [await probe.grants.take(), await probe.grants.take(), await probe.grants.take(), await probe.grants.take()]
      const complete = ({ seq, run }: { seq: number; run: number }) => probe.call<'complete'>({ op: 'complete', seq, run, output: null })
      await complete(running[0] as never)
      await complete(running[1] as never)
      await probe.barrier()
      expect(probe.grants.size).toBe(0)
      await complete(running[2] as never)
      await probe.barrier()
      expect(probe.grants.size).toBe(3)
    })

    test('batch-wakes-n: as many sessions get a push as get jobs', async () => {
      for (const uuid of ['s1', 's2', 's3', 's4']) await probe.attach(['a'], { uuid, minConcurrency: 1, maxConcurrency: 1 })
      await probe.call<'enqueue'>({ op: 'enqueue', jobs: [1, 2, 3].map((n) => ({ name: 'a', data: String(n) })) })
      await probe.barrier()
      expect(probe.grants.size).toBe(3)
      const sessions = new Set([
        (await probe.grants.take()).session,
        (await probe.grants.take()).session,
        (await probe.grants.take()).session,
      ])
      expect(sessions.size).toBe(3)
    })

    test('E14: an array is atomic: one refused item refuses it whole', async () => {
      await probe.enqueue('a', { unique: { key: 'k', onConflict: 'error' } })
      const replies = await probe.settle([
        {
          op: 'enqueue',
          jobs: [
            { name: 'a', data: null },
            { name: 'a', data: null, unique: { key: 'k', onConflict: 'error' } },
          ],
        },
      ])
      expect(replies[0]?.refusal?.code).toBe('UNIQUE_CONFLICT')
      expect((await probe.call<'stats'>({ op: 'stats' })).states.waiting).toBe(1)
    })

    test('25: an idempotency key creates once, whatever the data; two in one post too', async () => {
      const [first, second] = (await probe.callAll([
        { op: 'enqueue', jobs: [{ name: 'a', data: '1', idempotencyKey: 'k' }] },
        { op: 'enqueue', jobs: [{ name: 'a', data: '2', idempotencyKey: 'k' }] },
      ])) as [JobKey & { created: boolean }][]
      expect(first?.[0].created).toBe(true)
      expect(second?.[0]).toMatchObject({ seq: first?.[0].seq, created: false })
      expect(await probe.enqueue('a', { idempotencyKey: 'k' })).toMatchObject({ seq: first?.[0].seq, created: false })
    })

    test('debounce: one job for the calls before it starts, with the last data; another for those during its run', async () => {
      await probe.attach(['a'])
      const debounce = { key: 'k', delay: 600_000, mode: 'trailing', maxDelay: 700_000 } as const
      const first = await probe.enqueue('a', { debounce, data: '1' })
      expect(await probe.enqueue('a', { debounce, data: '2' })).toEqual({ ...first, created: false })
      await probe.call<'runNow'>({ op: 'runNow', id: { seq: first.seq, node: first.node, enqueuedAt: first.enqueuedAt } })
      expect(await probe.grants.take()).toMatchObject({ seq: first.seq, data: '2' })
      expect(await probe.enqueue('a', { debounce })).toMatchObject({ seq: first.seq + 1, created: true })
      const leading = { ...debounce, mode: 'leading' } as const
      const [one, two] = [await probe.enqueue('a', { debounce: leading }), await probe.enqueue('a', { debounce: leading })]
      expect([one.created, two]).toEqual([true, { ...one, created: false }])
    })

    test('throttle: one job per period', async () => {
      const throttle = { key: 'k', period: 600_000 }
      const first = await probe.enqueue('a', { throttle })
      expect(await probe.enqueue('a', { throttle })).toEqual({ ...first, created: false })
      expect((await probe.enqueue('a', { throttle: { ...throttle, key: 'other' } })).created).toBe(true)
    })

    test('unique-held-while-running: a unique key is held from enqueue to a final state', async () => {
      await probe.attach(['a'])
      const unique = { key: 'k', onConflict: 'skip' } as const
      const first = await probe.enqueue('a', { unique })
      const { seq, run } = await probe.grants.take()
      expect(await probe.enqueue('a', { unique })).toMatchObject({ seq: first.seq, created: false })
      expect(
        (await probe.settle([{ op: 'enqueue', jobs: [{ name: 'a', data: null, unique: { key: 'k', onConflict: 'replace' } }] }]))[0]
          ?.refusal?.code,
      ).toBe('JOB_ACTIVE')
      await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
      expect((await probe.enqueue('a', { unique })).created).toBe(true)
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

    test('a job that becomes final and is brought back in one turn is not told as final', async () => {
      const id = await probe.enqueue('a')
      const watch = probe.call<'watch'>({ op: 'watch', id })
      await probe.callAll([
        { op: 'cancel', id },
        { op: 'retry', id },
      ])
      await probe.attach(['a'])
      const { seq, run } = await probe.grants.take()
      await probe.call<'complete'>({ op: 'complete', seq, run, output: '1' })
      expect(await watch).toEqual({ state: 'completed', output: '1' })
    })

    test('watch is race-free: before, while and after the job ends', async () => {
      const id = await probe.enqueue('a')
      const before = probe.call<'watch'>({ op: 'watch', id })
      await probe.attach(['a'])
      const { seq, run } = await probe.grants.take()
      const during = probe.call<'watch'>({ op: 'watch', id })
      await probe.call<'complete'>({ op: 'complete', seq, run, output: '7' })
      const after = probe.call<'watch'>({ op: 'watch', id })
      expect(await Promise.all([before, during, after])).toEqual(Array(3).fill({ state: 'completed', output: '7' }))
    })

    test('retry and redrive start again from the first attempt', async () => {
      await probe.attach(['a'])
      const id = await probe.enqueue('a', { maxAttempts: 1 })
      const fail = async () => {
        const { seq, run } = await probe.grants.take()
        await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' } })
      }
      await fail()
      expect(await stateOf(id)).toBe('failed')
      await probe.call<'retry'>({ op: 'retry', id })
      await fail()
      expect(await probe.call<'redrive'>({ op: 'redrive', name: 'a', limit: 10 })).toMatchObject({ count: 1 })
      expect(await probe.grants.take()).toMatchObject({ run: 3, attempt: 1 })
    })

    test('retry of a delayed job that never ran is refused, and leaves its time as it was', async () => {
      await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
      const [id, bystander] = [await probe.enqueue('b', { delay: 3_600_000 }), await probe.enqueue('b', { delay: 3_600_000 })]
      const before = await probe.call<'get'>({ op: 'get', id })
      await expect(probe.call<'retry'>({ op: 'retry', id })).rejects.toMatchObject({
        code: 'JOB_SCHEDULED',
        retryable: false,
        jobId: formatId(id),
        message: expect.stringContaining('use runNow'),
      })
      expect(await probe.call<'get'>({ op: 'get', id })).toEqual(before)
      await probe.call<'runNow'>({ op: 'runNow', id })
      expect([await stateOf(id), await stateOf(bystander)]).toEqual(['waiting', 'scheduled'])
    })

    test('cancelMany, retryMany and deleteMany take what the filter matches, and say what they left', async () => {
      await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
      const running = await probe.enqueue('a', { tags: ['t'] })
      const waiting = await probe.enqueue('a', { tags: ['t'] })
      const bystander = await probe.enqueue('a')
      const { seq, run } = await probe.grants.take()
      const many = { filter: { tag: 't' }, limit: 10, dryRun: false }
      const dry = await probe.call<'deleteMany'>({ op: 'deleteMany', ...many, dryRun: true })
      expect(dry).toEqual({ matched: 2, changed: 1, skipped: { active: 1 }, next: null })
      expect(await probe.call<'cancelMany'>({ op: 'cancelMany', ...many })).toEqual({ matched: 2, changed: 2, skipped: {}, next: null })
      await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' } })
      expect([await stateOf(running), await stateOf(waiting)]).toEqual(['cancelled', 'cancelled'])
      const ids = [waiting, { ...bystander, enqueuedAt: 1 }]
      const retried = await probe.call<'retryMany'>({ op: 'retryMany', filter: {}, ids, limit: 10, dryRun: false })
      expect(retried).toEqual({ matched: 1, changed: 1, skipped: { notFound: 1 }, next: null })
      const first = await probe.call<'deleteMany'>({ op: 'deleteMany', filter: { tag: 't' }, limit: 1, dryRun: false })
      expect(first).toEqual({ matched: 1, changed: 1, skipped: {}, next: waiting.seq })
      const rest = await probe.call<'deleteMany'>({ op: 'deleteMany', ...many, before: waiting.seq })
      expect(rest).toEqual({ matched: 1, changed: 1, skipped: {}, next: null })
      expect(await probe.call<'get'>({ op: 'get', id: running })).toBeNull()
      expect(await stateOf(bystander)).not.toBe('cancelled')
    })

    test('flows: a job is let through once all that it waits for have ended, and can ask what became of them', async () => {
      const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
      const job = { name: 'a', data: null }
      const first = await probe.call<'flow'>({
        op: 'flow',
        nodes: [
          { ref: 'one', job, parents: [], onFailure: 'fail' },
          { ref: 'two', job, parents: [], onFailure: 'fail' },
          { ref: 'both', job: { ...job, data: '3' }, parents: [0, 1], onFailure: 'continue' },
          { ref: 'never', job, parents: [1], onFailure: 'fail' },
          { ref: 'after', job, parents: [3], onFailure: 'fail' },
        ],
      })
      expect(first.created).toBe(true)
      expect(await stateOf(key(2))).toBe('blocked')
      expect(await probe.call<'get'>({ op: 'get', id: key(2) })).toMatchObject({
        flow: { ref: 'both', parents: 2, onParentFailure: 'continue', first: { seq: first.seq } },
      })
      await probe.attach(['a'])
      const [one, two] = [await probe.grants.take(), await probe.grants.take()]
      const output = new Uint8Array([0, 255])
      await probe.call<'complete'>({ op: 'complete', seq: one.seq, run: one.run, output })
      await probe.call<'fail'>({ op: 'fail', seq: two.seq, run: two.run, error: { name: 'E', message: 'm' }, retry: false })
      const { seq, run } = await probe.grants.take()
      expect(seq).toBe(first.seq + 2)
      const { parents, next } = await probe.call<'parents'>({ op: 'parents', seq, run })
      expect(next).toBeNull()
      expect(parents).toMatchObject([
        { ref: 'one', state: 'completed' },
        { ref: 'two', state: 'failed', output: null, error: { name: 'E', message: 'm' } },
      ])
      expect(Uint8Array.from(parents[0]?.output as Uint8Array)).toEqual(output)
      await expect(probe.call<'parents'>({ op: 'parents', seq, run: run + 1 })).rejects.toMatchObject({ code: 'STALE_RUN' })
      expect(await probe.call<'watch'>({ op: 'watch', id: key(4) })).toMatchObject({
        state: 'failed',
        error: { name: 'ParentFailedError' },
      })
      expect(await stateOf(key(3))).toBe('failed')
      await expect(probe.call<'retry'>({ op: 'retry', id: key(4) })).rejects.toMatchObject({ code: 'PARENT_FAILED' })
    })

    test('flows: a tree is cancelled and retried as a whole, and nothing beside it', async () => {
      const job = { name: 'a', data: null }
      const nodes = [[], [0], [1], []].map((parents, index) => ({ ref: `${index}`, job, parents, onFailure: 'fail' as const }))
      const first = await probe.call<'flow'>({ op: 'flow', nodes, idempotencyKey: 'k' })
      expect(await probe.call<'flow'>({ op: 'flow', nodes, idempotencyKey: 'k' })).toEqual({ ...first, created: false })
      const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
      const states = async () => Promise.all([0, 1, 2, 3].map((place) => stateOf(key(place))))
      await expect(probe.call<'runNow'>({ op: 'runNow', id: key(1) })).rejects.toMatchObject({ code: 'JOB_BLOCKED' })
      expect(await probe.call<'cancelTree'>({ op: 'cancelTree', id: key(0) })).toBe('cancelled')
      expect(await probe.call<'watch'>({ op: 'watch', id: key(2) })).toEqual({ state: 'cancelled' })
      expect(await states()).toEqual(['cancelled', 'cancelled', 'cancelled', 'waiting'])
      expect(await probe.call<'cancelTree'>({ op: 'cancelTree', id: key(0) })).toBe('finished')
      await probe.call<'retryTree'>({ op: 'retryTree', id: key(0) })
      await probe.attach(['a'])
      for (let runs = 0; runs < 4; runs++) {
        const { seq, run } = await probe.grants.take()
        await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
      }
      expect(await states()).toEqual(['completed', 'completed', 'completed', 'completed'])
    })

    test('flows: one is read by the id of any of its jobs, a page at a time, with what each was told of those that it waits for', async () => {
      const job = { name: 'a', data: 'payload' }
      const flow = (nodes: readonly (readonly number[])[]) =>
        probe.call<'flow'>({
          op: 'flow',
          nodes: nodes.map((parents, index) => ({ ref: `n${index}`, job, parents, onFailure: 'ignore' })),
        })
      const before = await flow([[], [0]])
      const { created: _created, ...first } = await flow([[], [], [1, 0], [2]])
      await flow([[], [0]])
      const plain = await probe.enqueue('a')
      const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
      const page = await probe.call<'getFlow'>({ op: 'getFlow', id: key(3), limit: 3 })
      expect(page).toMatchObject({ first, next: { seq: key(3).seq, place: 0 } })
      expect(page?.jobs.map(({ seq, ref, state }) => [seq, ref, state])).toEqual([
        [key(0).seq, 'n0', 'waiting'],
        [key(1).seq, 'n1', 'waiting'],
        [key(2).seq, 'n2', 'blocked'],
      ])
      await probe.call<'cancel'>({ op: 'cancel', id: key(1) })
      expect(await stateOf(key(1))).toBe('cancelled')
      const rest = await probe.call<'getFlow'>({ op: 'getFlow', id: key(0), limit: 3, from: { seq: key(2).seq, place: 0 } })
      expect(rest).toEqual({
        first,
        jobs: [
          {
            ...{ seq: key(2).seq, ref: 'n2', name: 'a', queue: 'default', state: 'blocked', attempt: 0, onParentFailure: 'ignore' },
            ...{ runAt: expect.any(Number), startedAt: 0, finishedAt: 0, parents: 2 },
            dependsOn: [
              { seq: key(1).seq, ref: 'n1', told: 'cancelled' },
              { seq: key(0).seq, ref: 'n0', told: null },
            ],
          },
          expect.objectContaining({ ref: 'n3', dependsOn: [{ seq: key(2).seq, ref: 'n2', told: null }] }),
        ],
        next: null,
      })
      const beside = await probe.call<'getFlow'>({ op: 'getFlow', id: before, limit: 200 })
      expect(beside?.jobs.map(({ state }) => state)).toEqual(['waiting', 'blocked'])
      for (const id of [plain, { ...first, enqueuedAt: 1 }, { ...first, seq: 1_000_000 }])
        expect(await probe.call<'getFlow'>({ op: 'getFlow', id, limit: 1 })).toBeNull()
    })

    test('E3: a scheduled job waits for its time; runNow does not', async () => {
      await probe.attach(['a'])
      const id = await probe.enqueue('a', { delay: 3_600_000 })
      await probe.barrier()
      expect([probe.grants.size, await stateOf(id)]).toEqual([0, 'scheduled'])
      await probe.call<'runNow'>({ op: 'runNow', id })
      expect((await probe.grants.take()).seq).toBe(id.seq)
    })

    test('M2: limits of a queue and of its keys hold, for every worker, and are told', async () => {
      await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { concurrencyLimit: 2, perKeyLimit: 1 } })
      await probe.attach(['a'], { minConcurrency: 9, maxConcurrency: 9 })
      const ids: JobKey[] = []
      for (const concurrencyKey of ['k1', 'k1', 'k2', 'k3']) ids.push(await probe.enqueue('a', { queue: 'media', concurrencyKey }))
      const bystander = await probe.enqueue('a')
      const granted = [await probe.grants.take(), await probe.grants.take(), await probe.grants.take()]
      await probe.barrier()
      expect(probe.grants.size).toBe(0)
      expect(granted.map(({ seq }) => seq)).toEqual([ids[0]?.seq, ids[2]?.seq, bystander.seq])
      const [first] = granted
      await probe.call<'complete'>({ op: 'complete', seq: first?.seq as number, run: 1, output: null })
      const next = await probe.grants.take()
      await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { concurrencyLimit: null } })
      expect([next.seq, (await probe.grants.take()).seq].sort()).toEqual([ids[1]?.seq, ids[3]?.seq])
      expect(await probe.call<'queues'>({ op: 'queues', queue: 'media' })).toMatchObject([
        { name: 'media', settings: { perKeyLimit: 1 }, paused: false, pausedJobs: [], pausedKeys: [], states: { active: 3, completed: 1 } },
      ])
      expect(await probe.call<'queues'>({ op: 'queues', queue: 'none' })).toEqual([])
    })

    test('M2: a rate for each key holds its own jobs back, and is told', async () => {
      const perKeyRateLimit = { limit: 1, period: 86_400_000, burst: 1 }
      await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { perKeyRateLimit } })
      await probe.attach(['a'], { minConcurrency: 9, maxConcurrency: 9 })
      const ids: JobKey[] = []
      for (const concurrencyKey of ['k1', 'k1', 'k2']) ids.push(await probe.enqueue('a', { queue: 'media', concurrencyKey }))
      const bystander = await probe.enqueue('a', { queue: 'media' })
      const granted = [await probe.grants.take(), await probe.grants.take(), await probe.grants.take()]
      expect(granted.map(({ seq }) => seq)).toEqual([ids[0]?.seq, ids[2]?.seq, bystander.seq])
      await probe.call<'complete'>({ op: 'complete', seq: ids[0]?.seq as number, run: 1, output: null })
      await probe.barrier()
      expect(probe.grants.size).toBe(0)
      expect(await probe.call<'queues'>({ op: 'queues', queue: 'media' })).toMatchObject([{ settings: { perKeyRateLimit } }])
      await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { perKeyRateLimit: null } })
      expect((await probe.grants.take()).seq).toBe(ids[1]?.seq)
    })

    test('M2: where keys keep an order, a job that is to be tried again keeps its key', async () => {
      await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { keyOrder: 'strict' } })
      await probe.attach(['a', 'b'], { minConcurrency: 9, maxConcurrency: 9 })
      const ids: JobKey[] = []
      for (const [name, concurrencyKey] of [
        ['a', 'k1'],
        ['b', 'k1'],
        ['a', 'k2'],
      ] as const)
        ids.push(await probe.enqueue(name, { queue: 'media', concurrencyKey }))
      const granted = [await probe.grants.take(), await probe.grants.take()]
      expect(granted.map(({ seq }) => seq)).toEqual([ids[0]?.seq, ids[2]?.seq])
      const first = ids[0]?.seq as number
      await probe.call<'giveBack'>({ op: 'giveBack', seq: first, run: 1 })
      // Only this job starts, however long the other one has waited.
      expect(await probe.grants.take()).toMatchObject({ seq: first, run: 2 })
      await probe.call<'complete'>({ op: 'complete', seq: first, run: 2, output: null })
      expect((await probe.grants.take()).seq).toBe(ids[1]?.seq)
      const tooLate = probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { keyOrder: null } })
      await expect(tooLate).rejects.toMatchObject({ code: 'QUEUE_NOT_EMPTY', queue: 'media' })
    })

    test('M2: a pause holds a queue, a name or a key back, and no other', async () => {
      await probe.attach(['a', 'b'], { minConcurrency: 9, maxConcurrency: 9 })
      await probe.call<'pause'>({ op: 'pause', queue: 'media', paused: true })
      await probe.call<'pause'>({ op: 'pause', queue: 'default', job: 'b', paused: true })
      await probe.call<'pause'>({ op: 'pause', queue: 'default', key: 'k', paused: true })
      const [media, named, keyed] = [
        await probe.enqueue('a', { queue: 'media' }),
        await probe.enqueue('b'),
        await probe.enqueue('a', { concurrencyKey: 'k' }),
      ]
      const bystander = await probe.enqueue('a')
      expect((await probe.grants.take()).seq).toBe(bystander.seq)
      await probe.call<'pause'>({ op: 'pause', queue: 'default', key: 'k', paused: false })
      expect((await probe.grants.take()).seq).toBe(keyed.seq)
      await probe.call<'pause'>({ op: 'pause', queue: 'default', job: 'b', paused: false })
      expect((await probe.grants.take()).seq).toBe(named.seq)
      await probe.call<'pause'>({ op: 'pause', queue: 'media', paused: false })
      expect((await probe.grants.take()).seq).toBe(media.seq)
    })

    test('N8: a pause of all holds every queue back, and the next one; what each was told by itself stays', async () => {
      await probe.attach(['a'], { minConcurrency: 9, maxConcurrency: 9 })
      await probe.call<'pause'>({ op: 'pause', queue: 'media', paused: true })
      await probe.call<'pauseAll'>({ op: 'pauseAll', paused: true })
      expect((await probe.call<'stats'>({ op: 'stats' })).paused).toBe(true)
      const media = await probe.enqueue('a', { queue: 'media' })
      const later = await probe.enqueue('a', { queue: 'later' })
      expect(await probe.call<'get'>({ op: 'get', id: later })).toMatchObject({ state: 'waiting' })
      await probe.call<'pauseAll'>({ op: 'pauseAll', paused: false })
      expect((await probe.grants.take()).seq).toBe(later.seq)
      expect((await probe.call<'stats'>({ op: 'stats' })).paused).toBe(false)
      expect(await probe.call<'get'>({ op: 'get', id: media })).toMatchObject({ state: 'waiting' })
    })

    test('a full queue refuses new work, and takes it again when there is room', async () => {
      await probe.call<'configure'>({ op: 'configure', queue: 'default', changes: { maxLength: 1 } })
      const id = await probe.enqueue('a')
      const [reply] = await probe.settle([{ op: 'enqueue', jobs: [{ name: 'a', data: null }] }])
      expect(reply?.refusal).toMatchObject({ code: 'QUEUE_FULL', details: { queue: 'default', maxLength: 1 } })
      await probe.call<'cancel'>({ op: 'cancel', id })
      await probe.enqueue('a')
    })

    test('M2: a full queue that drops its oldest takes new work, and tells of whom it has dropped', async () => {
      await probe.call<'configure'>({ op: 'configure', queue: 'default', changes: { maxLength: 2, onFull: 'drop-oldest' } })
      const bystander = await probe.enqueue('a', { queue: 'media' })
      const ids = [await probe.enqueue('a', { priority: 5 }), await probe.enqueue('a', { delay: 60_000 })]
      const watched = probe.call<'watch'>({ op: 'watch', id: ids[0] as JobKey })
      ids.push(await probe.enqueue('b'))
      const error = { name: 'JobDroppedError', message: expect.stringContaining('oldest') }
      expect(await watched).toEqual({ state: 'cancelled', error })
      expect(await probe.call<'watch'>({ op: 'watch', id: ids[0] as JobKey })).toEqual({ state: 'cancelled', error })
      expect(await probe.call<'get'>({ op: 'get', id: ids[0] as JobKey })).toMatchObject({
        state: 'cancelled',
        attempts: [{ attempt: 0, error }],
      })
      const { events } = await probe.call<'events'>({ op: 'events', after: 0, filter: { types: ['cancelled'] } })
      expect(events).toMatchObject([{ jobSeq: ids[0]?.seq, error: error.name }])
      const three = Array.from({ length: 3 }, () => ({ name: 'a', data: null }))
      const [reply] = await probe.settle([{ op: 'enqueue', jobs: three }])
      expect(reply?.refusal).toMatchObject({ code: 'QUEUE_FULL', details: { queue: 'default', maxLength: 2 } })
      const [queue] = await probe.call<'queues'>({ op: 'queues', queue: 'default' })
      expect(queue).toMatchObject({
        settings: { maxLength: 2, onFull: 'drop-oldest' },
        states: { waiting: 1, scheduled: 1, cancelled: 1 },
      })
      expect(await probe.call<'get'>({ op: 'get', id: bystander })).toMatchObject({ state: 'waiting', attempts: [] })
    })

    test('a queue that is drained takes nothing new, and says when nothing of it is left; then it can be deleted', async () => {
      await probe.attach(['a'])
      const bystander = await probe.enqueue('b')
      await probe.enqueue('a', { queue: 'media' })
      const { seq, run } = await probe.grants.take()
      const drained = probe.call<'drainQueue'>({ op: 'drainQueue', queue: 'media' })
      await probe.barrier()
      const [refused, early] = await probe.settle([
        { op: 'enqueue', jobs: [{ name: 'a', data: null, queue: 'media' }] },
        { op: 'deleteQueue', queue: 'media' },
      ])
      expect(refused?.refusal).toMatchObject({ code: 'QUEUE_DRAINING', details: { queue: 'media' } })
      expect(early?.refusal).toMatchObject({ code: 'QUEUE_NOT_EMPTY', details: { queue: 'media', jobs: 1 } })
      await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
      expect(await drained).toBe(true)
      expect(await probe.call<'drainQueue'>({ op: 'drainQueue', queue: 'media' })).toBe(true)
      await probe.call<'deleteMany'>({ op: 'deleteMany', filter: { queue: 'media' }, limit: 9, dryRun: false })
      expect(await probe.call<'deleteQueue'>({ op: 'deleteQueue', queue: 'media' })).toBe(true)
      expect(await probe.call<'deleteQueue'>({ op: 'deleteQueue', queue: 'media' })).toBe(false)
      expect(await probe.call<'queues'>({ op: 'queues', queue: 'media' })).toEqual([])
      expect(await stateOf(bystander)).toBe('waiting')
      // Its events still have its name.
      const { events } = await probe.call<'events'>({ op: 'events', after: 0, filter: { queue: 'media', types: ['completed'] } })
      expect(events).toMatchObject([{ jobSeq: seq, queue: 'media', name: 'a' }])
    })

    test('a drain ends unfinished where its queue is resumed', async () => {
      await probe.enqueue('a', { queue: 'media' })
      const drained = probe.call<'drainQueue'>({ op: 'drainQueue', queue: 'media' })
      const refused = expect(drained).rejects.toMatchObject({ code: 'DRAIN_INCOMPLETE' })
      await probe.barrier()
      await probe.call<'pause'>({ op: 'pause', queue: 'media', paused: false })
      await refused
      await probe.enqueue('a', { queue: 'media' })
    })

    test('delete removes a job, not its neighbour; an active one is refused', async () => {
      const id = await probe.enqueue('a')
      const bystander = await probe.enqueue('b')
      await probe.call<'delete'>({ op: 'delete', id })
      expect(await probe.call<'get'>({ op: 'get', id })).toBe(null)
      expect(await stateOf(bystander)).toBe('waiting')
      await probe.attach(['b'])
      await probe.grants.take()
      expect((await probe.settle([{ op: 'delete', id: bystander }]))[0]?.refusal?.code).toBe('JOB_ACTIVE')
    })

    test('close-during-fetch-returns-job: a session that leaves gives back what it holds, uncounted', async () => {
      await probe.attach(['a'], { uuid: 's1' })
      await probe.enqueue('a', { maxAttempts: 1 })
      await probe.grants.take()
      await probe.call<'drain'>({ op: 'drain', session: 's1' })
      await probe.call<'leave'>({ op: 'leave', session: 's1' })
      await probe.attach(['a'], { uuid: 's2' })
      expect(await probe.grants.take()).toMatchObject({ session: 's2', run: 2, attempt: 1 })
    })

    test('attach names what a session holds: its own goes on, what it never received is given back, the rest is lost', async () => {
      await probe.attach(['a'], { uuid: 's1' })
      await probe.enqueue('a')
      await probe.enqueue('a')
      const kept = await probe.grants.take()
      const missed = await probe.grants.take()
      const reply = await probe.attach(['a'], { uuid: 's1' }, [
        { seq: kept.seq, run: kept.run },
        { seq: missed.seq, run: missed.run + 5 },
      ])
      expect(reply.lost).toEqual([{ seq: missed.seq, run: missed.run + 5 }])
      expect(await probe.grants.take()).toMatchObject({ seq: missed.seq, run: missed.run + 1, attempt: 1 })
      await probe.call<'complete'>({ op: 'complete', seq: kept.seq, run: kept.run, output: null })
    })

    test('E12: list by state, name and tag, newest first, page by page', async () => {
      const ids = []
      for (let job = 0; job < 5; job++) ids.push(await probe.enqueue(job % 2 === 0 ? 'even' : 'odd', job > 2 ? { tags: ['late'] } : {}))
      const list = async (filter: object, before?: number) =>
        probe.call<'list'>({ op: 'list', filter, limit: 2, ...(before !== undefined && { before }) })
      const seqs = (page: { jobs: readonly JobKey[] }) => page.jobs.map((job) => job.seq)
      const first = await list({ name: 'even' })
      expect(seqs(first)).toEqual([ids[4]?.seq, ids[2]?.seq])
      expect(seqs(await list({ name: 'even' }, first.next as number))).toEqual([ids[0]?.seq])
      expect(seqs(await list({ tag: 'late', state: 1 }))).toEqual([ids[4]?.seq, ids[3]?.seq])
      expect(seqs(await list({ queue: 'none' }))).toEqual([])
    })

    test('E12: statistics count every state', async () => {
      await probe.enqueue('a')
      await probe.enqueue('a', { delay: 1_000_000 })
      await probe.enqueue('b', { queue: 'q' })
      await probe.attach(['b'])
      await probe.grants.take()
      const stats = await probe.call<'stats'>({ op: 'stats' })
      expect(stats.states).toEqual({ scheduled: 1, waiting: 1, active: 1, blocked: 0, completed: 0, failed: 0, cancelled: 0 })
      expect(stats.queues['q']).toMatchObject({ active: 1, waiting: 0 })
      expect(stats.totals).toMatchObject({ enqueued: 3, completed: 0 })
      expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([
        { id: 'worker-1', names: ['b'], runningJobs: 1, runningWeight: 1, zombies: 0 },
      ])
    })

    test('Q4: a worker is told to stop, and gets no more', async () => {
      await probe.attach(['a'])
      const { seq } = await probe.enqueue('a')
      await probe.grants.take()
      await probe.call<'stopWorker'>({ op: 'stopWorker', worker: 'worker-1', timeout: 30_000 })
      expect(await probe.notices.take()).toEqual({ kind: 'stop', session: 'session-1', timeout: 30_000 })
      await probe.call<'stopWorker'>({ op: 'stopWorker', worker: 'worker-1', timeout: Number.POSITIVE_INFINITY })
      expect(await probe.notices.take()).toEqual({ kind: 'stop', session: 'session-1', timeout: Number.POSITIVE_INFINITY })
      const waiting = await probe.enqueue('a')
      await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
      await probe.barrier()
      expect([await stateOf(waiting), probe.grants.size]).toEqual(['waiting', 0])
      expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ id: 'worker-1', draining: true }])
      const refused = probe.call<'stopWorker'>({ op: 'stopWorker', worker: 'nobody', timeout: 0 })
      await expect(refused).rejects.toMatchObject({ code: 'WORKER_NOT_FOUND', retryable: false, workerId: 'nobody' })
    })

    scheduleConformance(() => probe)
    upkeepConformance(() => probe)

    test('events come after the commit, in one order without gaps', async () => {
      await probe.call<'subscribe'>({ op: 'subscribe', on: true })
      await probe.attach(['a'])
      const { seq } = await probe.enqueue('a')
      await probe.grants.take()
      await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
      const events = [await probe.events.take(), await probe.events.take(), await probe.events.take()]
      expect(events.map((event) => [event.type, event.jobSeq, event.run])).toEqual([
        ['enqueued', seq, 0],
        ['started', seq, 1],
        ['completed', seq, 1],
      ])
      expect(events.map((event) => event.seq - (events[0]?.seq ?? 0))).toEqual([0, 1, 2])
    })

    test('events by cursor: what is kept, then what is committed, each once and in order', async () => {
      const read = (after: number, filter = {}) => probe.call<'events'>({ op: 'events', after, filter })
      const early = await probe.enqueue('a')
      const kept = await read(0)
      expect(kept.events.filter(isJobEvent).map(({ type, jobSeq }) => [type, jobSeq])).toEqual([['enqueued', early.seq]])
      expect(kept.next).toBe(kept.events[0]?.seq)
      const waits = read(kept.next)
      const forOther = read(0, { name: 'b', types: ['enqueued'] })
      const late = await probe.enqueue('a')
      const page = await waits
      expect(page).toMatchObject({ events: [{ type: 'enqueued', jobSeq: late.seq, queue: 'default', name: 'a' }] })
      expect(page.events[0]?.seq).toBe(kept.next + 1)
      const other = await probe.enqueue('b')
      expect((await forOther).events).toMatchObject([{ jobSeq: other.seq, name: 'b' }])
      expect((await read(0, { id: late })).events).toMatchObject([{ jobSeq: late.seq }])
      expect((await read(0)).events.filter(isJobEvent).map(({ jobSeq }) => jobSeq)).toEqual([early.seq, late.seq, other.seq])
    })

    test('events of queues, schedules, workers and the engine, among those of jobs: pushed and by cursor, each once and in one order', async () => {
      const read = async (filter = {}) => (await probe.call<'events'>({ op: 'events', after: 0, filter })).events
      await probe.call<'subscribe'>({ op: 'subscribe', on: true })
      await probe.attach(['a'], { uuid: 'one', worker: 'w' })
      // Attaches again, as after a break.
      await probe.attach(['a'], { uuid: 'one', worker: 'w' })
      const pause = { op: 'pause', queue: 'q', job: 'a' } as const
      await probe.call<'pause'>({ ...pause, paused: true })
      await probe.call<'pause'>({ ...pause, paused: true })
      for (const paused of [true, true, false, false]) await probe.call<'pauseAll'>({ op: 'pauseAll', paused })
      const job = await probe.enqueue('b', { queue: 'q' })
      await probe.call<'configure'>({ op: 'configure', queue: 'q', changes: { maxLength: 9 } })
      const spec = { every: 3_600_000, jitter: 0, overlap: 'skip', catchUp: 'latest' } as const
      const upsert = { op: 'upsertSchedule', id: 's', spec, job: { name: 'c', data: null }, runImmediately: false } as const
      await probe.call<'upsertSchedule'>(upsert)
      await probe.call<'upsertSchedule'>(upsert)
      const [tick] = await probe.call<'triggerSchedule'>({ op: 'triggerSchedule', id: 's' })
      await probe.call<'deleteSchedule'>({ op: 'deleteSchedule', id: 's' })
      await probe.call<'drain'>({ op: 'drain', session: 'one' })
      await probe.call<'leave'>({ op: 'leave', session: 'one' })
      const { seq, node, enqueuedAt } = tick as Enqueued
      const expected = [
        { type: 'worker.attached', worker: 'w', session: 'one' },
        { type: 'queue.paused', queue: 'q', name: 'a' },
        { type: 'engine.paused' },
        { type: 'engine.resumed' },
        { type: 'queue.configured', queue: 'q' },
        { type: 'schedule.upserted', schedule: 's' },
        { type: 'schedule.triggered', schedule: 's', job: { seq, node, enqueuedAt } },
        { type: 'schedule.deleted', schedule: 's' },
        { type: 'worker.draining', worker: 'w', session: 'one' },
        { type: 'worker.left', worker: 'w', session: 'one' },
      ]
      const pushed: NewsEvent[] = []
      for (const _ of expected) pushed.push(await probe.news.take())
      expect(pushed).toMatchObject(expected)
      const kept = await read()
      expect(kept.map((event) => event.seq)).toEqual(kept.map((_, index) => index + 1))
      expect(kept.filter((event) => !isJobEvent(event))).toEqual(pushed)
      expect(kept.filter(isJobEvent).map(({ type, jobSeq }) => [type, jobSeq])).toEqual([
        ['enqueued', job.seq],
        ['enqueued', seq],
        ['deleted', seq],
      ])
      const typesOf = async (filter: object) => (await read(filter)).map(({ type }) => type)
      expect(await typesOf({ types: ['worker.left', 'queue.paused'] })).toEqual(['queue.paused', 'worker.left'])
      expect(await typesOf({ queue: 'q' })).toEqual(['queue.paused', 'enqueued', 'queue.configured'])
      expect(await typesOf({ name: 'b' })).toEqual(['enqueued'])
      expect(probe.news.size).toBe(0)
    })

    test('E25: how names fare, what a queue has done, and which kinds of failures there are', async () => {
      await probe.attach(['a'])
      const [done, failed] = [await probe.enqueue('a', { queue: 'q' }), await probe.enqueue('a', { queue: 'q', maxAttempts: 1 })]
      for (const _ of [done, failed]) {
        const { seq, run } = await probe.grants.take()
        if (seq === done.seq) await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
        else await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'TypeError', message: 'row 7' } })
      }
      const { names, writer } = await probe.call<'stats'>({ op: 'stats' })
      expect(names).toMatchObject([{ queue: 'q', name: 'a', started: 2, completed: 1, failed: 1 }])
      expect(names[0]?.runMs.p99).toBeGreaterThanOrEqual(names[0]?.runMs.p50 ?? 0)
      expect(writer).toMatchObject({ failedTurns: 0, journalBytes: expect.any(Number), mailboxDepth: expect.any(Number) })
      for (const step of ['minute', 'hour'] as const) {
        // The Ports' clocks are not the test's: a minute may end in between.
        const points = await probe.call<'history'>({ op: 'history', queue: 'q', step, from: 0 })
        const sum = (total: 'enqueued' | 'completed' | 'failed' | 'cancelled') => points.reduce((all, point) => all + point[total], 0)
        expect([sum('enqueued'), sum('completed'), sum('failed'), sum('cancelled')]).toEqual([2, 1, 1, 0])
      }
      expect(await probe.call<'history'>({ op: 'history', queue: 'q', step: 'hour', from: 0, to: 1 })).toEqual([])
      const { seq, node, enqueuedAt } = failed
      expect(await probe.call<'failures'>({ op: 'failures', queue: 'q', limit: 9 })).toMatchObject([
        { queue: 'q', name: 'a', error: 'TypeError', count: 1, message: 'row 7', job: { seq, node, enqueuedAt } },
      ])
      expect(await probe.call<'failures'>({ op: 'failures', name: 'b', limit: 9 })).toEqual([])
    })

    test('exports: what has ended comes whole until it is confirmed, and what ends next is told when it does', async () => {
      await probe.attach(['a'])
      const finish = async () => {
        const id = await probe.enqueue('a', { data: '1' })
        const { seq, run } = await probe.grants.take()
        await probe.call<'complete'>({ op: 'complete', seq, run, output: '2' })
        return id
      }
      const read = (upTo?: number) =>
        probe.call<'export'>({ op: 'export', name: 'archive', limit: 10, ...(upTo !== undefined && { upTo }) })
      const first = await finish()
      const page = await read()
      expect(page).toMatchObject({ jobs: [{ seq: first.seq, state: 'completed', data: '1', output: '2' }], missed: 0 })
      expect(await read()).toEqual(page)
      const waits = read(page.next)
      const second = await finish()
      expect((await waits).jobs).toMatchObject([{ seq: second.seq }])
      expect(await probe.call<'exports'>({ op: 'exports' })).toMatchObject([{ name: 'archive', cursor: page.next }])
      expect(await probe.call<'deleteExport'>({ op: 'deleteExport', name: 'archive' })).toBe(true)
      expect(await probe.call<'deleteExport'>({ op: 'deleteExport', name: 'archive' })).toBe(false)
      const [gone] = await probe.settle([{ op: 'export', name: 'archive', limit: 10, upTo: page.next }])
      expect(gone?.refusal?.code).toBe('UNSUPPORTED')
    })

    test('events by cursor: one that the journal does not have yet is a gap, and one that waits is given up', async () => {
      await probe.enqueue('a')
      const { next } = await probe.call<'events'>({ op: 'events', after: 0, filter: {} })
      expect(await probe.call<'events'>({ op: 'events', after: next + 10, filter: {} })).toMatchObject({
        events: [],
        next,
        gap: { after: next + 10, resumesAt: next + 1 },
      })
      const answered = probe.replied.length
      void probe.call<'events'>({ op: 'events', after: next, filter: {} })
      await probe.barrier()
      const barrier = Math.max(...probe.replied)
      await probe.call<'unwatch'>({ op: 'unwatch', request: barrier - 1 })
      await probe.enqueue('a')
      await probe.barrier()
      expect(probe.replied.slice(answered)).toEqual([barrier, barrier + 1, barrier + 2, barrier + 3])
    })
  })
}
