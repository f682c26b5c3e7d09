/** One job after another on an idle engine: from the call of enqueue to the handler's start. */
import { openEngine } from '@millrace/engine'
import { checkCompleted } from '../check.ts'
import { noop } from '../jobs.ts'
import type { Scenario } from '../measurement.ts'
import { payloadOf } from '../payload.ts'
import { quantile } from '../quantile.ts'
import { endOf } from './end.ts'

export const idle: Scenario = async ({ file, durability, jobs }) => {
  const engine = await openEngine({ file, durability })
  let started = (): void => {}
  const worker = engine.work(
    noop.handler(() => started()),
    { concurrency: 1 },
  )
  const micros: number[] = []
  for (let job = 0; job < jobs; job++) {
    const beginMs = performance.now()
    const start = new Promise<number>((resolve) => {
      started = () => resolve(performance.now())
    })
    const handle = engine.enqueue(noop, payloadOf(job))
    micros.push(((await start) - beginMs) * 1_000)
    // Nothing is under way before the next one: the completion of this one is final too.
    await (await handle).result()
  }
  await worker.stop()
  const { turns = 0 } = await endOf(engine, file, jobs)
  checkCompleted(file, 'noop', jobs)
  return { p50Micros: quantile(micros, 0.5), p99Micros: quantile(micros, 0.99), turns }
}
