// The Python client beside a real daemon: many jobs at once, the settings of queues, figures, and why jobs wait. Each write has a bystander.
import { join } from 'node:path'
import { CAUSES } from '@millrace/core'
import { defineJob, type Engine } from '@millrace/engine'
import { beforeEach, expect, test } from 'vitest'
import { attached, startDaemon } from '../app/daemon.ts'
import { temporaryFolder } from '../temporary.ts'
import { HAS_PYTHON, startPython as program } from './python.ts'

const KINDS = ['blocking', 'asyncio']

beforeEach(({ skip }) => {
  if (!HAS_PYTHON) skip('no python3 of 3.8 or newer on this machine')
})

/** A daemon, an engine that is attached to it, and its address. */
async function serving() {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const engine = await attached(daemon, folder)
  const { sockets } = await daemon.serving
  return { engine, url: sockets[0] as string }
}

async function linesOf(name: string, ...args: string[]): Promise<unknown[]> {
  const run = program(name, ...args)
  expect(await run.ended).toMatchObject({ code: 0, stderr: '' })
  return run.lines.map((line) => JSON.parse(line))
}

const all = (state: string, count: number) => Array.from({ length: count }, () => state)
const none = { blocked: 0, scheduled: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 }

test.each(KINDS)('the %s client changes the jobs that a filter, ids or a key names, and no other', async (kind) => {
  const { url } = await serving()
  expect(await linesOf('bulk', kind, url)).toEqual([
    { none: [3, 3, {}], left: true },
    { cancelled: [2, 2, {}], states: ['scheduled', 'scheduled', 'cancelled', 'scheduled', 'cancelled', 'scheduled'] },
    { by: ['ada', 'wrong', null] },
    { again: [4, 3, { cancelled: 1 }], states: [...all('cancelled', 5), 'scheduled'] },
    { updated: [1, 1, {}] },
    { now: [7, 2, ['moved'], { by: 'x' }], old: 0 },
    { ran: [1, 1, {}], states: [...all('cancelled', 5), 'waiting'] },
    { retried: [5, 5, {}], states: all('waiting', 6) },
    { found: ['moved', 'n1', 'n3'] },
    { searched: [1, 1, {}], states: [...all('waiting', 5), 'cancelled'] },
    { deleted: [1, 1, { notFound: 1 }], gone: null },
    { empty: ['OPTION_TYPE', 'OPTION_TYPE', 'OPTION_TYPE'] },
    { untouched: true },
    { orders: { newest: [2, 1, 0], oldest: [0, 1, 2], due: [2, 1, 0] }, refused: ['OPTION_RANGE', 'OPTION_RANGE'] },
    { keyed: [true, 5, 0, 'waiting'] },
    { key: ['cancelled', 'no longer', 'scheduled'] },
    { freed: ['waiting', true, false, null] },
    { gone: [null, 'JOB_NOT_FOUND', 'OPTION_TYPE', 'scheduled'] },
    { large: [1_100, 1_100, {}], left: 103 },
    { ids: [250, 250, {}], purged: { states: { ...none, waiting: 103, cancelled: 850 }, count: 953, active: 0 } },
    { some: { states: { waiting: 103 }, count: 103, active: 0 }, kept: 'QUEUE_NOT_EMPTY' },
    { all: { states: { ...none, cancelled: 850 }, count: 850, active: 0 }, forgotten: [true, false, null] },
    { untouched: true, others: 4 },
  ])
})

test.each(KINDS)('the %s client sets queues, reads what they have done, and learns why a job waits', async (kind) => {
  const { engine, url } = await serving()
  const works = defineJob({ name: 'works' })
  const fails = defineJob({ name: 'fails' }).handler(async () => Promise.reject(new RangeError('no')))
  engine.work([works.handler(() => 'done'), fails], { id: 'one' })
  engine.work(
    defineJob({ name: 'elsewhere' }).handler(() => 'done'),
    { id: 'two' },
  )
  expect(await linesOf('settings', kind, url)).toEqual([
    { same: true, differs: {} },
    { copied: true },
    { changed: [false, 4, { name: 'gpu', limit: 4 }, { concurrency_limit: 3 }] },
    { defaults: [5, 3, 7, 1, 'forever', null, 10] },
    { own: [60, 1, 0, 7] },
    { cleared: {}, copy: true },
    { together: ['UNSUPPORTED', true] },
    { bucket: [3, true] },
    { keys: ['c1', 1, 0, 0, true, false], none: null },
    { why: ['waiting', "waits, because key 'c1' has started as many jobs as its rate allows", ['key-rate-limit'], 'c1', true] },
    { held: [true, ['queue-paused', 'no-worker'], true] },
    { ended: 'is completed', unknown: null },
    { failures: ['RangeError', 'no', 3, true, 3], none: [] },
    { of_kind: 3, of_error: 3 },
    { history: [3, 3, [], []] },
    { queues: [3, 1, 'hour', 0, 0] },
    { drained: [null, 'QUEUE_DRAINING', 1] },
    { late: true },
    { resumed: false },
    { stopped: [null, 'WORKER_NOT_FOUND'] },
  ])
  expect((await engine.workers()).filter(({ draining }) => !draining)).toMatchObject([{ id: 'two' }])
})

