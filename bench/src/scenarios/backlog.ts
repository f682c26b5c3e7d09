/** Fills a file with waiting jobs of a name that nobody serves. The file stays where `file` says. */
import { defineJob, openEngine } from '@millrace/engine'
import { PAYLOAD } from '../payload.ts'
import type { Scenario } from '../scenario.ts'

const other = defineJob({ name: 'other' })
const LOT = 1_000

export const backlog: Scenario = async ({ file, durability, jobs }) => {
  const engine = await openEngine({ file, durability })
  const begin = performance.now()
  let left = Math.ceil(jobs / LOT)
  const produce = async () => {
    while (left-- > 0) await engine.enqueueMany(Array.from({ length: LOT }, () => ({ job: other, data: PAYLOAD })))
  }
  await Promise.all([produce(), produce(), produce(), produce()])
  const seconds = (performance.now() - begin) / 1_000
  await engine.stop()
  return { jobsPerSecond: jobs / seconds }
}
