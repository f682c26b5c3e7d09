/**
 * Whole jobs in the engine's process, while so many workers in another one wait for jobs that never come, each over a connection of its
 * own; and what those cost the engine's process in memory. They come and go, so that both speeds are of the same process.
 */
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { checkCompleted } from '../check.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Figures, Scenario } from '../measurement.ts'
import { memory, startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { takeTurns } from '../turns.ts'
import { startWorkerProcess, type WorkerProcess } from '../workerProcess.ts'
import { endOf } from './end.ts'

const KEPT = 1_000_000_000
const ROUNDS = 12

export const idleWorkers: Scenario = async ({ file, durability, jobs, inFlight, concurrency, workers }) => {
  // All are kept: each is looked at in the end.
  const engine = await openEngine({ file, durability, retention: { completed: { count: KEPT } } })
  const server = await listen(engine, `unix:${join(file, '..', 'sock')}`)
  let handled = 0
  let wanted = 0
  let allHandled = Promise.withResolvers<void>()
  const worker = engine.work(
    noop.handler(() => {
      if (++handled === wanted) allHandled.resolve()
    }),
    { concurrency },
  )
  const work = async (some: number): Promise<Figures> => {
    wanted += some
    allHandled = Promise.withResolvers()
    const stop = startMeter()
    await keepInFlight(inFlight, some, (index) => engine.enqueue(noop, payloadOf(index)))
    await allHandled.promise
    return stop(some)
  }

  const startIdle = () => startWorkerProcess({ url: server.url, concurrency: 1, workers, job: 'never' })
  // Before any work, whose garbage would make room for them.
  const before = memory()['rssMb'] as number
  const first = await startIdle()
  const idleWorkersMb = (memory()['rssMb'] as number) - before
  await first.stop()

  let idle: WorkerProcess | undefined
  const attached = async (expected: number) => {
    const { workers: all } = await engine.stats()
    if (all - 1 !== expected) throw new Error(`${all - 1} workers are attached, not ${expected}`)
  }
  const alone = {
    prepare: async () => {
      await idle?.stop()
      idle = undefined
      await attached(0)
    },
    work,
  }
  const beside = {
    prepare: async () => {
      idle ??= await startIdle()
      await attached(workers)
    },
    work,
  }
  const figures = await takeTurns({ jobs, rounds: ROUNDS, alone, beside })
  await idle?.stop()
  await worker.stop()
  await server.close()
  const end = await endOf(engine, file, handled)
  checkCompleted(file, 'noop', handled)
  return { ...end, ...figures, idleWorkersMb }
}
