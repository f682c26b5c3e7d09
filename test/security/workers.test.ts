/** Attacks by clients that may work: on the runs of other workers, and on what jobs of a name are given. */
import type { AttachedWorker, AttachReply, Enqueued, JobView, SessionIntro, Stats } from '@millrace/core'
import { expect, test } from 'vitest'
import { type RawClient, welcomed } from '../remote/rawClient.ts'
import { serve } from '../remote/served.ts'

const ERROR = { name: 'Forged', message: 'the worker has not said so' }

const session = (uuid: string, handlers: SessionIntro['handlers']): SessionIntro => ({
  uuid,
  worker: `worker of ${uuid}`,
  host: 'h',
  pid: 1,
  local: false,
  handlers,
  minConcurrency: 1,
  maxConcurrency: 1,
  abortGrace: 1_000,
})

async function enqueue(client: RawClient, name: string): Promise<Enqueued> {
  const { value } = await client.ask({ op: 'enqueue', jobs: [{ name, data: '1' }] })
  return (value as readonly Enqueued[])[0] as Enqueued
}

async function view(client: RawClient, id: Enqueued): Promise<JobView> {
  return (await client.ask({ op: 'get', id })).value as JobView
}

test('attack 4: nobody but its worker speaks for a run, and the worker is told the truth about its output', async () => {
  const { url } = await serve()
  const [worker, thief] = [await welcomed(url), await welcomed(url)]
  await worker.ask({ op: 'attach', held: [], session: session('a', [{ name: 'n', defaults: {} }]) })
  const id = await enqueue(worker, 'n')
  const bystander = await enqueue(worker, 'other')
  const run = { seq: id.seq, run: 1 }
  // One with a session of its own, which claims the run, and which serves the name too.
  const claimed = await thief.ask({ op: 'attach', held: [run], session: session('b', [{ name: 'n', defaults: {} }]) })
  expect((claimed.value as AttachReply).lost).toEqual([run])
  const forged = [
    await thief.ask({ op: 'complete', ...run, output: '"forged"' }),
    await thief.ask({ op: 'fail', ...run, error: ERROR, retry: false }),
    await thief.ask({ op: 'snooze', ...run, delay: 60_000 }),
    await thief.ask({ op: 'giveBack', ...run }),
    await thief.ask({ op: 'heartbeat', ...run }),
    await thief.ask({ op: 'checkpoint', ...run, value: '"forged"' }),
    await thief.ask({ op: 'progress', ...run, fraction: 1 }),
    await thief.ask({ op: 'log', ...run, lines: [{ at: 1, level: 'info', message: 'forged' }] }),
    await thief.ask({ op: 'parents', ...run }),
    await thief.ask({ op: 'step', ...run, number: 1, asked: 1, name: 's', kind: 'step', startedAt: 1, value: '"forged"' }),
    await thief.ask({ op: 'wait', ...run, settled: 0, waits: [{ name: 'w', asked: 1, delay: 60_000 }], end: true }),
    await thief.ask({ op: 'recorded', ...run, after: 0 }),
  ]
  expect(forged.map(({ refusal }) => refusal?.code)).toEqual(Array(12).fill('STALE_RUN'))
  await thief.ask({ op: 'adjust', session: 'a', minConcurrency: 100, maxConcurrency: 100, paused: true })
  const [own] = (await worker.ask({ op: 'workers' })).value as readonly AttachedWorker[]
  expect(own).toMatchObject({ id: 'worker of a', paused: false, maxConcurrency: 1 })
  expect(await view(worker, id)).toMatchObject({ state: 'active', run: 1, checkpoint: null, progress: null })
  expect((await worker.ask({ op: 'recorded', ...run, after: 0 })).value).toMatchObject({ results: [] })
  expect((await worker.ask({ op: 'complete', ...run, output: '"real"' })).value).toBe(true)
  expect((await thief.ask({ op: 'complete', ...run, output: '"forged"' })).refusal?.code).toBe('STALE_RUN')
  expect(await view(worker, id)).toMatchObject({ state: 'completed', output: '"real"' })
  expect(await view(worker, bystander)).toMatchObject({ state: 'waiting', run: 0 })
})

test('attack 5: a worker that attaches, and leaves, changes nothing of what jobs of a name are given while another serves it', async () => {
  const { url } = await serve()
  const [worker, thief] = [await welcomed(url), await welcomed(url)]
  const defaults = { maxAttempts: 10, timeout: 60_000 }
  await worker.ask({ op: 'attach', held: [], session: session('a', [{ name: 'http', defaults }]) })
  const void_ = { maxAttempts: 1, timeout: 1, queue: 'void' }
  const { value } = await thief.ask({ op: 'attach', held: [], session: session('b', [{ name: 'http', defaults: void_ }]) })
  expect((value as AttachReply).disputed).toEqual(['http'])
  const stats = (await worker.ask({ op: 'stats' })).value as Stats
  expect(stats.definitions).toMatchObject([{ name: 'http', defaults, worker: 'worker of a', host: 'h', disputedBy: ['worker of b'] }])
  await thief.ask({ op: 'leave', session: 'b' })
  expect(await view(worker, await enqueue(worker, 'http'))).toMatchObject({ queue: 'default', maxAttempts: 10, timeout: 60_000 })
})
