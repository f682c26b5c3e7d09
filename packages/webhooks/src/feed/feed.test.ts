/** Batches of the journal, by hand. */
import type { Engine, EngineEvent, JobRequest } from '@millrace/client'
import { openEngine } from '@millrace/engine'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { Feed } from './feed.ts'
import { MemoryEndpointStore } from './memoryStore.ts'

/** More than one command takes of the longest, and less than two do. */
const BATCH = 600

let engine: Engine
beforeEach(async () => {
  engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
})

function feedOf(endpoints: readonly Endpoint[], store = new MemoryEndpointStore(endpoints)): Feed {
  const settings = { engine, store, queue: 'webhooks', disableAfterMs: 1, onDisabled: undefined, logger: undefined, now: Date.now }
  return new Feed(settings, endpoints)
}

const endpointOf = (id: string, change: Partial<Endpoint> = {}): Endpoint => ({
  id,
  url: 'https://example.com/',
  events: ['enqueued'],
  enabled: true,
  createdAt: new Date(0),
  cursor: 0,
  ...change,
})
const eventOf = (seq: number, name = 'noop'): EngineEvent => ({
  type: 'enqueued',
  seq,
  at: new Date(0),
  jobId: `01890000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
  queue: 'default',
  name,
  run: 0,
  attempt: 0,
})

test('an endpoint of the longest URL and headers does not hold up another', async () => {
  // Of JSON these take two bytes each.
  const url = `https://example.com/${'"'.repeat(8_192 - 20)}`
  const headers = { 'x-long': '"'.repeat(8_192 - 6) }
  const store = new MemoryEndpointStore([endpointOf('long', { url, headers }), endpointOf('bystander', { names: ['last'] })])
  await feedOf(await store.list(), store).handle([
    ...Array.from({ length: BATCH }, (_, index) => eventOf(index + 1)),
    eventOf(BATCH + 1, 'last'),
  ])
  expect((await engine.stats()).queues['webhooks']?.waiting).toBe(BATCH + 2)
  const { jobs } = await engine.list({ tag: 'endpoint:bystander' })
  expect(jobs.map(({ data }) => data)).toMatchObject([{ url: 'https://example.com/', body: { data: { name: 'last' } } }])
  expect((await store.list()).map(({ cursor }) => cursor)).toEqual([BATCH + 1, BATCH + 1])
})

test('deliveries are enqueued as they are made: not all of a batch for all endpoints at once', async () => {
  const endpoints = Array.from({ length: 7 }, (_, index) => endpointOf(`e${index}`))
  const sizes: number[] = []
  const enqueueMany = engine.enqueueMany.bind(engine)
  engine.enqueueMany = async (requests) => {
    const all = [...(requests as Iterable<JobRequest>)]
    sizes.push(all.length)
    return enqueueMany(all)
  }
  await feedOf(endpoints).handle(Array.from({ length: BATCH }, (_, index) => eventOf(index + 1)))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(7 * BATCH)
  expect(Math.max(...sizes)).toBeLessThan(500 + 7)
})
