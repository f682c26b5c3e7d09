/** One job after another on an idle engine: from the call of enqueue to the handler's start. */
import { defineJob, openEngine } from '@millrace/engine'
import { PAYLOAD } from '../payload.ts'
import type { Scenario } from '../scenario.ts'

const ping = defineJob({ name: 'ping' })

export const idle: Scenario = async ({ file, durability, jobs }) => {
  const engine = await openEngine({ file, durability })
  let started = (): void => {}
  const worker = engine.work([ping.handler(() => started())], { concurrency: 1 })
  const micros: number[] = []
  for (let job = 0; job < jobs; job++) {
    const begin = performance.now()
    const start = new Promise<number>((resolve) => {
      started = () => resolve(performance.now())
    })
    const handle = engine.enqueue(ping, PAYLOAD)
    micros.push(((await start) - begin) * 1_000)
    await handle
    // Nothing is under way before the next one: the completion of this one is final too.
    await (await handle).result()
  }
  await worker.stop()
  await engine.stop()
  micros.sort((a, b) => a - b)
  const at = (q: number) => micros[Math.floor(q * micros.length)] ?? 0
  return { p50Micros: at(0.5), p99Micros: at(0.99) }
}
