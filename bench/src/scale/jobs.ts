/** Whole jobs, as all measurements here do them. */
import type { Engine } from '@millrace/engine'
import { noop } from '../jobs.ts'
import { payloadOf } from '../payload.ts'

export const IN_FLIGHT = 500
const TAG = 'scaled'

/** Enqueues jobs, so many at a time, each awaited. */
export async function produce(producer: Engine, jobs: number, inFlight: number): Promise<void> {
  let sent = 0
  const send = async (): Promise<void> => {
    while (sent < jobs) await producer.enqueue(noop, payloadOf(sent++, TAG))
  }
  await Promise.all(Array.from({ length: inFlight }, send))
}

/** Keeps so many jobs in flight, and resolves when all are done, to how many were done in a second. */
export async function wholeJobs(producer: Engine, consumer: Engine, jobs: number): Promise<number> {
  let done = 0
  const all = Promise.withResolvers<void>()
  const worker = consumer.work(
    noop.handler(() => {
      if (++done === jobs) all.resolve()
    }),
    { concurrency: IN_FLIGHT },
  )
  const from = performance.now()
  await produce(producer, jobs, IN_FLIGHT)
  await all.promise
  const seconds = (performance.now() - from) / 1_000
  await worker.stop()
  return jobs / seconds
}
