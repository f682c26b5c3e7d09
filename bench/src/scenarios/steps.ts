/** Handlers that remember: each job records so many results, one after another, until the last completion is durable. */
import { openEngine } from '@millrace/engine'
import { checkCompleted, checkSteps } from '../check.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { indexOf, payloadOf, STEP_RESULT } from '../payload.ts'
import { quantile } from '../quantile.ts'
import { endOf } from './end.ts'

export const steps: Scenario = async ({ file, durability, jobs, inFlight, concurrency, stepsPerJob }) => {
  const engine = await openEngine({ file, durability })
  const micros: number[] = []
  /** Of each job, when its handler has returned: then the next one comes, so that as many are at work as are in flight. */
  const handled: PromiseWithResolvers<void>[] = []
  const stop = startMeter()
  const worker = engine.work(
    noop.handler(async ({ data, step }) => {
      for (let index = 0; index < stepsPerJob; index++) {
        const beginMs = performance.now()
        await step(`step ${index}`, () => STEP_RESULT)
        micros.push((performance.now() - beginMs) * 1_000)
      }
      handled[indexOf(data)]?.resolve()
    }),
    { concurrency },
  )
  await keepInFlight(inFlight, jobs, (index) => {
    const over = Promise.withResolvers<void>()
    handled[index] = over
    return Promise.all([engine.enqueue(noop, payloadOf(index)), over.promise])
  })
  await worker.stop()
  const figures = stop(jobs)
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs)
  checkSteps(file, jobs * stepsPerJob)
  const stepsPerSecond = (figures['jobsPerSecond'] as number) * stepsPerJob
  return { ...figures, ...end, stepsPerSecond, p50Micros: quantile(micros, 0.5), p99Micros: quantile(micros, 0.99) }
}
