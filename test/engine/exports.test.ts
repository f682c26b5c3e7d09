// `exports`: finished jobs are taken elsewhere before retention forgets them, at least once, whatever breaks.
import { once } from 'node:events'
import { DEFAULT_RETENTION, formatId, isEnd, isJobEvent, LIMITS, type Retention } from '@millrace/core'
import { defineJob, type Engine, type ExportBatch, type Job, openEngine } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { runs } from '../../packages/testkit/src/testing/runs.ts'
import { startFaulty } from '../failures/faulty.ts'
import { temporaryFile } from '../temporary.ts'

const none = { ageMs: 0, count: 0 }
const KEEPS_NONE: Partial<Retention> = { completed: none, failed: none, cancelled: none }
const a = defineJob<number>({ name: 'a', maxAttempts: 1 })

function start(retention: Partial<Retention> = {}): TestEngine {
  const t = createTestEngine({ settings: { retention: { ...DEFAULT_RETENTION, ...retention } } })
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

/** Runs jobs with these data: below 0 they fail. */
async function run({ engine }: { readonly engine: Engine }, ...data: readonly number[]): Promise<void> {
  const worker = engine.work(
    a.handler((context) => {
      if (context.data < 0) throw new Error('below 0')
      return context.data * 2
    }),
  )
  for (const one of data) await (await engine.enqueue(a, one)).result().catch(() => {})
  await worker.stop()
}

const dataOf = ({ value }: IteratorResult<ExportBatch, undefined>) => value?.jobs.map((job) => job.data)
/** Finished jobs, once retention has done what it can: slice by slice, with the turns that come. */
const kept = async (engine: Engine) => {
  for (let turn = 0; turn < 3; turn++) {
    await engine.stats()
    await quiet()
  }
  const { completed, failed, cancelled } = (await engine.stats()).states
  return completed + failed + cancelled
}

test('E16: whole jobs, in the order in which they ended, in batches; to ask for the next confirms the last', async () => {
  const t = start()
  await run(t, 1, -2, 3)
  const stream = t.engine.exports.read('archive', { limit: 2 })
  const first = await stream.next()
  expect(first.value).toMatchObject({ missed: 0, gap: undefined })
  expect(first.value?.jobs).toMatchObject([
    { state: 'completed', data: 1, output: 2 },
    { state: 'failed', data: -2, attempts: [{ error: { name: 'Error', message: 'below 0' } }] },
  ])
  const list = async () => (await t.engine.exports.list())[0]
  expect(await list()).toEqual({ name: 'archive', cursor: 0, behind: 12 })
  expect(dataOf(await stream.next())).toEqual([3])
  expect((await list())?.cursor).toBeGreaterThan(5)
  const waits = stream.next()
  await quiet()
  expect(await list()).toMatchObject({ behind: 0 })
  await run(t, 4)
  expect(dataOf(await waits)).toEqual([4])
})

test('what is not confirmed comes again, from the stored cursor, to whoever reads that name next', async () => {
  const file = temporaryFile()
  const first = await openEngine({ file, durability: 'normal' })
  await run({ engine: first }, 1, 2, 3)
  const stream = first.exports.read('archive', { limit: 1 })
  expect(dataOf(await stream.next())).toEqual([1])
  expect(dataOf(await stream.next())).toEqual([2])
  await stream.return()
  await first.stop()
  await using second = await openEngine({ file, durability: 'normal' })
  const again = second.exports.read('archive')
  expect(dataOf(await again.next())).toEqual([2, 3])
  expect(dataOf(await second.exports.read('other').next())).toEqual([1, 2, 3])
})

test('jobs that are not kept at all are kept until every export has them, and no longer', async () => {
  const t = start(KEEPS_NONE)
  await run(t, 1)
  expect(await kept(t.engine)).toBe(0)
  const [one, two] = [t.engine.exports.read('one'), t.engine.exports.read('two')]
  const waits = [one.next(), two.next()]
  await t.engine.exports.list()
  await run(t, 2, -3)
  // What ended before there was an export is gone: both are told of it first.
  for (const first of await Promise.all(waits)) expect(first.value).toMatchObject({ jobs: [], missed: 1 })
  expect(dataOf(await one.next())).toEqual([2, -3])
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(2)
  const more = one.next()
  await quiet()
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(2)
  expect(dataOf(await two.next())).toEqual([2, -3])
  const last = two.next()
  await quiet()
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(0)
  await run(t, 4)
  expect([dataOf(await more), dataOf(await last)]).toEqual([[4], [4]])
})

test('what every export has confirmed goes, also where its turn told of more after it', async () => {
  const t = start(KEEPS_NONE)
  const { engine } = t
  const stream = engine.exports.read('archive', { limit: 1 })
  const waits = stream.next()
  await engine.exports.list()
  const [, second] = await engine.enqueueMany([1, 2, 3, 4].map((data) => ({ job: a, data })))
  engine.work(
    a.handler(async ({ data, signal }) => {
      if (data === 4) await once(signal, 'abort')
    }),
    { concurrency: 1 },
  )
  expect(dataOf(await waits)).toEqual([1])
  await quiet()
  await engine.delete(second?.id as string)
  // The turn that completes this one starts the last, which goes on.
  expect((await stream.next()).value).toMatchObject({ jobs: [{ data: 3 }], missed: 1 })
  const more = stream.next()
  await quiet()
  await t.advance('10s')
  expect(await kept(engine)).toBe(0)
  await stream.return()
  await more
})

test('retention by age and by count waits for the cursor as well', async () => {
  const t = start({ completed: { ageMs: 60_000, count: 2 } })
  await t.engine.exports.read('archive').return()
  const stream = t.engine.exports.read('archive', { limit: 3 })
  const waits = stream.next()
  await t.engine.exports.list()
  await run(t, 1, 2, 3, 4)
  expect(dataOf(await waits)).toEqual([1])
  await t.advance('5m')
  await run(t, 5)
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(5)
  expect(dataOf(await stream.next())).toEqual([2, 3, 4])
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(4)
  expect(dataOf(await stream.next())).toEqual([5])
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(1)
})

test('an export that nobody reads holds back so many jobs and no more; the next reader is told how many it has missed', async () => {
  const { jobsHeldForExports } = LIMITS
  Object.assign(LIMITS, { jobsHeldForExports: 3 })
  onTestFinished(() => void Object.assign(LIMITS, { jobsHeldForExports }))
  const t = start(KEEPS_NONE)
  const stream = t.engine.exports.read('archive')
  const waits = stream.next()
  await t.engine.exports.list()
  await stream.return()
  await waits
  await run(t, 1, 2, 3, 4, 5)
  await t.advance('10s')
  expect(await kept(t.engine)).toBe(3)
  expect((await t.engine.exports.read('archive').next()).value).toMatchObject({ jobs: [{ data: 3 }, { data: 4 }, { data: 5 }], missed: 2 })
})

test('where the journal has forgotten what is behind the cursor, jobs are held no longer, and a gap is told', async () => {
  const t = start({ ...KEEPS_NONE, journal: { ageMs: 60_000, bytes: 2 ** 30 } })
  const stream = t.engine.exports.read('archive')
  const waits = stream.next()
  await t.engine.exports.list()
  await stream.return()
  await waits
  await run(t, 1, 2)
  await t.advance('5m')
  await run(t, 3)
  await t.advance('61s')
  await run(t, 4)
  await t.advance('10s')
  const { value } = await t.engine.exports.read('archive').next()
  expect(value?.gap).toMatchObject({ resumesAt: 10 })
  expect(value?.jobs.map((job) => job.data)).toEqual([3, 4])
  expect(await kept(t.engine)).toBe(2)
})

test('a job that is brought back comes when it ends again; one that is deleted counts as missed', async () => {
  const t = start()
  await run(t, -1, -2)
  const { jobs } = await t.engine.list({ state: 'failed' })
  const [second, first] = jobs.map(({ id }) => id) as [string, string]
  await t.advance('1s')
  await t.engine.retry(first)
  await t.engine.delete(second)
  const stream = t.engine.exports.read('archive')
  expect((await stream.next()).value).toEqual({ jobs: [], missed: 1, gap: undefined })
  const waits = stream.next()
  await run(t, 5)
  const seen = dataOf(await waits) ?? []
  while (seen.length < 2) seen.push(...(dataOf(await stream.next()) ?? []))
  expect(seen).toEqual([-1, 5])
})

const step = fc.oneof(
  fc.record({ op: fc.constant('run' as const), length: fc.nat({ max: 9 }), fails: fc.boolean(), logs: fc.boolean() }),
  fc.record({ op: fc.constant('cancel' as const), length: fc.nat({ max: 9 }) }),
  fc.record({ op: fc.constantFrom('retry' as const, 'delete' as const), place: fc.nat() }),
  fc.record({ op: fc.constantFrom('pause' as const, 'wait' as const) }),
)

test('whatever becomes of jobs, each is told whole as often as it holds what an end says, in the order of these, in batches that fit', async () => {
  const { exportBytes, exportEvents } = LIMITS
  // Of two or three of these jobs.
  Object.assign(LIMITS, { exportBytes: 120, exportEvents: 7 })
  onTestFinished(() => void Object.assign(LIMITS, { exportBytes, exportEvents }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
      await using t = createTestEngine()
      const { engine } = t
      const b = defineJob<{ text: string; fails: boolean; logs: boolean }>({ name: 'b', maxAttempts: 1 })
      const failed = new Set<string>()
      engine.work(
        b.handler(({ job: { id }, data, log }) => {
          if (data.logs) log('info', data.text)
          if (!data.fails || failed.has(id)) return data.text
          failed.add(id)
          throw new Error('not at once')
        }),
      )
      const ids: string[] = []
      for (const one of steps) {
        if (one.op === 'run' || one.op === 'cancel') {
          const { fails, logs } = one.op === 'run' ? one : { fails: false, logs: false }
          const { id } = await engine.enqueue(b, { text: 'x'.repeat(one.length), fails, logs }, one.op === 'cancel' ? { delay: '1h' } : {})
          ids.push(id)
          if (one.op === 'cancel') await engine.cancel(id)
        } else if (one.op === 'pause') await engine.queues.configure(`q${ids.length}`, {}).then(() => engine.queues.pause(`q${ids.length}`))
        else if (one.op === 'wait') await t.advance('1s')
        else if ('place' in one && ids.length > 0) {
          const id = ids[one.place % ids.length] as string
          await engine[one.op](id).catch(() => {})
        }
        await quiet()
      }

      const expected: Job[] = []
      let gone = 0
      for (const event of t.inThread.actor.store.events(0, 10_000)) {
        if (!isJobEvent(event) || !isEnd(event.type)) continue
        const job = await engine.get(formatId({ ...event, seq: event.jobSeq }))
        if (job === undefined) gone++
        else if (job.finishedAt?.getTime() === event.at) expected.push(job)
      }

      const told: Job[] = []
      let missed = 0
      const stream = engine.exports.read('archive', { limit })
      for (let came = true; came; ) {
        came = false
        void stream.next().then(({ value }) => {
          if (value === undefined) return
          came = true
          told.push(...value.jobs)
          missed += value.missed
          const bytes = value.jobs.reduce((sum, { data, output }) => sum + lengthOf(data) + lengthOf(output), 0)
          expect(value.jobs.length).toBeLessThanOrEqual(limit)
          if (value.jobs.length > 1) expect(bytes).toBeLessThanOrEqual(LIMITS.exportBytes)
          expect(value.gap).toBeUndefined()
        })
        await quiet()
      }
      await stream.return()
      expect(told).toEqual(expected)
      expect(missed).toBe(gone)
    }),
    { numRuns: runs(40) },
  )
})

