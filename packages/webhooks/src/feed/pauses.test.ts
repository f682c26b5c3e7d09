// How long the feed waits while its store or its engine is in trouble.
import { type Engine, openEngine } from '@millrace/engine'
import { systemClock } from '@millrace/worker'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EventWebhooks } from './eventWebhooks.ts'
import { MemoryEndpointStore } from './memoryStore.ts'

let engine: Engine
beforeEach(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterEach(() => engine.stop())

class FailingStore extends MemoryEndpointStore {
  fails = true

  override async list() {
    if (this.fails) throw new Error('the disk is away')
    return super.list()
  }
}

test('pauses double from half a second to 30 seconds while the store fails', async () => {
  const endpoints = new FailingStore()
  const pauses: number[] = []
  // Each pause is over at once.
  const setTimer = (ms: number, wake: () => void) => {
    pauses.push(ms)
    endpoints.fails = pauses.length < 9
    queueMicrotask(wake)
    return () => {}
  }
  const feed = new EventWebhooks(engine, { endpoints, clock: { read: systemClock.read, setTimer } })
  const healed = new Promise<void>((resolve) => {
    const list = endpoints.list.bind(endpoints)
    endpoints.list = async () => {
      const all = await list()
      resolve()
      return all
    }
  })
  feed.start()
  await healed
  await feed.stop()
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
})
