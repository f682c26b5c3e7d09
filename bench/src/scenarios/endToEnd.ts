/**
 * Whole jobs through the public API: each enqueue awaited, so many in flight, handlers of one kind, until the last completion is
 * durable. The file may hold a backlog already.
 */
import { existsSync } from 'node:fs'
import { openEngine } from '@millrace/engine'
import { checkCompleted, journalEnd } from '../check.ts'
import { callerOf, handlerKind } from '../handlers.ts'
import { keepInFlight } from '../inFlight.ts'
import type { Scenario } from '../measurement.ts'
import { memory, startMeter } from '../meter.ts'
import { BACKLOG_TAG } from '../payload.ts'
import { endOf } from './end.ts'

export const endToEnd: Scenario = async ({ file, durability, jobs, inFlight, concurrency, handler }) => {
  const kind = handlerKind(handler)
  const before = existsSync(file) ? journalEnd(file) : 0
  const beginMs = performance.now()
  const engine = await openEngine({ file, durability })
  await engine.stats()
  const openMs = performance.now() - beginMs
  const rssOpenMb = memory()['rssMb'] as number

  const { promise: allHandled, resolve } = Promise.withResolvers<void>()
  let handled = 0
  // Of a backlog in the same lane, where the measured jobs left a place free.
  let alsoHandled = 0
  const stop = startMeter()
  const worker = engine.work(
    kind.handler((data) => {
      if (data.tag === BACKLOG_TAG) alsoHandled++
      else if (++handled === jobs) resolve()
    }),
    { concurrency },
  )
  await keepInFlight(inFlight, jobs, callerOf(engine, kind))
  await allHandled
  await worker.stop()
  const figures = stop(jobs)
  const end = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs + alsoHandled, before)
  return { ...figures, ...end, openMs, rssOpenMb, alsoHandled }
}
