/** One exchange for the start and for every break: what a worker serves, and what it holds. */
import { CommitUnknownError, EngineFailedError, InternalError, StorageError } from '@millrace/core'
import { expect, test } from 'vitest'
import { type Context, defineJob } from './index.ts'
import { quiet } from './testing/manualClock.ts'
import { stop, workbench } from './testing/workbench.ts'

const a = defineJob({ name: 'a', queue: 'q', maxAttempts: 7 })

test('it says who it is and what it serves', () => {
  const { worker, calls } = workbench([a.handler(() => 1), defineJob({ name: 'b' }).handler(() => 1)], {
    id: 'w',
    queues: ['q', 'r'],
    minConcurrency: 2,
    maxConcurrency: 5,
    abortGrace: '7s',
  })
  worker.attach()
  expect(calls.said).toEqual([
    {
      op: 'attach',
      held: [],
      session: {
        uuid: worker.session,
        worker: 'w',
        host: 'host',
        pid: 1,
        local: true,
        handlers: [
          { name: 'a', defaults: { queue: 'q', maxAttempts: 7 } },
          { name: 'b', defaults: {} },
        ],
        queues: ['q', 'r'],
        minConcurrency: 2,
        maxConcurrency: 5,
        abortGrace: 7_000,
      },
    },
  ])
})

test('sessions are random, and so is a name that nobody gave', () => {
  const [first, second] = [workbench(a.handler(() => 1)).worker, workbench(a.handler(() => 1)).worker]
  expect(first.session).not.toBe(second.session)
  expect(first.id).not.toBe(second.id)
  // Everybody sees the name, and the session is a secret.
  expect(first.session).not.toContain(first.id.replace('worker-', ''))
})

test('`held` names the runs that have started, and those whose outcome is not answered; no others', async () => {
  const { worker, calls, grant } = workbench(a.handler(({ job }) => (job.run === 2 ? new Promise(() => {}) : 1)))
  calls.hold('complete')
  grant({ seq: 1, run: 2 })
  grant({ seq: 2, run: 1 })
  calls.answer('complete', () => true)
  grant({ seq: 3, run: 1 })
  await quiet()
  worker.attach()
  expect(calls.of('attach').at(-1)?.held).toEqual([
    { seq: 1, run: 2 },
    { seq: 2, run: 1 },
  ])
})

test('what the answer names as lost is lost; all else goes on', async () => {
  const contexts: Context[] = []
  const { worker, calls, grant } = workbench(a.handler((context) => new Promise(() => contexts.push(context))))
  for (const seq of [1, 2]) grant({ seq })
  calls.answer('attach', () => ({ lost: [{ seq: 2, run: 1 }] }))
  worker.attach()
  await quiet()
  expect(contexts.map((context) => context.signal.reason?.code)).toEqual([undefined, 'LEASE_LOST'])
  expect([worker.running, worker.zombies]).toEqual([1, 1])
})

test('a run that was lost says nothing for another one of the same number, which the engine gives after it has lost the first', async () => {
  const contexts: Context[] = []
  const ends: ((output: string) => void)[] = []
  const { worker, calls, grant } = workbench(
    a.handler((context) => {
      contexts.push(context)
      return new Promise((resolve) => ends.push(resolve))
    }),
  )
  grant({ run: 2 })
  calls.answer('attach', () => ({ lost: [{ seq: 1, run: 2 }] }))
  worker.attach()
  await quiet()
  grant({ run: 2 })
  const [former, current] = contexts as [Context, Context]
  await expect(former.checkpoint('former')).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await expect(former.heartbeat()).rejects.toMatchObject({ code: 'LEASE_LOST' })
  ends[0]?.('former')
  await quiet()
  expect([calls.outcomes, calls.of('checkpoint'), worker.zombies]).toEqual([[], [], 0])
  await current.checkpoint('current')
  ends[1]?.('current')
  await quiet()
  expect(calls.of('checkpoint')).toMatchObject([{ seq: 1, run: 2, value: '"current"' }])
  expect(calls.outcomes).toEqual([{ op: 'complete', seq: 1, run: 2, output: '"current"' }])
})

test('unheard of for as long as a lease, it ends the runs with that lease or a shorter one, and holds them no more', async () => {
  const contexts: Context[] = []
  const { worker, calls, grant } = workbench(a.handler((context) => new Promise(() => contexts.push(context))))
  grant({ seq: 1, heartbeatTimeout: 5_000 })
  grant({ seq: 2, heartbeatTimeout: 5_001 })
  grant({ seq: 3, heartbeatTimeout: 0 })
  worker.lapsed(5_000)
  expect(contexts.map((context) => context.signal.reason?.code)).toEqual(['LEASE_LOST', undefined, undefined])
  worker.attach()
  expect(
    calls
      .of('attach')
      .at(-1)
      ?.held.map(({ seq }) => seq),
  ).toEqual([2, 3])
  worker.lapsed(120_000)
  expect(contexts.map((context) => context.signal.reason?.code)).toEqual(['LEASE_LOST', 'LEASE_LOST', 'LEASE_LOST'])
})