test.each(KINDS)('the %s client says why jobs wait in the words of the engine', async (kind) => {
  const { engine, url } = await serving()
  await wait(engine)
  const { jobs } = await engine.list({ limit: 200 })
  const explained = await Promise.all(jobs.map(({ id }) => engine.explain(id)))
  const words = explained.map((job) => [job?.id, [job?.message, ...(job?.causes ?? []).map(({ message }) => message)]])
  const said = (await linesOf('why', kind, url)).map(withoutTimes)
  expect(said).toEqual([{ words: Object.fromEntries(words) }, { codes: [...CAUSES].sort() }].map(withoutTimes))
  expect(new Set(explained.flatMap((job) => job?.causes.map(({ code }) => code)))).toEqual(
    new Set(CAUSES.filter((code) => !['workers-unavailable', 'all-paused', 'line'].includes(code))),
  )
})

/** The next token and a deadline come by the clock that only runs forward: two answers may name them a millisecond apart. */
function withoutTimes(words: unknown): unknown {
  return JSON.parse(JSON.stringify(words).replaceAll(/(rate allows until|with a deadline of) [\dT:.-]+Z/g, '$1 then'))
}

/** Fills the engine with jobs that wait, each for another cause; one that runs, and some that have ended. */
async function wait(engine: Engine): Promise<void> {
  const { queues } = engine
  const holds = defineJob({ name: 'holds' }).handler(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
  const ends = defineJob({ name: 'ends' }).handler(() => 'done')
  const fails = defineJob<number>({ name: 'fails' }).handler(async () => Promise.reject(new Error('no')))
  const asks = defineJob({ name: 'asks' }).handler(({ waitFor }) => waitFor('answer'))
  const naps = defineJob({ name: 'naps' }).handler(({ sleep }) => sleep('nap', '1h'))
  // Its second run asks for another step than the one that the first has recorded.
  const misfits = defineJob({ name: 'misfits', backoff: { type: 'fixed', delay: 1 } }).handler(async ({ job, step }) => {
    await step(`of run ${job.run}`, () => {})
    throw new Error('no')
  })
  engine.work([holds, ends, fails, asks, naps, misfits], { concurrency: 8 })
  await (await engine.enqueue('ends')).result()
  await (await engine.enqueue('fails', 1, { maxAttempts: 1 })).result().catch(() => {})
  const [nap, misfit] = [await engine.enqueue('naps'), await engine.enqueue('misfits')]
  const causeOf = async ({ id }: { readonly id: string }) => (await engine.explain(id))?.causes[0]?.code
  const ask = await engine.enqueue('asks')
  await expect.poll(() => causeOf(ask)).toBe('message')
  await expect.poll(() => causeOf(nap)).toBe('sleep')
  await expect.poll(() => causeOf(misfit), { timeout: 10_000 }).toBe('steps-changed')
  const retries = await engine.enqueue('fails', 2, { maxAttempts: 9, backoff: { type: 'fixed', delay: '1h' } })
  await expect.poll(async () => (await engine.get(retries.id))?.attempt).toBe(1)
  await engine.cancel((await engine.enqueue('nobody', null, { delay: '1h' })).id)
  await engine.enqueue('nobody', null, { delay: '1h' })
  await engine.enqueue('nobody')
  await engine.flow([
    { ref: 'a', job: 'nobody' },
    { ref: 'b', job: 'nobody', dependsOn: ['a'] },
    { ref: 'c', job: 'nobody', dependsOn: ['a', 'b'] },
  ])
  await queues.configure('limited', { concurrencyLimit: 1 })
  await queues.configure('shared', { sharedLimit: { name: 'gpu', limit: 1 } })
  await queues.configure('rated', { rateLimit: { limit: 1, period: '1h' } })
  await queues.configure('keyed', { perKeyLimit: 1 })
  await queues.configure('keyRated', { perKeyRateLimit: { limit: 1, period: '1h' } })
  await queues.configure('strict', { keyOrder: 'strict' })
  for (const queue of ['limited', 'shared', 'rated', 'keyed', 'keyRated', 'strict']) {
    const first = await engine.enqueue('holds', null, { queue, concurrencyKey: 'Ada’s' })
    await expect.poll(async () => (await engine.get(first.id))?.state).toBe('active')
    await engine.enqueue('holds', null, { queue, concurrencyKey: 'Ada’s' })
  }
  for (const queue of ['paused', 'timed', 'named', 'keyPaused']) await queues.configure(queue, {})
  await queues.pause('paused')
  await queues.pause('timed', { for: '1h' })
  await queues.pause('named', { job: 'holds', for: '1h' })
  await queues.pause('keyPaused', { key: 'k' })
  for (const queue of ['paused', 'timed', 'named', 'keyPaused']) await engine.enqueue('holds', null, { queue, concurrencyKey: 'k' })
  const heavy = await engine.enqueue('holds', null, { weight: 5 })
  await expect.poll(async () => (await engine.explain(heavy.id))?.causes[0]?.code).toBe('workers-full')
}

test.each(KINDS)('the %s client creates batches, reads flows, exports finished jobs, and writes a backup', async (kind) => {
  const { engine, url } = await serving()
  const works = defineJob<unknown>({ name: 'works' }).handler(({ data }) => data)
  const fails = defineJob({ name: 'fails' }).handler(async () => Promise.reject(new RangeError('no')))
  const ends = defineJob({ name: 'ends' }).handler(async ({ parents }) => {
    const found: unknown[] = []
    for await (const parent of parents()) found.push([parent.ref, parent.state])
    return found
  })
  const logs = defineJob({ name: 'logs' }).handler(({ log }) => {
    for (let line = 0; line < 3; line++) log('info', `line ${line}`)
  })
  engine.work([works, fails, ends, logs])
  const sizes = { data: 1_002, output: null, checkpoint: null }
  expect(await linesOf('whole', kind, url, join(temporaryFolder(), 'copy.db'))).toEqual([
    {
      ends: [
        ['0', 'completed'],
        ['1', 'failed'],
        ['2', 'completed'],
      ],
      again: true,
    },
    {
      callbacks: [
        ['on_success', 'on_failure', 'on_end'],
        [
          ['0', 'completed'],
          ['1', 'completed'],
        ],
        'JOB_NOT_FOUND',
      ],
    },
    { refused: ['OPTION_TYPE', 'OPTION_RANGE', 'OPTION_TYPE', 'OPTION_TYPE', 'OPTION_TYPE'] },
    {
      flow: [
        ['0', 'completed', 0, []],
        ['1', 'completed', 0, []],
        [
          'on_success',
          'completed',
          2,
          [
            ['0', 'completed'],
            ['1', 'completed'],
          ],
        ],
      ],
      same: true,
      times: [true, true],
      none: [[], []],
    },
    { sizes: [null, sizes, null, ['kept']] },
    { last: ['RangeError', 1, true, []] },
    { never: [null], unasked: [null] },
    { of: [['b'], ['a'], 2] },
    { exported: [3, 0, null, true] },
    { unconfirmed: [['archive', 0]] },
    { confirmed: [true, true, true] },
    { again: true },
    { deleted: [true, false, [['other', 0]]] },
    { backup: true, twice: true },
    { logs: ['line 2', 'line 1', 'line 0'] },
    { untouched: ['waiting', ['kept'], 0] },
  ])
})

test('a handler of the Python worker that snoozes pauses its name, its key or its queue, and nothing else', async () => {
  const { engine, url } = await serving()
  await engine.enqueue('bystander', null, { queue: 'other' })
  const parts = ['queue', 'name', 'key']
  for (const part of parts) await engine.enqueue('snoozes', part, { queue: part, concurrencyKey: 'c1' })
  program('snoozer', url)
  const found = () => Promise.all(parts.map((part) => engine.queues.get(part)))
  await expect
    .poll(async () => (await found()).every((queue) => queue?.paused || queue?.pausedJobs.length || queue?.pausedKeys.length))
    .toBe(true)
  expect(await found()).toMatchObject([
    { paused: true, pausedJobs: [], pausedKeys: [], states: { waiting: 1 } },
    { paused: false, pausedJobs: ['snoozes'], pausedKeys: [], states: { waiting: 1 } },
    { paused: false, pausedJobs: [], pausedKeys: ['c1'], states: { waiting: 1 } },
  ])
  expect(await engine.queues.get('other')).toMatchObject({ paused: false, pausedJobs: [], pausedKeys: [], states: { waiting: 1 } })
})
