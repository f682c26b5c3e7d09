/** Whole jobs through the public API: each enqueue awaited, so many in flight, no-op handlers, until the last completion is durable. */
import { defineJob, openEngine } from '@millrace/engine'
import { checkCompleted } from '../check.ts'
import { PAYLOAD } from '../payload.ts'
import type { Scenario } from '../scenario.ts'

const noop = defineJob({ name: 'noop' })

export const endToEnd: Scenario = async ({ file, durability, jobs, inFlight }) => {
  const engine = await openEngine({ file, durability })
  const before = (await engine.stats()).totals.completed
  let handled = 0
  const worker = engine.work([noop.handler(() => void handled++)], { concurrency: inFlight })
  const cpu = process.cpuUsage()
  const begin = performance.now()
  let left = jobs
  const produce = async () => {
    while (left-- > 0) await engine.enqueue(noop, PAYLOAD)
  }
  await Promise.all(Array.from({ length: inFlight }, produce))
  while (handled < jobs) await new Promise((resolve) => setImmediate(resolve))
  await worker.stop()
  const seconds = (performance.now() - begin) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const completed = (await engine.stats()).totals.completed - before
  await engine.stop()
  if (completed !== jobs) throw new Error(`${completed} of ${jobs} jobs completed`)
  checkCompleted(file, 'noop', jobs)
  return { jobsPerSecond: jobs / seconds, cpuMicrosPerJob: (user + system) / jobs }
}
