/** Tests creating jobs, changing them, and bringing them back, the same through every Port. */
import { FAILED, formatId, type JobKey, type JobView } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

export function jobsConformance(under: () => Probe): void {
  let probe: Probe
  beforeEach(() => {
    probe = under()
  })

  const stateOf = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.state

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

  test('a cancel that says why, and by whom: the job has it, its session is told, and so is who waits for it', async () => {
    const said = { reason: 'wrong "file"\0 \u{1F600}', by: 'ada' }
    const waiting = await probe.enqueue('a', { tags: ['t'] })
    const bystander = await probe.enqueue('a')
    await probe.call<'cancel'>({ op: 'cancel', id: waiting, ...said })
    const told = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.cancellation
    expect([await told(waiting), await told(bystander)]).toEqual([said, undefined])
    expect(await probe.call<'watch'>({ op: 'watch', id: waiting })).toEqual({ state: 'cancelled', ...said })
    await probe.attach(['a'])
    const { seq, run } = await probe.grants.take()
    expect(seq).toBe(bystander.seq)
    await probe.call<'cancelTree'>({ op: 'cancelTree', id: bystander, ...said })
    expect(await probe.notices.take()).toEqual({ kind: 'abort', cause: 'cancel', session: 'session-1', seq, run, ...said })
    await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
    const { jobs } = await probe.call<'list'>({ op: 'list', filter: {}, limit: 9 })
    expect(jobs.map(({ cancellation }) => cancellation)).toEqual([said, said])
    await probe.call<'retry'>({ op: 'retry', id: waiting })
    expect(await told(waiting)).toBeUndefined()
  })

  test('a handler cancels its own job: with its worker as who did it', async () => {
    await probe.attach(['a'])
    const [id, bystander] = [await probe.enqueue('a'), await probe.enqueue('a')]
    const { seq, run } = await probe.grants.take()
    const error = { name: 'CancelJobError', message: 'no longer wanted' }
    expect(seq).toBe(id.seq)
    await probe.call<'fail'>({ op: 'fail', seq, run, error, retry: false, cancel: true })
    const view = await probe.call<'get'>({ op: 'get', id })
    expect(view).toMatchObject({ state: 'cancelled', cancellation: { reason: 'no longer wanted', by: expect.any(String) } })
    expect(view?.attempts).toMatchObject([{ run: 1, attempt: 1, error }])
    expect(await stateOf(bystander)).toBe('active')
  })

  test('E11: update before the start; JOB_ACTIVE and JOB_FINISHED after', async () => {
    const id = await probe.enqueue('a', { data: '1' })
    const bystander = await probe.enqueue('a', { data: '1' })
    const backoff = { type: 'linear', delay: 7, jitter: 'full' } as const
    const ofRuns = { priority: 9, weight: 2, maxAttempts: 7, timeout: Number.POSITIVE_INFINITY, backoff }
    await probe.call<'update'>({ op: 'update', id, changes: { data: '2', checkpoint: '3', ...ofRuns } })
    expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ data: '2', checkpoint: '3', ...ofRuns })
    const untouched = { data: '1', priority: 0, weight: 1, checkpoint: null, maxAttempts: 4, timeout: 300_000, backoff: { delay: 20_000 } }
    expect(await probe.call<'get'>({ op: 'get', id: bystander })).toMatchObject(untouched)
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

  test('a job by its keys: read, changed, released, cancelled', async () => {
    const options = { unique: { key: 'k', onConflict: 'skip' }, idempotencyKey: 'i', delay: 60_000 } as const
    const { seq } = await probe.enqueue('a', options)
    const bystander = await probe.enqueue('b', options)
    const keys = [
      { kind: 'unique', name: 'a', key: 'k' },
      { kind: 'idempotency', name: 'a', key: 'i' },
    ] as const
    for (const of of keys) {
      const changes = { tags: [of.key], priority: 2 }
      expect(await probe.call<'byKey'>({ op: 'byKey', of, call: 'update', changes })).toBe(true)
      expect(await probe.call<'getByKey'>({ op: 'getByKey', of, payloadBytes: 0 })).toMatchObject({ seq, ...changes, data: null })
    }
    const [of, other] = keys
    expect(await probe.call<'byKey'>({ op: 'byKey', of, call: 'release' })).toBe(true)
    expect(await probe.call<'byKey'>({ op: 'byKey', of, call: 'release' })).toBe(false)
    expect(await probe.call<'getByKey'>({ op: 'getByKey', of })).toBeNull()
    expect((await probe.settle([{ op: 'byKey', of, call: 'cancel' }]))[0]?.refusal?.code).toBe('JOB_NOT_FOUND')
    expect(await probe.call<'byKey'>({ op: 'byKey', of: other, call: 'cancel' })).toBe('cancelled')
    expect(await probe.call<'get'>({ op: 'get', id: bystander })).toMatchObject({ state: 'scheduled', priority: 0, uniqueKey: 'k' })
  })

  test('a unique key until the start: held while the job waits, free while it runs and once it is back in line', async () => {
    const unique = { key: 'k', onConflict: 'error', until: 'start' } as const
    const first = await probe.enqueue('a', { unique })
    const bystander = await probe.enqueue('b', { unique })
    expect((await probe.settle([{ op: 'enqueue', jobs: [{ name: 'a', data: null, unique }] }]))[0]?.refusal?.code).toBe('UNIQUE_CONFLICT')
    await probe.attach(['a'])
    const { seq, run } = await probe.grants.take()
    expect(seq).toBe(first.seq)
    const second = await probe.enqueue('a', { unique, delay: 60_000 })
    await probe.call<'snooze'>({ op: 'snooze', seq, run, delay: 60_000 })
    await probe.call<'cancel'>({ op: 'cancel', id: first })
    expect(await probe.call<'getByKey'>({ op: 'getByKey', of: { kind: 'unique', name: 'a', key: 'k' } })).toMatchObject({ seq: second.seq })
    expect(await probe.call<'get'>({ op: 'get', id: bystander })).toMatchObject({ state: 'waiting', uniqueKey: 'k' })
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
      (await probe.settle([{ op: 'enqueue', jobs: [{ name: 'a', data: null, unique: { key: 'k', onConflict: 'replace' } }] }]))[0]?.refusal
        ?.code,
    ).toBe('JOB_ACTIVE')
    await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
    expect((await probe.enqueue('a', { unique })).created).toBe(true)
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

  test('bulk calls judge by every filter, and say how many they know', async () => {
    await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
    const [failed, bystander] = [await probe.enqueue('a', { concurrencyKey: 'k', maxAttempts: 1 }), await probe.enqueue('b')]
    const { seq, run } = await probe.grants.take()
    await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' } })
    const { finishedAt } = (await probe.call<'get'>({ op: 'get', id: failed })) as JobView
    const ask = (filter: object, of: object = {}) => probe.call<'deleteMany'>({ op: 'deleteMany', filter, limit: 10, dryRun: false, ...of })
    const none = { matched: 0, changed: 0, next: null }
    for (const filter of [
      { key: 'other' },
      { finishedBefore: finishedAt },
      { finishedAfter: finishedAt + 1 },
      { retrying: true },
      { schedule: 'k' },
    ])
      expect(await ask(filter)).toMatchObject(none)
    expect(await ask({ key: 'other' }, { ids: [failed] })).toMatchObject({ ...none, skipped: { notFound: 1 } })
    expect(await ask({ key: 'k' }, { ids: [] })).toMatchObject(none)
    for (const filter of [{ error: 'F' }, { worker: 'w-2' }, { fingerprint: 7 }]) expect(await ask(filter)).toMatchObject(none)
    expect(await ask({ error: 'E', state: FAILED }, { dryRun: true })).toMatchObject({ ...none, matched: 1, changed: 1 })
    expect(await ask({ name: 'a' }, { dryRun: true, search: 'K' })).toMatchObject({ ...none, matched: 1, changed: 1 })
    expect(await ask({}, { search: 'nowhere' })).toMatchObject(none)
    expect(await ask({ error: 'E' }, { ids: [failed] })).toMatchObject(none)
    expect(await ask({ key: 'k', finishedBefore: finishedAt + 1, state: FAILED })).toMatchObject({ ...none, matched: 1, changed: 1 })
    expect(await probe.call<'get'>({ op: 'get', id: failed })).toBeNull()
    expect(await stateOf(bystander)).toBe('waiting')
    expect(await ask({ enqueuedBefore: bystander.enqueuedAt })).toMatchObject(none)
    expect(await ask({ enqueuedAfter: bystander.enqueuedAt, retrying: false })).toMatchObject({ ...none, matched: 1, changed: 1 })
  })

  test('E3: a scheduled job waits for its time; runNow does not', async () => {
    await probe.attach(['a'])
    const id = await probe.enqueue('a', { delay: 3_600_000 })
    await probe.barrier()
    expect([probe.grants.size, await stateOf(id)]).toEqual([0, 'scheduled'])
    await probe.call<'runNow'>({ op: 'runNow', id })
    expect((await probe.grants.take()).seq).toBe(id.seq)
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
}
