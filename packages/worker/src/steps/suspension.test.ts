/** What a handler holds over a wait is freed: clients that are bound to its signal, and the handler itself. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { defineJob } from '../define.ts'
import { workbench } from '../testing/workbench.ts'

const WAITS = 10_000
/** More than the noise of a test's own process, and a small part of what the handlers would hold: 16 kB each. */
const NOISE_BYTES = 8_000_000
const HELD_NUMBERS = 2_000

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** A pool whose clients go back when the signal of their run is aborted. */
class Clients {
  readonly #max: number
  inUse = 0
  most = 0

  constructor(max: number) {
    this.#max = max
  }

  take(signal: AbortSignal): object {
    if (this.inUse === this.#max) throw new Error('no client is left')
    this.inUse++
    this.most = Math.max(this.most, this.inUse)
    signal.addEventListener('abort', () => void this.inUse--, { once: true })
    return { rows: Array.from({ length: HELD_NUMBERS }, (_, place) => place + 0.5) }
  }
}

test(`${WAITS} waits leave neither clients nor handlers`, { timeout: 120_000 }, async () => {
  const clients = new Clients(10)
  let settled = 0
  const job = defineJob({ name: 'a' })
  const bench = workbench(
    job.handler(async ({ signal, sleep }) => {
      const client = clients.take(signal)
      await sleep('nap', '1h').finally(() => settled++)
      return client
    }),
  )
  bench.calls.answer('recorded', () => ({ results: [], next: null, generation: 0 }))
  bench.calls.answer('wait', () => ({ results: [], ended: true }))
  const sleepOften = async (times: number, from: number) => {
    for (let done = 0; done < times; done += 10) {
      for (let place = 0; place < 10; place++) bench.grant({ seq: from + done + place })
      while (bench.worker.running > 0) await new Promise((resolve) => setImmediate(resolve))
      bench.calls.said.length = 0
    }
    for (let round = 0; round < 3; round++) {
      collect()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return process.memoryUsage().heapUsed
  }
  const before = await sleepOften(500, 1)
  const after = await sleepOften(WAITS - 500, 501)
  expect([clients.inUse, clients.most, settled, bench.worker.zombies]).toEqual([0, 10, 0, 0])
  expect(bench.clock.timers).toBe(0)
  expect(after - before).toBeLessThan(NOISE_BYTES)
})
