/**
 * So many jobs sleep until the same moment: from that moment until the handler of the last one has resumed. The file may hold other
 * sleepers already.
 */
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { openEngine } from '@millrace/engine'
import { checkCompleted, journalEnd } from '../check.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf, STEP_RESULT } from '../payload.ts'
import { endOf } from './end.ts'

/** The time until all of them sleep, per job and at least. */
const ASLEEP_MS = { perJob: 0.5, least: 2_000 }

export const sleepers: Scenario = async ({ file, durability, jobs, lot, concurrency, backlogJobs }) => {
  const before = existsSync(file) ? journalEnd(file) : 0
  const engine = await openEngine({ file, durability })
  const allResumed = Promise.withResolvers<number>()
  const due = new Date(Date.now() + Math.max(ASLEEP_MS.least, jobs * ASLEEP_MS.perJob))
  let resumed = 0
  const worker = engine.work(
    noop.handler(async ({ step, sleep }) => {
      await step('before', () => STEP_RESULT)
      await sleep('until', due)
      if (++resumed === jobs) allResumed.resolve(Date.now() - due.getTime())
    }),
    { concurrency },
  )
  for (let first = 0; first < jobs; first += lot) {
    const size = Math.min(lot, jobs - first)
    await engine.enqueueMany(Array.from({ length: size }, (_, index) => ({ job: noop, data: payloadOf(first + index) })))
  }
  for (;;) {
    const { scheduled } = (await engine.stats()).states
    if (scheduled === jobs + backlogJobs) break
    if (Date.now() >= due.getTime()) throw new Error(`${scheduled} jobs sleep in time, not ${jobs + backlogJobs}`)
    await setTimeout(10)
  }
  // Until the moment comes, nothing uses the processor.
  const stop = startMeter()
  const resumedMs = await allResumed.promise
  await worker.stop()
  const figures = stop(jobs)
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs, before)
  return { ...end, ...figures, resumedMs, jobsPerSecond: (jobs * 1_000) / resumedMs }
}
