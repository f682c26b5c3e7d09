/** Tests limits, rates, pauses, and full queues, the same through every Port. */
import type { JobKey } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

export function queuesConformance(under: () => Probe): void {
  let probe: Probe
  beforeEach(() => {
    probe = under()
  })

  const stateOf = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.state

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

  test('M2: a session with a strict order of queues is handed jobs of the first one first', async () => {
    const session = { queues: ['urgent', 'media'], order: 'strict', minConcurrency: 1, maxConcurrency: 1 } as const
    for (const queue of ['default', 'media', 'urgent', 'media', 'urgent']) await probe.enqueue('a', { queue })
    expect(await probe.attach(['a'], session)).toEqual({ lost: [] })
    const order: string[] = []
    for (let job = 0; job < 4; job++) {
      const { seq, queue } = await probe.grants.take()
      order.push(queue)
      await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
    }
    await probe.barrier()
    expect([order, probe.grants.size]).toEqual([['urgent', 'urgent', 'media', 'media'], 0])
    expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ queues: ['urgent', 'media'], order: 'strict' }])
    expect(await probe.attach(['b'], { ...session, uuid: 'fair', order: 'fair' })).toEqual({ lost: [] })
    expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ order: 'strict' }, { order: 'fair' }])
  })

  test('M2: queues share a limit of running jobs, which says how many run', async () => {
    const sharedLimit = { name: 'smtp', limit: 2 }
    for (const queue of ['media', 'mail']) await probe.call<'configure'>({ op: 'configure', queue, changes: { sharedLimit } })
    await probe.attach(['a'], { minConcurrency: 9, maxConcurrency: 9 })
    for (const queue of ['media', 'mail', 'media', 'mail', 'default']) await probe.enqueue('a', { queue })
    const first = [await probe.grants.take(), await probe.grants.take(), await probe.grants.take()]
    expect(first.map(({ queue }) => queue).sort()).toEqual(['default', 'mail', 'media'])
    await probe.barrier()
    expect(probe.grants.size).toBe(0)
    const view = { settings: { sharedLimit }, sharedActive: 2, states: { active: 1, waiting: 1 } }
    expect(await probe.call<'queues'>({ op: 'queues', queue: 'media' })).toMatchObject([view])
    expect((await probe.call<'queues'>({ op: 'queues', queue: 'default' }))[0]).not.toHaveProperty('sharedActive')
    const { seq } = first.find(({ queue }) => queue === 'media') as (typeof first)[number]
    await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
    await probe.grants.take()
    await probe.call<'configure'>({ op: 'configure', queue: 'mail', changes: { sharedLimit: null } })
    await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { sharedLimit: null } })
    await probe.grants.take()
    await probe.barrier()
    expect(probe.grants.size).toBe(0)
  })

  test('M2: a job that fails permanently leaves a dead letter with its payload, text or bytes, and another queue none', async () => {
    await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { deadLetter: 'dead', defaults: { maxAttempts: 1 } } })
    await probe.attach(['a'], { minConcurrency: 9, maxConcurrency: 9, queues: ['media', 'default'] })
    const payloads = ['"text"', new Uint8Array([0, 255])]
    for (const data of payloads) await probe.enqueue('a', { queue: 'media', data })
    await probe.enqueue('a', { maxAttempts: 1 })
    for (const { seq } of [await probe.grants.take(), await probe.grants.take(), await probe.grants.take()])
      await probe.call<'fail'>({ op: 'fail', seq, run: 1, error: { name: 'E', message: 'm' } })
    await probe.attach(['a'], { minConcurrency: 9, maxConcurrency: 9, queues: ['dead'] })
    const letters = [await probe.grants.take(), await probe.grants.take()]
    // Some Ports give a Buffer, which is bytes too.
    expect(letters.map(({ data }) => (data instanceof Uint8Array ? new Uint8Array(data) : data))).toEqual(payloads)
    await probe.barrier()
    expect(probe.grants.size).toBe(0)
    expect(await probe.call<'queues'>({ op: 'queues', queue: 'dead' })).toMatchObject([{ states: { active: 2 }, totals: { enqueued: 2 } }])
    await expect(probe.call<'configure'>({ op: 'configure', queue: 'dead', changes: { deadLetter: 'dead' } })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    })
  })

  test('M2: the keys with the most waiting jobs are told, with those that run, and what is left of the rate', async () => {
    const keysOf = (queue: string, limit = 9) => probe.call<'queueKeys'>({ op: 'queueKeys', queue, limit })
    const rateLimit = { limit: 4, period: 86_400_000, burst: 4 }
    await probe.call<'configure'>({ op: 'configure', queue: 'media', changes: { perKeyLimit: 1, rateLimit } })
    const rate = async () => (await probe.call<'queues'>({ op: 'queues', queue: 'media' }))[0]?.rate
    expect(await rate()).toEqual({ tokens: 4, nextAt: 0 })
    for (const concurrencyKey of ['few', 'many', 'many', 'many', 'few', 'one', 'many'])
      await probe.enqueue('a', { queue: 'media', concurrencyKey })
    await probe.enqueue('a', { queue: 'media' })
    await probe.enqueue('a', { concurrencyKey: 'other' })
    await probe.call<'pause'>({ op: 'pause', queue: 'media', key: 'held', paused: true })
    const before = [
      { key: 'many', waiting: 4, active: 0, paused: false },
      { key: 'few', waiting: 2, active: 0, paused: false },
      { key: 'one', waiting: 1, active: 0, paused: false },
      { key: 'held', waiting: 0, active: 0, paused: true },
    ]
    expect(await keysOf('media')).toEqual({ keys: before, known: 4, tracked: true })
    expect(await keysOf('media', 1)).toMatchObject({ keys: [{ key: 'many' }], known: 4 })
    await probe.attach(['a'], { queues: ['media'], minConcurrency: 9, maxConcurrency: 9 })
    for (let jobs = 0; jobs < 4; jobs++) await probe.grants.take()
    await probe.barrier()
    expect((await keysOf('media'))?.keys).toEqual([
      { key: 'many', waiting: 3, active: 1, paused: false },
      { key: 'few', waiting: 1, active: 1, paused: false },
      { key: 'one', waiting: 0, active: 1, paused: false },
      { key: 'held', waiting: 0, active: 0, paused: true },
    ])
    expect(await rate()).toEqual({ tokens: 0, nextAt: expect.any(Number) })
    expect((await rate())?.nextAt).toBeGreaterThan(0)
    expect(await keysOf('default')).toEqual({ keys: [], known: 0, tracked: false })
    expect((await probe.call<'queues'>({ op: 'queues', queue: 'default' }))[0]).not.toHaveProperty('rate')
    expect(await keysOf('none')).toBeNull()
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
}
