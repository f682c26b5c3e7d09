/** New jobs one by one, each call awaited, so many in flight; nobody works. */
import { openEngine } from '@millrace/engine'
import { checkWaiting } from '../check.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { endOf } from './end.ts'

export const enqueue: Scenario = async ({ file, durability, jobs, inFlight }) => {
  const engine = await openEngine({ file, durability })
  const stop = startMeter()
  await keepInFlight(inFlight, jobs, (index) => engine.enqueue(noop, payloadOf(index)))
  const figures = stop(jobs)
  const end = await endOf(engine, file, jobs)
  checkWaiting(file, 'noop', jobs)
  return { ...figures, ...end }
}