const lengthOf = (value: unknown) => (value === undefined ? 0 : JSON.stringify(value).length)

test('to delete an export frees what was kept for it, and ends whoever reads it', async () => {
  const t = start(KEEPS_NONE)
  const stream = t.engine.exports.read('archive')
  const waits = stream.next()
  waits.catch(() => {})
  await t.engine.exports.list()
  expect(await t.engine.exports.delete('archive')).toBe(true)
  await expect(waits).rejects.toMatchObject({ code: 'UNSUPPORTED', message: expect.stringContaining('deleted') })
  expect(await t.engine.exports.delete('archive')).toBe(false)
  await run(t, 1)
  expect(await kept(t.engine)).toBe(0)
})

test.each([true, false])('a confirmation of unknown outcome (committed: %s) is said again: nothing is left out', async (committed) => {
  const { engine, faults, expectTablesAsStored } = startFaulty()
  await run({ engine }, 1, 2, 3)
  const stream = engine.exports.read('archive', { limit: 1 })
  expect(dataOf(await stream.next())).toEqual([1])
  faults.fail({ kind: 'commit', committed })
  expect(dataOf(await stream.next())).toEqual([2])
  await expectTablesAsStored()
  faults.fail({ kind: 'io' })
  expect(dataOf(await stream.next())).toEqual([3])
  await expectTablesAsStored()
})

test('misuse is refused by name, and there are only so many', async () => {
  const t = start()
  expect(() => t.engine.exports.read('a b')).toThrow(TypeError)
  expect(() => t.engine.exports.read('a', { limit: 0 })).toThrow(RangeError)
  expect(() => t.engine.exports.read('a', { size: 1 } as never)).toThrow(expect.objectContaining({ option: 'size' }))
  await run(t, 1)
  for (let index = 0; index < LIMITS.exports; index++) await t.engine.exports.read(`export-${index}`).next()
  await expect(t.engine.exports.read('one-too-many').next()).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining(`${LIMITS.exports} exports`),
  })
})
