/** Tests results, lists, statistics, events and exports, the same through every Port. */
import {
  ACTIVE,
  CANCELLED,
  type Enqueued,
  FAILED,
  type FailuresOrder,
  type HistoryColumns,
  type HistoryOfQueues,
  type HistoryPoint,
  isJobEvent,
  JOB_TEXT_NAMES,
  type JobKey,
  type JobView,
  type ListFilter,
  type ListPage,
  SCHEDULED,
  type SystemEvent,
  WAITING,
} from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

export function readingConformance(under: () => Probe): void {
  let probe: Probe
  beforeEach(() => {
    probe = under()
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

  test('E12: list by state, name and tag, newest first, page by page', async () => {
    const ids = []
    for (let job = 0; job < 5; job++) ids.push(await probe.enqueue(job % 2 === 0 ? 'even' : 'odd', job > 2 ? { tags: ['late'] } : {}))
    const list = async (filter: object, before?: number) =>
      probe.call<'list'>({ op: 'list', filter, limit: 2, ...(before !== undefined && { before }) })
    const seqs = (page: { jobs: readonly JobKey[] }) => page.jobs.map((job) => job.seq)
    const first = await list({ name: 'even' })
    expect(seqs(first)).toEqual([ids[4]?.seq, ids[2]?.seq])
    expect(seqs(await list({ name: 'even' }, first.next as number))).toEqual([ids[0]?.seq])
    expect(seqs(await list({ tag: 'late', state: WAITING }))).toEqual([ids[4]?.seq, ids[3]?.seq])
    expect(seqs(await list({ queue: 'none' }))).toEqual([])
  })

  test.each(JOB_TEXT_NAMES)('%s stays with its job, which lists show with it, and which a search for it finds', async (text) => {
    const bystander = await probe.enqueue('a')
    const job = await probe.enqueue('a', { [text]: 'Ada’s 7th' })
    const [shown, other] = [await probe.call<'get'>({ op: 'get', id: job }), await probe.call<'get'>({ op: 'get', id: bystander })]
    expect([shown?.[text], other?.[text]]).toEqual(['Ada’s 7th', null])
    const list = async (more: object) => (await probe.call<'list'>({ op: 'list', filter: {}, limit: 9, ...more })).jobs
    expect((await list({})).map((each) => each[text])).toEqual(['Ada’s 7th', null])
    expect((await list({ search: 'ada’s' })).map(({ seq }) => seq)).toEqual([job.seq])
  })

  test('lists by each filter, and in each order, page by page', async () => {
    await probe.attach(['a'], { worker: 'w-1', minConcurrency: 1, maxConcurrency: 1 })
    const extras = { concurrencyKey: 'k' }
    const [failed, retrying] = [await probe.enqueue('a', { ...extras, maxAttempts: 1 }), await probe.enqueue('a', { ...extras })]
    for (const _ of [failed, retrying]) {
      const { seq, run } = await probe.grants.take()
      await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' }, retry: seq === failed.seq ? false : 3_600_000 })
    }
    const [later, sooner] = [await probe.enqueue('b', { delay: 7_200_000 }), await probe.enqueue('b', { delay: 1_800_000 })]
    const second = await probe.enqueue('a', { ...extras, maxAttempts: 1 })
    const { seq, run } = await probe.grants.take()
    await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'E', message: 'm' }, retry: false })
    const all = [failed, retrying, later, sooner, second]
    const rows = await Promise.all(all.map((id) => probe.call<'get'>({ op: 'get', id })))
    const endedAt = rows.at(-1)?.finishedAt as number
    const seqs = async (filter: object, of: object = {}) =>
      (await probe.call<'list'>({ op: 'list', filter, limit: 9, ...of })).jobs.map((job) => job.seq)
    expect(await seqs({ key: 'k' })).toEqual([second.seq, retrying.seq, failed.seq])
    expect(await seqs({ key: 'K' })).toEqual([])
    expect(await seqs({ schedule: 'k' })).toEqual([])
    expect(await seqs({ retrying: true })).toEqual([retrying.seq])
    expect(await seqs({ retrying: false, state: SCHEDULED })).toEqual([sooner.seq, later.seq])
    expect(await seqs({ enqueuedAfter: failed.enqueuedAt, key: 'k' })).toEqual([second.seq, retrying.seq, failed.seq])
    expect(await seqs({ enqueuedBefore: failed.enqueuedAt })).toEqual([])
    expect(await seqs({ finishedAfter: 0 })).toEqual([second.seq, failed.seq])
    expect(await seqs({ finishedAfter: endedAt + 1 })).toEqual([])
    expect(await seqs({ finishedBefore: endedAt + 1 }, { search: 'a' })).toEqual([second.seq, failed.seq])
    for (const filter of [{ error: 'E' }, { worker: 'w-1' }]) expect(await seqs(filter)).toEqual([second.seq, retrying.seq, failed.seq])
    for (const filter of [
      { error: 'F' },
      { error: 'E', state: SCHEDULED, name: 'b' },
      { error: 'E', state: ACTIVE },
      { worker: 'w-2' },
      { fingerprint: 7 },
    ])
      expect(await seqs(filter)).toEqual([])
    const [group] = await probe.call<'failures'>({ op: 'failures', limit: 9 })
    const fingerprint = Number.parseInt(group?.fingerprint ?? '', 16)
    expect(await seqs({ fingerprint, state: FAILED })).toEqual([second.seq, failed.seq])
    expect(await seqs({ fingerprint })).toEqual([second.seq, retrying.seq, failed.seq])
    const active = await probe.enqueue('a')
    await probe.grants.take()
    expect(await seqs({ worker: 'w-1', state: ACTIVE })).toEqual([active.seq])
    expect(await seqs({ worker: 'w-2', state: ACTIVE })).toEqual([])
    // Its data is not in the memory of the engine. The worker attaches as another one, which gives back the run before.
    const running = await probe.enqueue('c', { data: '{"customer":7,"of":["x"]}', meta: '{"by":"ann"}' })
    await probe.attach(['c'], { worker: 'w-3', minConcurrency: 1, maxConcurrency: 1 })
    await probe.grants.take()
    for (const filter of [{ data: '{"customer":7}' }, { data: '{"of":["x"]}', state: ACTIVE }, { meta: '{"by":"ann"}', states: [0, 2] }]) {
      expect(await seqs(filter)).toEqual([running.seq])
      const many = { op: 'cancelMany', filter, limit: 9, dryRun: true } as const
      expect(await probe.call<'cancelMany'>({ ...many, filter: filter as ListFilter })).toMatchObject({ matched: 1, changed: 1 })
    }
    expect(await seqs({ data: '{"customer":70}' })).toEqual([])
    expect(await seqs({ states: [2, 5] }, { ascending: true })).toEqual([failed.seq, second.seq, running.seq])
    expect(await seqs({ states: [2, 5] }, { ascending: true, before: second.seq })).toEqual([running.seq])
    expect(await seqs({ state: ACTIVE }, { ascending: true, limit: 1 })).toEqual([running.seq])
    const inPages = async (filter: object, order: 'finished' | 'due') => {
      const found: number[] = []
      for (let place: object | null = {}; place !== null; ) {
        const { jobs, next, nextAt }: ListPage = await probe.call<'list'>({ op: 'list', filter, limit: 1, order, ...place })
        found.push(...jobs.map((job) => job.seq))
        place = next === null ? null : { before: next, beforeAt: nextAt }
      }
      return found
    }
    expect(await inPages({ state: SCHEDULED }, 'due')).toEqual([sooner.seq, retrying.seq, later.seq])
    expect(await inPages({ state: SCHEDULED, name: 'b' }, 'due')).toEqual([sooner.seq, later.seq])
    expect(await inPages({ state: FAILED }, 'finished')).toEqual([second.seq, failed.seq])
    await probe.call<'cancel'>({ op: 'cancel', id: later })
    await probe.call<'cancel'>({ op: 'cancel', id: sooner })
    expect(await inPages({ state: CANCELLED }, 'finished')).toEqual([sooner.seq, later.seq])
    const wrong = probe.call<'list'>({ op: 'list', filter: { state: WAITING }, limit: 1, order: 'due' })
    await expect(wrong).rejects.toMatchObject({ code: 'OPTION_RANGE', option: 'order' })
  })

  test('payloads: whole, cut to so many bytes, left out, or one alone', async () => {
    const id = await probe.enqueue('a', { data: '"grün"', maxAttempts: 1 })
    await probe.attach(['a'])
    const { seq, run } = await probe.grants.take()
    await probe.call<'complete'>({ op: 'complete', seq, run, output: new Uint8Array([1, 2, 3]) })
    // Bytes are of another class on the engine's own thread.
    const plain = (job: JobView | null | undefined) => job && { ...job, output: job.output === null ? null : [...job.output] }
    const get = async (of: object) => plain(await probe.call<'get'>({ op: 'get', id, ...of }))
    const list = async (of: object) => plain((await probe.call<'list'>({ op: 'list', filter: {}, limit: 1, ...of })).jobs[0])
    const bytes = { data: 7, output: 3, checkpoint: null }
    for (const ask of [get, list]) {
      expect(await ask({})).toMatchObject({ data: '"grün"', output: [1, 2, 3] })
      expect(await ask({})).not.toHaveProperty('bytes')
      // The fourth byte is in the middle of a character.
      expect(await ask({ payloadBytes: 4 })).toMatchObject({ data: '"gr', output: [1, 2, 3], bytes })
      expect(await ask({ payloadBytes: 2 })).toMatchObject({ data: '"g', output: [1, 2], bytes })
      expect(await ask({ payloadBytes: 0 })).toMatchObject({ data: null, output: null, bytes })
    }
    expect(await get({ only: 'data' })).toMatchObject({ data: '"grün"', output: null, attempts: [] })
    expect(await get({ only: 'output' })).toMatchObject({ data: null, output: [1, 2, 3] })
    expect((await get({ payloadBytes: 0 }))?.attempts).toHaveLength(1)
  })

  test('a list with the last run of each job: its worker and its error', async () => {
    await probe.attach(['a'], { worker: 'w-1' })
    const [failing, running] = [await probe.enqueue('a', { maxAttempts: 2 }), await probe.enqueue('a')]
    for (const _ of [failing, running]) {
      const { seq, run } = await probe.grants.take()
      const error = { name: 'TypeError', message: 'x'.repeat(400), stack: 'at y' }
      if (seq === failing.seq) await probe.call<'fail'>({ op: 'fail', seq, run, error, retry: 3_600_000 })
    }
    const never = await probe.enqueue('b')
    const list = (of: object) => probe.call<'list'>({ op: 'list', filter: {}, limit: 9, ...of })
    const { jobs } = await list({ lastRun: true })
    expect(jobs.map(({ seq, lastRun }) => ({ seq, lastRun }))).toEqual([
      { seq: never.seq, lastRun: null },
      { seq: running.seq, lastRun: { run: 1, startedAt: expect.any(Number), endedAt: 0, worker: 'w-1' } },
      {
        seq: failing.seq,
        lastRun: {
          run: 1,
          startedAt: expect.any(Number),
          endedAt: expect.any(Number),
          worker: 'w-1',
          error: { name: 'TypeError', message: 'x'.repeat(300) },
        },
      },
    ])
    const [active] = (await list({ filter: { state: ACTIVE }, lastRun: true })).jobs
    expect(active).toMatchObject({ seq: running.seq, lastRun: { worker: 'w-1' }, attempts: [] })
    for (const job of (await list({})).jobs) expect(job).not.toHaveProperty('lastRun')
  })

  test('E12: statistics count every state', async () => {
    const { node } = await probe.enqueue('a')
    await probe.enqueue('a', { delay: 1_000_000 })
    await probe.enqueue('b', { queue: 'q' })
    await probe.attach(['b'])
    await probe.grants.take()
    const stats = await probe.call<'stats'>({ op: 'stats' })
    expect(stats.retrying).toBe(0)
    expect(stats.states).toEqual({ scheduled: 1, waiting: 1, active: 1, blocked: 0, completed: 0, failed: 0, cancelled: 0 })
    expect(stats.node).toBe(node)
    const last = await probe.call<'events'>({ op: 'events', after: stats.seq - 1, filter: {} })
    expect(last.events.map(({ seq }) => seq)).toEqual([stats.seq])
    expect(stats.queues['q']).toMatchObject({ active: 1, waiting: 0 })
    expect(stats.totals).toMatchObject({ enqueued: 3, completed: 0 })
    expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([
      { id: 'worker-1', names: ['b'], runningJobs: 1, runningWeight: 1, zombies: 0 },
    ])
  })

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
    const [attached] = await probe.call<'workers'>({ op: 'workers' })
    const session = String(attached?.session)
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
      { type: 'worker.attached', worker: 'w', session },
      { type: 'queue.paused', queue: 'q', name: 'a' },
      { type: 'engine.paused' },
      { type: 'engine.resumed' },
      { type: 'queue.configured', queue: 'q' },
      { type: 'schedule.upserted', schedule: 's' },
      { type: 'schedule.triggered', schedule: 's', job: { seq, node, enqueuedAt } },
      { type: 'schedule.deleted', schedule: 's' },
      { type: 'worker.draining', worker: 'w', session },
      { type: 'worker.left', worker: 'w', session },
    ]
    const pushed: SystemEvent[] = []
    for (const _ of expected) pushed.push(await probe.systemEvents.take())
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
    expect(probe.systemEvents.size).toBe(0)
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
    expect(names).toMatchObject([{ queue: 'q', name: 'a', started: 2, completed: 1, failed: 1, interrupted: 0 }])
    expect(names[0]?.runMs.p99).toBeGreaterThanOrEqual(names[0]?.runMs.p50 ?? 0)
    expect(writer).toMatchObject({ failedTurns: 0, journalBytes: expect.any(Number), mailboxDepth: expect.any(Number) })
    const brief = await probe.call<'stats'>({ op: 'stats', names: 'percentiles' })
    expect(Object.keys(brief.names[0]?.waitMs ?? {})).toEqual(['p50', 'p95', 'p99'])
    expect((await probe.call<'stats'>({ op: 'stats', names: 'none' })).names).toEqual([])
    for (const step of ['minute', 'hour'] as const) {
      // The Ports' clocks are not the test's: a minute may end in between.
      const points = (await probe.call<'history'>({ op: 'history', queue: 'q', step, from: 0 })) as readonly HistoryPoint[]
      const sum = (total: 'enqueued' | 'completed' | 'failed' | 'cancelled') => points.reduce((all, point) => all + point[total], 0)
      expect([sum('enqueued'), sum('completed'), sum('failed'), sum('cancelled')]).toEqual([2, 1, 1, 0])
    }
    expect(await probe.call<'history'>({ op: 'history', queue: 'q', step: 'hour', from: 0, to: 1 })).toEqual([])
    await probe.enqueue('b', { queue: '__proto__' })
    const all = (await probe.call<'history'>({ op: 'history', queue: 'default', step: 'hour', from: 0, busiest: 1 })) as HistoryOfQueues
    const sumOf = ({ enqueued, completed, failed, cancelled }: HistoryColumns) =>
      [enqueued, completed, failed, cancelled].map((counts) => counts.reduce((sum, count) => sum + count, 0))
    expect(sumOf(all.total)).toEqual([3, 1, 1, 0])
    expect(all.queues.map((queue) => [queue.name, sumOf(queue)])).toEqual([['q', [2, 1, 1, 0]]])
    expect(all.total.enqueued).toHaveLength(14 * 24 + 1)
    const { seq, node, enqueuedAt } = failed
    expect(await probe.call<'failures'>({ op: 'failures', queue: 'q', limit: 9 })).toMatchObject([
      { queue: 'q', name: 'a', error: 'TypeError', count: 1, message: 'row 7', job: { seq, node, enqueuedAt } },
    ])
    expect(await probe.call<'failures'>({ op: 'failures', name: 'b', limit: 9 })).toEqual([])
  })

  test('kinds of failures: those seen last first, or those with the most runs', async () => {
    await probe.attach(['a'])
    for (const message of ['often', 'often', 'often', 'twice', 'twice', 'once']) {
      await probe.enqueue('a', { maxAttempts: 1 })
      const { seq, run } = await probe.grants.take()
      await probe.call<'fail'>({ op: 'fail', seq, run, error: { name: 'Error', message } })
    }
    const kinds = async (order?: FailuresOrder, limit = 9) =>
      (await probe.call<'failures'>({ op: 'failures', limit, ...(order !== undefined && { order }) })).map(({ count }) => count)
    expect(await kinds('count')).toEqual([3, 2, 1])
    expect(await kinds('count', 1)).toEqual([3])
    // The Ports' clocks may not move between two of them.
    expect((await kinds('last')).toSorted()).toEqual([1, 2, 3])
    expect(await kinds()).toEqual(await kinds('last'))
    const [often] = await probe.call<'failures'>({ op: 'failures', limit: 1, order: 'count', trend: 'hour' })
    expect(often?.trend).toHaveLength(24)
    // The Ports' clocks are not the test's: an hour may end in between.
    expect(often?.trend?.slice(-2).reduce((sum, runs) => sum + runs)).toBe(3)
    expect((await probe.call<'failures'>({ op: 'failures', limit: 1 }))[0]).not.toHaveProperty('trend')
  })

  test('exports: what has ended comes whole until it is confirmed, and what ends next is told when it does', async () => {
    await probe.attach(['a'])
    const finish = async () => {
      const id = await probe.enqueue('a', { data: '1' })
      const { seq, run } = await probe.grants.take()
      await probe.call<'complete'>({ op: 'complete', seq, run, output: '2' })
      return id
    }
    const read = (upTo?: number) => probe.call<'export'>({ op: 'export', name: 'archive', limit: 10, ...(upTo !== undefined && { upTo }) })
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
}
