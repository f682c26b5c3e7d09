/** Batches of the journal, by hand. */
import type { Engine, EngineEvent, JobRequest } from '@millrace/client'
import { openEngine } from '@millrace/engine'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { prover } from './deliveries.ts'
import type { OnDisabled } from './disabled.ts'
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

const prove = prover(() => undefined)

function feedOf(endpoints: readonly Endpoint[], store = new MemoryEndpointStore(endpoints), onDisabled?: OnDisabled): Feed {
  const settings = { engine, store, queue: 'webhooks', prove, disableAfterMs: 86_400_000, onDisabled, logger: undefined, now: Date.now }
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
  engine.enqueueMany = async (requests: Iterable<JobRequest>) => {
    const all = [...requests]
    sizes.push(all.length)
    return enqueueMany(all)
  }
  await feedOf(endpoints).handle(Array.from({ length: BATCH }, (_, index) => eventOf(index + 1)))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(7 * BATCH)
  expect(Math.max(...sizes)).toBeLessThan(500 + 7)
})

test('an endpoint that is ahead of the others stays there when the cursors are saved', async () => {
  const store = new MemoryEndpointStore([endpointOf('ahead', { cursor: 9 }), endpointOf('behind', { cursor: 2 })])
  const feed = feedOf(await store.list(), store)
  await feed.handle([eventOf(3), eventOf(4)])
  await feed.save()
  expect((await store.list()).map(({ id, cursor }) => [id, cursor])).toEqual([
    ['ahead', 9],
    ['behind', 4],
  ])
  const { jobs } = await engine.list({ queue: 'webhooks' })
  expect(jobs.map(({ tags }) => tags)).toEqual([['endpoint:behind'], ['endpoint:behind']])
})

test('an endpoint is stored as disabled only once its deliveries are cancelled: what fails in between is done again', async () => {
  const endpoints = [endpointOf('gone'), endpointOf('bystander')]
  const store = new MemoryEndpointStore(endpoints)
  const told: string[] = []
  const feed = feedOf(endpoints, store, ({ id }) => told.push(id))
  await feed.handle([eventOf(1), eventOf(2)])
  const [delivery] = (await engine.list({ tag: 'endpoint:gone' })).jobs
  const refused: EngineEvent = {
    ...eventOf(3, 'http'),
    type: 'failed',
    queue: 'webhooks',
    error: 'WebhookGoneError',
    jobId: delivery?.id ?? '',
  }
  const { cancelMany } = engine
  engine.cancelMany = () => Promise.reject(new Error('the engine is away'))
  await expect(feed.handle([refused])).rejects.toThrow('the engine is away')
  expect((await store.list()).map(({ enabled, cursor }) => [enabled, cursor])).toEqual([
    [true, 2],
    [true, 2],
  ])
  engine.cancelMany = cancelMany
  // As the next pass begins: with what the store has.
  await feedOf(await store.list(), store, ({ id }) => told.push(id)).handle([refused])
  expect((await store.list()).map(({ id, enabled, disabledReason }) => [id, enabled, disabledReason])).toEqual([
    ['gone', false, 'gone'],
    ['bystander', true, undefined],
  ])
  expect(told).toEqual(['gone'])
  const states = async (id: string) => (await engine.list({ tag: `endpoint:${id}` })).jobs.map(({ state }) => state)
  expect([await states('gone'), await states('bystander')]).toEqual([
    ['cancelled', 'cancelled'],
    ['waiting', 'waiting'],
  ])
})
