/** Days of failures, and of retention, under a clock that stands still until it is moved. */
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import {
  DeliveryFailedError,
  type DisabledReason,
  EventWebhooks,
  MemoryEndpointStore,
  type WebhookData,
  webhookJob,
} from '@millrace/webhooks'
import { expect, onTestFinished, test } from 'vitest'

interface Setting {
  readonly t: TestEngine
  readonly store: MemoryEndpointStore
  readonly feed: EventWebhooks
  readonly delivered: readonly WebhookData[]
  readonly disabled: readonly string[]
  /** Lets so much time pass, with an event an hour. */
  pass(hours: number): Promise<void>
}

async function setting(isUp: () => boolean, retention = {}): Promise<Setting> {
  const t = createTestEngine({ retention })
  const store = new MemoryEndpointStore()
  const delivered: WebhookData[] = []
  const disabled: string[] = []
  const onDisabled = ({ id }: { readonly id: string }, reason: DisabledReason) => void disabled.push(`${id} ${reason}`)
  const feed = new EventWebhooks(t.engine, { endpoints: store, clock: t.clock, onDisabled })
  t.engine.work([
    webhookJob.returns<void>().handler(({ data }) => {
      if (!isUp()) throw new DeliveryFailedError('down')
      delivered.push(data)
    }),
  ])
  onTestFinished(async () => {
    await feed.stop()
    await t[Symbol.asyncDispose]()
  })
  feed.start()
  await feed.add({ id: 'e1', url: 'https://example.com/', events: ['enqueued'] })
  const pass = async (hours: number) => {
    for (let hour = 0; hour < hours; hour++) {
      await t.engine.enqueue('unserved')
      await t.clock.advance('1h')
    }
  }
  return { t, store, feed, delivered, disabled, pass }
}

const endpointOf = async ({ store }: Setting) => (await store.list())[0]

test('five days without a delivery: disabled, and what is left is cancelled', async () => {
  const down = await setting(() => false)
  await down.pass(119)
  expect(down.disabled).toEqual([])
  expect(await endpointOf(down)).toMatchObject({ enabled: true, failingSince: expect.any(Date) })
  await down.pass(3)
  expect(down.disabled).toEqual(['e1 failing'])
  expect(await endpointOf(down)).toMatchObject({ enabled: false, disabledReason: 'failing' })
  const { queues } = await down.t.engine.stats()
  expect(queues['webhooks']).toMatchObject({ scheduled: 0, waiting: 0, active: 0 })
  expect(queues['webhooks']?.cancelled).toBeGreaterThan(0)
})

test('one delivery in between: the five days begin anew', async () => {
  let up = false
  const flaky = await setting(() => up)
  await flaky.pass(100)
  up = true
  await flaky.pass(30)
  expect(await endpointOf(flaky)).toMatchObject({ enabled: true, failingSince: undefined })
  up = false
  await flaky.pass(118)
  expect(flaky.disabled).toEqual([])
  await flaky.pass(5)
  expect(flaky.disabled).toEqual(['e1 failing'])
})

test('a restart of the feed forgets nothing of the days before it', async () => {
  const down = await setting(() => false)
  await down.pass(80)
  await down.feed.stop()
  const disabled = Promise.withResolvers<DisabledReason>()
  await using next = new EventWebhooks(down.t.engine, {
    endpoints: down.store,
    clock: down.t.clock,
    onDisabled: (_endpoint, reason) => disabled.resolve(reason),
  })
  next.start()
  await down.pass(43)
  expect(await disabled.promise).toBe('failing')
})

test('jobs that are not kept when they are done: nobody is disabled by mistake', async () => {
  let up = false
  const flaky = await setting(() => up, { completed: 0 })
  await flaky.pass(100)
  await flaky.feed.stop()
  // Nothing is remembered of whose deliveries these are.
  await using next = new EventWebhooks(flaky.t.engine, { endpoints: flaky.store, clock: flaky.t.clock })
  next.start()
  up = true
  await flaky.pass(24)
  expect(await endpointOf(flaky)).toMatchObject({ enabled: true, failingSince: undefined })
})

test('a feed that was away for longer than the journal is kept: the endpoint is told what it has missed', async () => {
  const away = await setting(() => true, { journal: '1d' })
  await away.pass(2)
  await away.feed.stop()
  const cursor = (await endpointOf(away))?.cursor ?? 0
  await away.pass(72)
  const before = away.delivered.length
  away.feed.start()
  await away.pass(1)
  const told = away.delivered.slice(before).map(({ body }) => body as { type: string; data: Record<string, number> })
  const gap = told.find(({ type }) => type === 'gap')
  expect(gap?.data['after']).toBe(cursor)
  expect(told.filter(({ type }) => type === 'gap')).toHaveLength(1)
  // All that the journal still has is told behind it.
  const seqs = told.filter(({ type }) => type !== 'gap').map(({ data }) => data['seq'] as number)
  expect(Math.min(...seqs)).toBeGreaterThanOrEqual(gap?.data['resumesAt'] as number)
  expect(seqs.length).toBeGreaterThan(20)
})
