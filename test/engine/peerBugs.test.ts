/** What happened to others, and must not happen here: named after docs of theirs that tell of it. */
import { defineJob, openEngine } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { Probe, quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const a = defineJob({ name: 'a' })

describe('under the virtual clock', () => {
  let t: TestEngine

  beforeEach(() => {
    t = createTestEngine()
  })

  afterEach(() => t[Symbol.asyncDispose]())

  async function remoteSession() {
    const probe = new Probe(t.inThread.port())
    await probe.attach(['a'], { uuid: 'remote', local: false })
    await probe.enqueue('a', { timeout: DAY, heartbeatTimeout: MINUTE })
    await probe.grants.take()
    return probe
  }

  test('stale-threshold-sign: a lease that is renewed in its last millisecond holds, and ends a whole lease later', async () => {
    const probe = await remoteSession()
    await t.advance(MINUTE - 1)
    await probe.call<'renew'>({ op: 'renew', renewal: 1 })
    await t.advance(MINUTE - 1)
    expect((await probe.call<'workers'>({ op: 'workers' })).length).toBe(1)
    await t.advance(1)
    expect((await probe.call<'workers'>({ op: 'workers' })).length).toBe(0)
  })

  test('event-loop-block-2x-lease: an engine that was blocked hears the renewal that waits before it ends the lease', async () => {
    const probe = await remoteSession()
    t.clock.stall(2 * MINUTE)
    await probe.call<'renew'>({ op: 'renew', renewal: 1 })
    await t.advance(MINUTE - 1)
    expect((await probe.call<'stats'>({ op: 'stats' })).states.active).toBe(1)
    expect(probe.notices.size).toBe(0)
  })

  test('suspend-resume-scheduler-alive: what became due while the machine slept starts within a minute of its waking', async () => {
    const seen: string[] = []
    t.engine.work([a.handler(({ job }) => void seen.push(job.id))])
    const handle = await t.engine.enqueue(a, undefined, { delay: '2d' })
    t.clock.jump(3 * DAY)
    await t.advance('1m')
    expect(seen).toEqual([handle.id])
  })

  test('lost-wakeup-toctou: whichever comes first in a tick, worker or job, the job runs', async () => {
    for (let round = 0; round < 50; round++) {
      const job = defineJob({ name: `round-${round}` })
      const work = () => t.engine.work([job.handler(() => round)])
      const first = round % 2 === 0
      const early = first ? work() : undefined
      const handle = t.engine.enqueue(job)
      if (round % 3 === 0) await Promise.resolve()
      const worker = early ?? work()
      expect(await (await handle).result()).toBe(round)
      await worker.stop()
    }
  })

  test('delete-vs-pending-insert: a delete in the tick of other inserts takes its job, and only that', async () => {
    const gone = await t.engine.enqueue(a)
    const [, handles] = await Promise.all([t.engine.delete(gone.id), t.engine.enqueueMany([{ job: a }, { job: a }])])
    await expect(t.engine.delete(gone.id)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
    expect(await t.engine.get(gone.id)).toBeUndefined()
    expect((await t.engine.list()).jobs.map((job) => job.id).toSorted()).toEqual(handles.map((handle) => handle.id).toSorted())
  })

  test('delete-cascades: with a job go its runs, logs, tags and unique key; nothing of its neighbour', async () => {
    const failing = defineJob({ name: 'failing', maxAttempts: 1 })
    t.engine.work([
      failing.handler(({ log }) => {
        log('info', 'about to fail')
        throw new Error('failed')
      }),
    ])
    const enqueue = (key: string) => t.engine.enqueue(failing, undefined, { tags: ['tagged'], unique: { key } })
    const [gone, kept] = [await enqueue('gone'), await enqueue('kept')]
    await Promise.allSettled([gone.result(), kept.result()])
    await t.engine.delete(gone.id)
    await quiet()
    expect((await t.engine.list({ tag: 'tagged' })).jobs.map((job) => job.id)).toEqual([kept.id])
    expect((await t.engine.get(kept.id))?.attempts).toMatchObject([{ error: { message: 'failed' }, logs: [{ message: 'about to fail' }] }])
    expect((await enqueue('gone')).created).toBe(true)
  })
})

test('rebuild-includes-terminal: what is finished is there after a restart, with its output, its error and its count', async () => {
  const file = temporaryFile()
  const fails = defineJob({ name: 'fails', maxAttempts: 1 })
  const ids: string[] = []
  {
    await using engine = await openEngine({ file, durability: 'normal' })
    engine.work([
      a.handler(() => ({ done: true })),
      fails.handler(() => {
        throw new TypeError('no')
      }),
    ])
    const handles = [await engine.enqueue(a), await engine.enqueue(fails)]
    await Promise.allSettled(handles.map((handle) => handle.result()))
    ids.push(...handles.map((handle) => handle.id))
  }
  await using engine = await openEngine({ file, durability: 'normal' })
  const jobs = await Promise.all(ids.map((id) => engine.get(id)))
  expect(jobs).toMatchObject([
    { state: 'completed', output: { done: true } },
    { state: 'failed', attempts: [{ error: { name: 'TypeError', message: 'no' } }] },
  ])
  expect((await engine.stats()).states).toMatchObject({ completed: 1, failed: 1, waiting: 0, active: 0 })
})
