/** New jobs in lots: `enqueueMany` of arrays, each all or nothing, so many calls in flight; nobody works. */
import { openEngine } from '@millrace/engine'
import { checkWaiting } from '../check.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { endOf } from './end.ts'

export const bulk: Scenario = async ({ file, durability, jobs, inFlight, lot }) => {
  const engine = await openEngine({ file, durability })
  const stop = startMeter()
  await keepInFlight(inFlight, Math.ceil(jobs / lot), (index) => {
    const first = index * lot
    const size = Math.min(lot, jobs - first)
    return engine.enqueueMany(Array.from({ length: size }, (_, place) => ({ job: noop, data: payloadOf(first + place) })))
  })
  const figures = stop(jobs)
  const end = await endOf(engine, file, jobs)
  checkWaiting(file, 'noop', jobs)
  return { ...figures, ...end }
}
