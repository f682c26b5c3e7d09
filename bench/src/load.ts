/** Enqueues and handles flat out on this thread, until the last completion is durable. */
import type { Engine } from '@millrace/engine'
import { keepInFlight } from './inFlight.ts'
import { noop } from './jobs.ts'
import type { Settings } from './measurement.ts'
import { payloadOf } from './payload.ts'

export async function offerLoad(
  engine: Engine,
  { jobs, inFlight, concurrency }: Pick<Settings, 'jobs' | 'inFlight' | 'concurrency'>,
): Promise<void> {
  const { promise: allHandled, resolve } = Promise.withResolvers<void>()
  let handled = 0
  const worker = engine.work(
    noop.handler(() => {
      if (++handled === jobs) resolve()
    }),
    { concurrency },
  )
  await keepInFlight(inFlight, jobs, (index) => engine.enqueue(noop, payloadOf(index)))
  await allHandled
  await worker.stop()
}
