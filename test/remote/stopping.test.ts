/** A stop ends a second after its timeout at the latest, whatever the server does: it is gone, or it falls silent. */
import { Engine } from '@millrace/client'
import { LIMITS } from '@millrace/core'
import { defineJob } from '@millrace/engine'
import type { VirtualClock } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { describe, expect, test } from 'vitest'
import { gate } from '../gate.ts'
import { FaultyProxy } from './proxy.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const a = defineJob({ name: 'a' })
const STEP_MS = 100

async function start() {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const { clock } = served
  const engine = new Engine(await served.port({}, proxy.url), { maxDataBytes: LIMITS.dataBytes, clock, host: 'h', pid: 1, local: false })
  return { ...served, proxy, engine }
}
type Started = Awaited<ReturnType<typeof start>>

const LOST: readonly [string, (started: Started) => Promise<void>][] = [
  ['falls silent', async ({ proxy }) => proxy.hold()],
  [
    'is gone',
    async ({ proxy, engine }) => {
      const broken = engine.stats().catch(() => {})
      proxy.refuse(true)
      await broken
    },
  ],
]

/** For how long the stop goes on, by the clock. */
async function lasts(clock: VirtualClock, stopping: Promise<void>, mostMs: number): Promise<number> {
  let stopped = false
  void stopping.then(() => {
    stopped = true
  })
  for (let ms = 0; ms <= mostMs; ms += STEP_MS) {
    await quiet()
    await quiet()
    if (stopped) return ms
    await clock.advance(STEP_MS)
  }
  return Number.POSITIVE_INFINITY
}

describe.each(LOST)('a server that %s', (_how, lose) => {
  test.each([
    [0, 1_000],
    [2_000, 3_000],
  ])('with a worker that has nothing to do: timeout %d ms', async (timeout, mostMs) => {
    const started = await start()
    started.engine.work(a.handler(() => 1))
    await started.engine.stats()
    await lose(started)
    expect(await lasts(started.clock, started.engine.stop({ timeout }), 100_000)).toBeLessThanOrEqual(mostMs)
  })

  test.each([
    [0, 1_000],
    [1_000, 2_000],
    [30_000, 31_000],
  ])('with a last completion that is not answered: timeout %d ms', async (timeout, mostMs) => {
    const started = await start()
    const held = gate()
    const worker = started.engine.work(a.handler(held.wait))
    await started.engine.enqueue(a)
    await until(() => held.runs === 1)
    await lose(started)
    held.open()
    await quiet()
    const stopping = worker.stop({ timeout })
    expect(await lasts(started.clock, stopping, 100_000)).toBeLessThanOrEqual(mostMs)
    expect(await lasts(started.clock, started.engine.stop({ timeout: 0 }), 100_000)).toBeLessThanOrEqual(1_000)
  })

  test('with calls that are not answered', async () => {
    const started = await start()
    await started.engine.stats()
    await lose(started)
    const refused = expect(started.engine.enqueue(a)).rejects.toMatchObject({
      code: expect.stringMatching(/COMMIT_UNKNOWN|ENGINE_STOPPED/),
    })
    await quiet()
    expect(await lasts(started.clock, started.engine.stop({ timeout: 2_000 }), 100_000)).toBeLessThanOrEqual(3_000)
    await refused
  })
})
