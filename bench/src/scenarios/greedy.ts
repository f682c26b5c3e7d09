/** A job of another key, behind a backlog of one key that may run two at a time: from the worker's start to the handler's. */
import { openEngine } from '@millrace/engine'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { memory } from '../meter.ts'
import { payloadOf } from '../payload.ts'

/** As long as a handler of the greedy key takes: until everything is measured. */
const AT_WORK = new Promise<never>(() => {})

export const greedy: Scenario = async ({ file, durability, backlogJobs, lot, concurrency }) => {
  const engine = await openEngine({ file, durability })
  await engine.queues.configure('default', { perKeyLimit: 2 })
  for (let first = 0; first < backlogJobs; first += lot) {
    const options = { concurrencyKey: 'greedy' }
    await engine.enqueueMany(
      Array.from({ length: Math.min(lot, backlogJobs - first) }, (_, index) => ({ job: noop, data: payloadOf(first + index), options })),
    )
  }
  const free = await engine.enqueue(noop, payloadOf(backlogJobs), { concurrencyKey: 'free' })
  const started = Promise.withResolvers<number>()
  const beginMs = performance.now()
  const worker = engine.work(
    noop.handler(({ job }) => {
      if (job.id !== free.id) return AT_WORK
      started.resolve(performance.now() - beginMs)
      return undefined
    }),
    { concurrency },
  )
  const freeStartsMs = await started.promise
  await free.result()
  const { active, completed, waiting } = (await engine.stats()).states
  if (active !== 2 || completed !== 1 || waiting !== backlogJobs - 2)
    throw new Error(`${active} jobs run, ${completed} are completed and ${waiting} wait, of ${backlogJobs} and one`)
  await worker.stop({ timeout: 0 })
  await engine.stop()
  return { freeStartsMs, ...memory() }
}
