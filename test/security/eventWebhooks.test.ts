/** Attacks on event webhooks with tokens that may enqueue, read and work: nobody but the feed creates, signs or judges a delivery. */
import type { Engine } from '@millrace/client'
import { NonRetryableError, type Scope } from '@millrace/core'
import { EventWebhooks, MemoryEndpointStore, type WebhookData, webhookHandler } from '@millrace/webhooks'
import { defineJob } from '@millrace/worker'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { testApi } from '../../packages/http/src/testing/api.ts'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { type Received, receiver } from '../../packages/webhooks/src/testing/receiver.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const ATTACKER = 'token-of-the-attacker'
const SCOPES: readonly Scope[] = ['enqueue', 'read', 'work']

let engine: Engine
let store: MemoryEndpointStore
let feed: EventWebhooks
let api: ReturnType<typeof testApi>
beforeEach(() => {
  engine = openInThread()
  store = new MemoryEndpointStore()
  feed = new EventWebhooks(engine, { endpoints: store, secrets: { main: SECRET } })
  onTestFinished(async () => {
    await feed.stop()
    await engine.stop({ timeout: 0 })
  })
  feed.start()
  api = testApi(engine, { token: [{ token: ATTACKER, scopes: SCOPES, name: 'attacker' }] })
})

/** Posts a job with the attacker's token. */
function attack(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return api.send('POST', '/v1/jobs', { token: ATTACKER, body, headers })
}

const deliver = () =>
  engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any', secrets: { main: SECRET } })], { queues: ['webhooks'] })
const seqsOf = ({ received }: { readonly received: readonly Received[] }) =>
  received.map(({ body }) => JSON.parse(body.toString()).data.seq as number)
const endpointNow = async () => (await store.list())[0]
const ended = (type: 'failed' | 'retrying' | 'cancelled') => new Promise<void>((resolve) => void engine.once(type, () => resolve()))

test('no delivery is suppressed by a job that takes its key first', async () => {
  const server = await receiver()
  await feed.add({ id: 'shop', url: server.url, events: ['enqueued'], names: ['order'] })
  const { seq } = await new Promise<{ readonly seq: number }>((resolve) => {
    engine.once('enqueued', resolve)
    void engine.enqueue('bystander')
  })
  const answers = []
  for (let next = seq; next < seq + 20; next++) {
    for (const key of [`endpoint:shop:${next}`, `millrace:endpoint:shop:${next}`])
      answers.push((await attack({ job: 'http', data: {}, options: { idempotencyKey: key, queue: 'elsewhere', delay: '1h' } })).status)
  }
  expect(answers).toEqual(Array.from({ length: 20 }, () => [201, 403]).flat())
  await engine.enqueueMany(Array.from({ length: 5 }, () => ({ job: 'order' })))
  deliver()
  await server.until(5)
  expect(new Set(seqsOf(server)).size).toBe(5)
})

test('an event that was told is signed for no other job, by whichever key', async () => {
  const server = await receiver()
  await feed.add({ id: 'shop', url: server.url, events: ['enqueued'], names: ['order'], secret: 'main' })
  deliver()
  await engine.enqueue('order')
  await server.until(1)
  const [job] = (await engine.list({ queue: 'webhooks' })).jobs
  const { data, idempotencyKey, tags } = (await engine.get(job?.id ?? '')) ?? {}
  expect((data as WebhookData).proof).toBeDefined()
  const options = { queue: 'webhooks', tags, maxAttempts: 1 }
  const failed = ended('failed')
  expect((await attack({ job: 'http', data, options })).status).toBe(201)
  await failed
  const again = ended('failed')
  expect((await attack({ job: 'http', data, options: { ...options, idempotencyKey: 'again' } })).status).toBe(201)
  await again
  expect((await attack({ job: 'http', data, options: { ...options, idempotencyKey } })).status).toBe(403)
  expect((await attack({ job: 'http', data, options }, { 'idempotency-key': String(idempotencyKey) })).status).toBe(403)
  expect(server.received).toHaveLength(1)
})

test('a job that another has put beside the deliveries disables no endpoint', async () => {
  const url = 'https://example.com/hook'
  await feed.add({ id: 'shop', url, events: ['enqueued'], names: ['order'] })
  const delivered = new Promise<void>((resolve) => {
    engine.on('enqueued', ({ queue }) => void (queue === 'webhooks' && resolve()))
  })
  await engine.enqueue('order')
  await delivered
  const gone = Object.assign(new NonRetryableError('gone'), { name: 'WebhookGoneError' })
  engine.work([defineJob({ name: 'evil' }).handler(() => Promise.reject(gone))], { queues: ['webhooks'] })
  const failed = ended('failed')
  expect((await attack({ job: 'evil', data: { url }, options: { queue: 'webhooks', tags: ['endpoint:shop'] } })).status).toBe(201)
  await failed
  // What the feed has heard by then is saved with the next delivery.
  const next = new Promise<void>((resolve) => {
    engine.on('enqueued', ({ queue }) => void (queue === 'webhooks' && resolve()))
  })
  await engine.enqueue('order')
  await next
  await feed.stop()
  expect(await endpointNow()).toMatchObject({ id: 'shop', enabled: true })
  expect((await endpointNow())?.failingSince).toBeUndefined()
  expect((await engine.list({ queue: 'webhooks', name: 'http' })).jobs.map(({ state }) => state)).toEqual(['waiting', 'waiting'])
})

test('a replay makes nothing of a job that another has put among the cancelled deliveries', async () => {
  const server = await receiver()
  await feed.add({ id: 'shop', url: server.url, events: ['enqueued'], names: ['order'], secret: 'main' })
  const data = { url: 'https://example.com/former', body: { type: 'payment.completed' } }
  const { body } = await attack({ job: 'http', data, options: { queue: 'webhooks', tags: ['endpoint:shop'] } })
  await feed.disable('shop')
  await feed.enable('shop', { replay: true })
  expect((await engine.get(body.id))?.data).toEqual(data)
  const mine = (await engine.list({ queue: 'webhooks' })).jobs
  expect(mine.map(({ id }) => id)).toEqual([body.id])
})
