/** A session with a strict order of queues works only behind an engine that says that it keeps to it. */
import { EngineStoppedError, UnsupportedError } from '@millrace/core'
import { expect, test } from 'vitest'
import { defineJob } from './define.ts'
import { workbench } from './testing/workbench.ts'

const a = defineJob({ name: 'a' })
const strict = { queues: ['urgent', 'low'], order: 'strict' } as const
const kept = { lost: [], order: 'strict' }

/** A session whose attach waits for its answer, and the jobs that it has run. */
function attaching(options: Parameters<typeof workbench>[1]) {
  const ran: unknown[] = []
  const bench = workbench(
    a.handler(({ data }) => void ran.push(data)),
    options,
  )
  bench.calls.hold('attach')
  bench.worker.attach()
  return { ...bench, ran }
}

test('says its order with each attach; a fair one says none', async () => {
  const { calls, worker } = attaching(strict)
  calls.settle('attach', kept)
  await worker.ready
  expect(calls.of('attach')).toMatchObject([{ session: strict }])
  const fair = attaching({ queues: ['urgent', 'low'], order: 'fair' })
  expect(fair.calls.of('attach')[0]?.session).not.toHaveProperty('order')
})

test('jobs that come with the answer run once it has been read', async () => {
  const { calls, worker, grant, ran } = attaching(strict)
  calls.settle('attach', kept)
  grant({ seq: 1, data: '1' })
  grant({ seq: 2, data: '2' })
  expect([ran, worker.running]).toEqual([[], 0])
  await worker.ready
  expect(ran).toEqual([1, 2])
  grant({ seq: 3, data: '3' })
  expect(ran).toEqual([1, 2, 3])
})

test('behind an engine that does not know the order nothing runs: the worker stops, and its jobs go back', async () => {
  const { calls, worker, grant, ran, logged } = attaching(strict)
  calls.settle('attach')
  grant({ seq: 1 })
  const message = "the engine is of an earlier version, which does not know order 'strict': bring it up to date"
  await expect(worker.ready).rejects.toEqual(new UnsupportedError(message))
  grant({ seq: 2 })
  await worker.stopped
  expect([ran, calls.outcomes]).toEqual([
    [],
    [
      { op: 'giveBack', seq: 1, run: 1 },
      { op: 'giveBack', seq: 2, run: 1 },
    ],
  ])
  expect(calls.of('leave')).toHaveLength(1)
  expect(logged).toEqual([`error: a worker could not attach to its engine`])
})

test('an engine of an earlier version behind a new connection: what runs ends, and nothing else begins', async () => {
  const running = Promise.withResolvers<void>()
  const bench = workbench(
    a.handler(() => running.promise),
    strict,
  )
  bench.calls.answer('attach', () => kept)
  bench.worker.attach()
  await bench.worker.ready
  bench.grant({ seq: 1 })
  bench.calls.hold('attach')
  bench.worker.reopened()
  bench.calls.settle('attach')
  bench.grant({ seq: 2 })
  await bench.calls.heard('drain')
  running.resolve()
  await bench.worker.stopped
  expect(bench.calls.outcomes).toEqual([
    { op: 'giveBack', seq: 2, run: 1 },
    { op: 'complete', seq: 1, run: 1, output: null },
  ])
})

test('a fair session waits for no answer', () => {
  const { grant, ran } = attaching({})
  grant({ seq: 1, data: '1' })
  expect(ran).toEqual([1])
})

test('a worker that is stopped while it waits for the answer gives back what came with it', async () => {
  const { calls, worker, grant, ran } = attaching(strict)
  const stopping = worker.stop()
  calls.settle('attach', kept)
  grant({ seq: 1 })
  await stopping
  await worker.ready.catch((error) => expect(error).toBeInstanceOf(EngineStoppedError))
  expect([ran, calls.outcomes]).toEqual([[], [{ op: 'giveBack', seq: 1, run: 1 }]])
})
