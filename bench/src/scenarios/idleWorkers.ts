/**
 * Whole jobs in the engine's process, while so many workers in another one wait for jobs that never come, each over a connection of its
 * own; and what those cost the engine's process in memory.
 */
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { checkCompleted } from '../check.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { memory, startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { startWorkerProcess } from '../workerProcess.ts'
import { endOf } from './end.ts'

export const idleWorkers: Scenario = async ({ file, durability, jobs, inFlight, concurrency, workers }) => {
  const engine = await openEngine({ file, durability })
  const server = await listen(engine, `unix:${join(file, '..', 'sock')}`)
  await engine.stats()
  const before = memory()['rssMb'] as number
  const idle = workers === 0 ? undefined : await startWorkerProcess({ url: server.url, concurrency: 1, workers, job: 'never' })
  const idleWorkersMb = (memory()['rssMb'] as number) - before
  const attached = (await engine.stats()).workers
  if (attached !== workers) throw new Error(`${attached} of ${workers} workers are attached`)

  const { promise: allHandled, resolve } = Promise.withResolvers<void>()
  let handled = 0
  const stop = startMeter()
  const worker = engine.work(
    noop.handler(() => {
      if (++handled === jobs) resolve()
    }),
    { concurrency },
  )
  await keepInFlight(inFlight, jobs, (index) => engine.enqueue(noop, payloadOf(index)))
  await allHandled
  await worker.stop()
  const figures = stop(jobs)
  await idle?.stop()
  await server.close()
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs)
  return { ...figures, ...end, idleWorkersMb }
}
