/** A job with many results wakes again and again: from the start of its handler to the function of the step that comes next. */
import { openEngine } from '@millrace/engine'
import { checkCompleted, checkSteps } from '../check.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { payloadOf, STEP_RESULT } from '../payload.ts'
import { quantile } from '../quantile.ts'
import { endOf } from './end.ts'

/** Wake-ups of each job. */
const NAPS = 10

export const resume: Scenario = async ({ file, durability, jobs, stepsPerJob }) => {
  const engine = await openEngine({ file, durability })
  const resumedMs: number[] = []
  const worker = engine.work(
    noop.handler(async ({ step, sleep }) => {
      const beginMs = performance.now()
      for (let index = 0; index < stepsPerJob; index++) await step(`step ${index}`, () => STEP_RESULT)
      for (let nap = 0; nap < NAPS; nap++) {
        await sleep(`nap ${nap}`, 1)
        await step(`after ${nap}`, () => void resumedMs.push(performance.now() - beginMs))
      }
    }),
    { concurrency: 1 },
  )
  for (let job = 0; job < jobs; job++) await (await engine.enqueue(noop, payloadOf(job))).result()
  await worker.stop()
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs)
  checkSteps(file, jobs * (stepsPerJob + 2 * NAPS))
  if (resumedMs.length !== jobs * NAPS) throw new Error(`the handlers resumed ${resumedMs.length} times, not ${jobs * NAPS} times`)
  return { ...end, resumedMs: quantile(resumedMs, 0.5), resumedP99Ms: quantile(resumedMs, 0.99) }
}
