/** Whole jobs in one process, as in `endToEnd`, with one feature in use. */
import { openEngine } from '@millrace/engine'
import { checkCompleted } from '../check.ts'
import { FEATURES } from '../features.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { endOf } from './end.ts'

export const features: Scenario = async ({ file, durability, jobs: least, inFlight, concurrency, feature }) => {
  const used = FEATURES[feature]
  if (used === undefined) throw new RangeError(`there is no feature '${feature}': ${Object.keys(FEATURES).join(', ')}`)
  const { open, options, handler, beside, call, enqueues } = used
  const perCall = call?.jobs ?? 1
  const calls = Math.ceil(least / perCall)
  const jobs = calls * perCall
  const engine = await openEngine({ file, durability, ...open })
  const enqueuing = enqueues?.(engine) ?? engine
  const end = await beside?.(engine)
  const { promise: allHandled, resolve } = Promise.withResolvers<void>()
  let handled = 0
  const count = (more: number): void => {
    handled += more
    if (handled === jobs) resolve()
  }
  const stop = startMeter()
  const worker = engine.work(handler?.(count) ?? noop.handler(() => count(1)), { concurrency })
  await keepInFlight(Math.ceil(inFlight / perCall), calls, (index) =>
    call === undefined ? enqueuing.enqueue(noop, payloadOf(index), options?.(index)) : call.make(engine, index * perCall),
  )
  await allHandled
  await worker.stop()
  await end?.(jobs)
  const figures = stop(jobs)
  const last = await endOf(engine, file, jobs)
  if (open?.retention === undefined) checkCompleted(file, 'noop', jobs)
  return { ...figures, ...last }
}
