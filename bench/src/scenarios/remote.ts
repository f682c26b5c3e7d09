/**
 * Whole jobs with the workers in processes of their own: this one has the engine and enqueues, each call awaited, so many in
 * flight; until the last completion is durable.
 */
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { checkCompleted } from '../check.ts'
import { callerOf, handlerKind } from '../handlers.ts'
import { keepInFlight } from '../inFlight.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { startWorkerProcess } from '../workerProcess.ts'
import { endOf } from './end.ts'

export const remote: Scenario = async ({ file, durability, jobs, inFlight, concurrency, workers, handler }) => {
  const kind = handlerKind(handler)
  const engine = await openEngine({ file, durability })
  const server = await listen(engine, `unix:${join(file, '..', 'sock')}`)
  const processes = await Promise.all(
    Array.from({ length: workers }, () => startWorkerProcess({ url: server.url, concurrency: Math.ceil(concurrency / workers), handler })),
  )
  const stop = startMeter()
  await keepInFlight(inFlight, jobs, callerOf(engine, kind))
  while ((await engine.stats()).states.completed < jobs);
  const figures = stop(jobs)
  const micros = await Promise.all(processes.map((process) => process.stop()))
  await server.close()
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs)
  return { ...figures, ...end, workersMicrosPerJob: micros.reduce((sum, one) => sum + one, 0) / jobs }
}
