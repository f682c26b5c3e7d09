/** Tests which worker gets which job, and how sessions come and go, the same through every Port. */
import type { JobKey } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

export function sessionsConformance(under: () => Probe): void {
  let probe: Probe
  beforeEach(() => {
    probe = under()
  })

  const stateOf = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.state

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

  test('a session is paused, and told how much may run: behind the answer comes no job that this excludes', async () => {
    await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1 })
    const room = { op: 'adjust', session: 'session-1', minConcurrency: 1, maxConcurrency: 1 } as const
    await probe.enqueue('a')
    const { seq } = await probe.grants.take()
    await probe.call<'adjust'>({ ...room, paused: true })
    expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ paused: true, runningJobs: 1 }])
    const waiting = await probe.enqueue('a')
    await probe.call<'complete'>({ op: 'complete', seq, run: 1, output: null })
    await probe.barrier()
    expect([await stateOf(waiting), probe.grants.size]).toEqual(['waiting', 0])
    await probe.attach(['a'], { minConcurrency: 1, maxConcurrency: 1, paused: true })
    await probe.barrier()
    expect(probe.grants.size).toBe(0)
    await probe.call<'adjust'>(room)
    expect(await probe.grants.take()).toMatchObject({ seq: waiting.seq })
    expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ paused: false, maxConcurrency: 1 }])
    const more = await probe.enqueue('a')
    await probe.call<'adjust'>({ ...room, minConcurrency: 2, maxConcurrency: 2 })
    expect(await probe.grants.take()).toMatchObject({ seq: more.seq })
    expect(await probe.call<'workers'>({ op: 'workers' })).toMatchObject([{ minConcurrency: 2, maxConcurrency: 2, runningJobs: 2 }])
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
}