test('a run that has said its outcome and heard no answer is held after a lapse, and named when it attaches again', async () => {
  const { worker, calls, grant } = workbench(a.handler(({ job }) => (job.run === 1 ? 1 : new Promise(() => {}))))
  calls.hold('complete')
  grant({ seq: 1, run: 1, heartbeatTimeout: 5_000 })
  grant({ seq: 2, run: 2, heartbeatTimeout: 5_000 })
  worker.lapsed(5_000)
  worker.attach()
  expect(calls.of('attach').at(-1)?.held).toEqual([{ seq: 1, run: 1 }])
  calls.settle('complete')
  await quiet()
  expect(worker.running).toBe(0)
})

test('what asks for it while an answer is on its way is answered by it; what asks later gets a round of its own', async () => {
  const { worker, calls } = workbench(a.handler(() => 1))
  calls.hold('attach')
  worker.attach()
  worker.attach()
  worker.attach()
  expect(calls.of('attach')).toHaveLength(1)
  calls.settle('attach')
  await quiet()
  expect(calls.of('attach')).toHaveLength(1)
  worker.attach()
  await quiet()
  expect(calls.of('attach')).toHaveLength(2)
})

test.for([
  ['CommitUnknownError', new CommitUnknownError()],
  ['StorageError', new StorageError()],
] as const)('after %s it tries again, four times a second and no more, however often it is asked', async ([, refusal]) => {
  const { worker, calls, clock } = workbench(a.handler(() => 1))
  calls.answer('attach', () => refusal)
  worker.attach()
  for (let step = 0; step < 40; step++) {
    worker.attach()
    await clock.advance(25)
  }
  expect(calls.of('attach').length).toBeLessThanOrEqual(5)
  expect(calls.of('attach').length).toBeGreaterThanOrEqual(4)
  calls.answer('attach', () => ({ lost: [] }))
  await clock.advance(250)
  const count = calls.of('attach').length
  await clock.advance(10_000)
  expect(calls.of('attach')).toHaveLength(count)
})

test.for([
  ['InternalError', new InternalError('no')],
  ['EngineFailedError', new EngineFailedError('no')],
] as const)('after %s it says so and gives up, until it is asked again', async ([, refusal]) => {
  const { worker, calls, clock, logged } = workbench(a.handler(() => 1))
  calls.answer('attach', () => refusal)
  worker.attach()
  await clock.advance(10_000)
  expect(calls.of('attach')).toHaveLength(1)
  expect(logged).toEqual(['error: a worker could not attach to its engine'])
  await expect(worker.ready).rejects.toBe(refusal)
  calls.answer('attach', () => ({ lost: [] }))
  worker.attach()
  await quiet()
  expect(calls.of('attach')).toHaveLength(2)
})

test('`ready` waits for the answer, through refusals that pass; a worker that stops before it never was', async () => {
  const { worker, calls, clock } = workbench(a.handler(() => 1))
  const other = workbench(a.handler(() => 1))
  calls.answer('attach', () => new StorageError())
  let isReady = false
  void worker.ready.then(() => {
    isReady = true
  })
  worker.attach()
  await clock.advance(1_000)
  expect(isReady).toBe(false)
  calls.answer('attach', () => ({ lost: [] }))
  await clock.advance(250)
  expect(isReady).toBe(true)
  await stop(other)
  await expect(other.worker.ready).rejects.toMatchObject({ code: 'ENGINE_STOPPED', message: expect.stringContaining('before') })
})

test('while it drains it says that too, again with each attach', async () => {
  const bench = workbench(a.handler(() => new Promise(() => {})))
  bench.grant()
  const stopping = stop(bench, { timeout: '2m' })
  await quiet()
  expect(bench.calls.of('drain')).toHaveLength(1)
  bench.worker.attach()
  await quiet()
  expect(bench.calls.said.map(({ op }) => op)).toEqual(['drain', 'attach', 'drain'])
  await stopping
})

test('a worker that has left attaches no more', async () => {
  const bench = workbench(a.handler(() => 1))
  await stop(bench)
  bench.worker.attach()
  bench.worker.attach()
  await bench.clock.advance(1_000)
  expect(bench.calls.of('attach')).toEqual([])
})
