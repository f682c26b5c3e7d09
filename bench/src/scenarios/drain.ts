/** A file with waiting jobs, and a worker: from its start until the last completion is durable. */
import { openEngine } from '@millrace/engine'
import { checkCompleted, journalEnd } from '../check.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { endOf } from './end.ts'

export const drain: Scenario = async ({ file, durability, jobs, concurrency }) => {
  const before = journalEnd(file)
  const engine = await openEngine({ file, durability })
  const { promise: allHandled, resolve } = Promise.withResolvers<void>()
  let handled = 0
  const stop = startMeter()
  const worker = engine.work(
    noop.handler(() => {
      if (++handled === jobs) resolve()
    }),
    { concurrency },
  )
  await allHandled
  await worker.stop()
  const figures = stop(jobs)
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs, before)
  return { ...figures, ...end }
}
