/** Endpoints fed from a real engine's journal, to a real receiver. */
import type { ServerResponse } from 'node:http'
import type { JobRequest } from '@millrace/client'
import { EVENT_TYPES } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { defineJob } from '@millrace/worker'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openInThread } from '../../../testkit/src/testing/inThread.ts'
import { webhookHandler } from '../deliver/handler.ts'
import { type WebhookData, webhookJob } from '../job.ts'
import { verify } from '../signature.ts'
import { type Received, receiver } from '../testing/receiver.ts'
import type { EventWebhook } from './deliveries.ts'
import type { DisabledReason, Endpoint, EndpointChange, NewEndpoint } from './endpoint.ts'
import { EventWebhooks, type EventWebhooksOptions } from './eventWebhooks.ts'
import { headOf } from './head.ts'
import { MemoryEndpointStore } from './memoryStore.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

let engine: Engine
let store: MemoryEndpointStore
let feeds: EventWebhooks[]
beforeEach(async () => {
  engine = openInThread()
  store = new MemoryEndpointStore()
  feeds = []
})
afterEach(async () => {
  for (const feed of feeds) await feed.stop()
  await engine.stop()
})

function started(options: Partial<EventWebhooksOptions> = {}): EventWebhooks {
  const feed = new EventWebhooks(engine, { endpoints: store, secrets: { main: SECRET }, ...options })
  feeds.push(feed)
  feed.start()
  return feed
}

function work(): void {
  engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any', secrets: { main: SECRET } })], { queues: ['webhooks'] })
}

/** Jobs that run, in other queues. */
function workOthers(): void {
  engine.work([defineJob({ name: 'noop' }).handler(() => 'done')], { queues: ['default'] })
}

/** Resolves when so many deliveries have come to the queue. */
function fedUntil(count: number): Promise<void> {
  return new Promise((resolve) => {
    engine.on('enqueued', ({ queue }) => {
      if (queue === 'webhooks' && --count === 0) resolve()
    })
  })
}

const told = (received: readonly Received[]): EventWebhook[] => received.map(({ body }) => JSON.parse(body.toString()))
const endpointOf = (url: string, change: Partial<NewEndpoint> = {}): NewEndpoint => ({ id: 'e1', url, events: ['completed'], ...change })
const cursorOf = async (id = 'e1'): Promise<number | undefined> => (await store.list()).find((endpoint) => endpoint.id === id)?.cursor

test('a test goes to the address of its endpoint alone, signed, disabled or not, and is tried once', async () => {
  const [server, bystander] = [await receiver(), await receiver()]
  work()
  const feed = started()
  await feed.add(endpointOf(server.url, { secret: 'main' }))
  await feed.add(endpointOf(bystander.url, { id: 'e2' }))
  await feed.disable('e1')
  const ids = [await feed.test('e1'), await feed.test('e1')]
  await server.until(2)
  expect(told(server.received)).toEqual([1, 2].map(() => ({ type: 'test', timestamp: expect.stringMatching(/Z$/), data: {} })))
  const [{ headers, body }] = server.received as [Received]
  expect(verify({ headers, body, secret: SECRET }).id).toBe(headers['webhook-id'])
  expect(new Set(ids).size).toBe(2)
  expect(await engine.get(ids[0] as string)).toMatchObject({ queue: 'webhooks', tags: ['endpoint:e1'], maxAttempts: 1 })
  expect(bystander.received).toEqual([])
  await expect(feed.test('nobody')).rejects.toMatchObject({ name: 'EndpointNotFoundError' })
})

test('an event that fits is told once, signed, as it happened', async () => {
  const server = await receiver()
  work()
  workOthers()
  await started().add(endpointOf(server.url, { secret: 'main', headers: { 'x-own': 'yes' } }))
  const handle = await engine.enqueue('noop', 1)
  await server.until(1)
  const [{ headers, body }] = server.received as [Received]
  expect(told(server.received)).toEqual([
    {
      type: 'job.completed',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { seq: expect.any(Number), jobId: handle.id, queue: 'default', name: 'noop', run: 1, attempt: 1 },
    },
  ])
  expect(headers).toMatchObject({ 'x-own': 'yes', 'millrace-queue': 'webhooks' })
  const { id } = verify({ headers, body, secret: SECRET })
  expect(id).toBe(headers['millrace-job-id'])
  expect(await engine.get(id)).toMatchObject({ name: 'http', queue: 'webhooks', tags: ['endpoint:e1'], concurrencyKey: 'endpoint:e1' })
})

test('each endpoint has the types, queues and names that it asks for', async () => {
  const servers = { all: await receiver(), mail: await receiver(), noop: await receiver() }
  work()
  const feed = started()
  await feed.add(endpointOf(servers.all.url, { id: 'all', events: ['enqueued'] }))
  await feed.add(endpointOf(servers.mail.url, { id: 'mail', events: ['enqueued', 'cancelled'], queues: ['mail'] }))
  await feed.add(endpointOf(servers.noop.url, { id: 'noop', events: ['enqueued'], names: ['noop'] }))
  const [, letter] = await engine.enqueueMany([{ job: 'noop' }, { job: 'letter', options: { queue: 'mail' } }, { job: 'other' }])
  await engine.cancel(letter?.id ?? '')
  await Promise.all([servers.all.until(3), servers.mail.until(2), servers.noop.until(1)])
  const names = (received: readonly Received[]) =>
    told(received)
      .map(({ type, data }) => `${type} ${data['name']}`)
      .toSorted()
  expect(names(servers.all.received)).toEqual(['job.enqueued letter', 'job.enqueued noop', 'job.enqueued other'])
  expect(names(servers.mail.received)).toEqual(['job.cancelled letter', 'job.enqueued letter'])
  expect(names(servers.noop.received)).toEqual(['job.enqueued noop'])
})

test('a new endpoint begins at the present; what happens to deliveries is told to nobody', async () => {
  const server = await receiver()
  work()
  await engine.enqueue('before')
  await started().add(endpointOf(server.url, { events: EVENT_TYPES }))
  await engine.enqueue('after')
  await server.until(1)
  await engine.enqueue('last')
  await server.until(2)
  expect(told(server.received).map(({ type, data }) => `${type} ${data['name']}`)).toEqual(['job.enqueued after', 'job.enqueued last'])
  expect((await engine.stats()).totals.enqueued).toBe(5)
})

test('events of queues and workers: of their types, queues where some are named, and never by the name of a job', async () => {
  const [mail, names, all] = [await receiver(), await receiver(), await receiver()]
  work()
  await engine.stats()
  const feed = started()
  const events = ['queue.paused', 'worker.draining'] as const
  await feed.add(endpointOf(mail.url, { id: 'mail', events, queues: ['mail'] }))
  await feed.add(endpointOf(names.url, { id: 'names', events: [...events, 'enqueued'], names: ['mail'] }))
  await feed.add(endpointOf(all.url, { id: 'all', events }))
  for (const queue of ['mail', 'other']) await engine.queues.configure(queue, {})
  await engine.queues.pause('mail', { job: 'mail' })
  await engine.queues.pause('other')
  await engine.enqueue('mail')
  await Promise.all([mail.until(1), names.until(1), all.until(2)])
  const types = ({ received }: typeof mail) =>
    told(received)
      .map(({ type, data }) => `${type} ${data['queue']} ${data['name']}`)
      .sort()
  expect(types(mail)).toEqual(['queue.paused mail mail'])
  expect(types(names)).toEqual(['job.enqueued default mail'])
  expect(types(all)).toEqual(['queue.paused mail mail', 'queue.paused other undefined'])
})

test('goes on where it was when it is started again', async () => {
  const server = await receiver()
  work()
  const first = started()
  await first.add(endpointOf(server.url, { events: ['enqueued'] }))
  await engine.enqueue('one')
  await server.until(1)
  await first.stop()
  await engine.enqueue('two')
  started()
  await engine.enqueue('three')
  await server.until(3)
  expect(told(server.received).map(({ data }) => data['name'])).toEqual(['one', 'two', 'three'])
})

describe('when it dies between the jobs and the cursor', () => {
  test('nothing is lost, and nothing is told twice', async () => {
    const server = await receiver()
    work()
    // As if the process had died: the deliveries are committed, the cursor is not saved.
    let failing = 0
    const save = store.update.bind(store)
    store.update = async (changes: readonly EndpointChange[]) => {
      if (++failing % 3 !== 0) throw new Error('the process has died')
      await save(changes)
    }
    const clock = {
      read: () => ({ wall: Date.now(), mono: performance.now() }),
      setTimer(_ms: number, wake: () => void) {
        const timer = setImmediate(wake)
        return () => clearImmediate(timer)
      },
    }
    await started({ clock }).add(endpointOf(server.url, { events: ['enqueued'] }))
    for (let number = 0; number < 20; number++) await engine.enqueue('numbered', number)
    await server.until(20)
    for (const feed of feeds) await feed.stop()
    expect(failing).toBeGreaterThan(2)
    const seqs = told(server.received).map(({ data }) => data['seq'])
    expect(new Set(seqs).size).toBe(20)
    expect((await engine.stats()).totals.enqueued).toBe(40)
  })

  test('a second feed on the same endpoints adds nothing', async () => {
    const server = await receiver()
    work()
    const feed = started()
    started()
    await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
    for (const one of feeds) one.refresh()
    await engine.enqueueMany(Array.from({ length: 50 }, () => ({ job: 'noop' })))
    await server.until(50)
    for (const one of feeds) await one.stop()
    expect((await engine.stats()).totals.enqueued).toBe(100)
  })
})

test('cursors move with what nobody wants, too', async () => {
  await started().add(endpointOf('https://example.com/', { events: ['failed'] }))
  const before = (await cursorOf()) as number
  const updated = new Promise<void>((resolve) => {
    const save = store.update.bind(store)
    store.update = async (changes) => save(changes).then(resolve)
  })
  await engine.enqueueMany(Array.from({ length: 1_500 }, () => ({ job: 'unserved' })))
  await updated
  expect(await cursorOf()).toBeGreaterThanOrEqual(before + 1_000)
})

test('a journal that was put back to an earlier state: each endpoint is told, and begins at its end', async () => {
  const server = await receiver()
  work()
  await engine.enqueue('before')
  const head = await headOf(engine)
  await store.save({ ...endpointOf(server.url, { events: ['enqueued'] }), enabled: true, createdAt: new Date(), cursor: head + 1_000 })
  started()
  await server.until(1)
  await engine.enqueue('after')
  await server.until(2)
  expect(told(server.received)).toMatchObject([
    { type: 'gap', data: { after: head + 1_000, resumesAt: head + 1 } },
    { type: 'job.enqueued', data: { name: 'after' } },
  ])
})

describe('an endpoint that answers 410', () => {
  test('is disabled at once, what is left for it is cancelled, and it is fed again only when it is enabled', async () => {
    const server = await receiver((_received, response, count) => void response.writeHead(count === 1 ? 410 : 200).end())
    const other = await receiver()
    const disabled = Promise.withResolvers<[Endpoint, DisabledReason]>()
    const feed = started({ onDisabled: (...said) => disabled.resolve(said) })
    await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
    await feed.add(endpointOf(other.url, { id: 'e2', events: ['enqueued'] }))
    // Not yet delivered: those are cancelled with it.
    await engine.queues.configure('webhooks', {})
    await engine.queues.pause('webhooks')
    await engine.enqueueMany([{ job: 'one' }, { job: 'two' }, { job: 'three' }])
    engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any' })], { queues: ['webhooks'], concurrency: 1 })
    await engine.queues.resume('webhooks')
    const [endpoint, reason] = await disabled.promise
    expect([endpoint.id, endpoint.enabled, reason]).toEqual(['e1', false, 'gone'])
    expect((await store.list())[0]).toMatchObject({ enabled: false, disabledReason: 'gone' })
    const sent = server.received.length

    await engine.enqueue('four')
    await other.until(4)
    expect(server.received).toHaveLength(sent)
    await feed.enable('e1')
    await engine.enqueue('five')
    await other.until(5)
    await server.until(sent + 1)
    expect(told(server.received).at(-1)?.data['name']).toBe('five')
    expect((await store.list())[0]).toMatchObject({ enabled: true, disabledReason: undefined })
  })

  test('enabled with replay: what was cancelled is told, and what has happened since', async () => {
    const server = await receiver((_received, response, count) => void response.writeHead(count === 1 ? 410 : 200).end())
    const disabled = Promise.withResolvers<void>()
    const feed = started({ onDisabled: () => disabled.resolve() })
    await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
    await engine.enqueueMany([{ job: 'one' }, { job: 'two' }, { job: 'three' }])
    // One at a time: two of them have yet to be tried when the first is refused.
    await engine.queues.configure('webhooks', { rateLimit: { limit: 1, period: '1s' } })
    work()
    await disabled.promise
    await engine.enqueue('four')
    await engine.queues.configure('webhooks', { rateLimit: null })
    await feed.enable('e1', { replay: true })
    await server.until(4)
    expect(new Set(told(server.received).map(({ data }) => data['name']))).toEqual(new Set(['one', 'two', 'three', 'four']))
  })
})

describe('an endpoint that has gone elsewhere', () => {
  test('is not judged by what is delivered to where it was', async () => {
    const held = Promise.withResolvers<ServerResponse>()
    const former = await receiver((_received, response) => held.resolve(response))
    const server = await receiver()
    const disabled: string[] = []
    const feed = started({ onDisabled: ({ id }) => void disabled.push(id) })
    work()
    await feed.add(endpointOf(former.url, { events: ['enqueued'] }))
    await engine.enqueue('one')
    const response = await held.promise
    const [before] = await store.list()
    await store.save({ ...(before as Endpoint), failingSince: new Date() })
    expect(await feed.add(endpointOf(server.url, { events: ['enqueued'] }))).not.toHaveProperty('failingSince')
    const failed = new Promise<void>((resolve) => void engine.once('failed', () => resolve()))
    response.writeHead(410).end()
    await failed
    await engine.enqueue('two')
    await server.until(1)
    await feed.stop()
    expect(disabled).toEqual([])
    expect((await store.list())[0]).toMatchObject({ enabled: true, url: server.url })
    expect((await store.list())[0]?.failingSince).toBeUndefined()
  })

  test('enabled with replay: what was cancelled is told there, once, and nothing to where it was', async () => {
    const former = await receiver((_received, response) => void response.writeHead(410).end())
    const server = await receiver()
    const disabled = Promise.withResolvers<void>()
    const feed = started({ onDisabled: () => disabled.resolve() })
    await engine.queues.configure('webhooks', {})
    await engine.queues.pause('webhooks')
    await feed.add(endpointOf(former.url, { events: ['enqueued'] }))
    await feed.add(endpointOf(former.url, { id: 'bystander', events: ['enqueued'] }))
    const fed = fedUntil(6)
    await engine.enqueueMany([{ job: 'one' }, { job: 'two' }, { job: 'three' }])
    await fed
    await feed.disable('bystander')
    // One at a time: two of them have yet to be tried when the first is refused.
    await engine.queues.configure('webhooks', { rateLimit: { limit: 1, period: '1s' } })
    work()
    await engine.queues.resume('webhooks')
    await disabled.promise
    await engine.queues.configure('webhooks', { rateLimit: null })
    await feed.add(endpointOf(server.url, { events: ['enqueued'], headers: { 'x-own': 'new' } }))
    await engine.enqueue('four')
    await feed.enable('e1', { replay: true })
    await server.until(3)
    await feed.enable('e1', { replay: true })
    await engine.enqueue('five')
    await server.until(4)
    await engine.queues.drain('webhooks')
    expect(new Set(told(server.received).map(({ data }) => data['name']))).toEqual(new Set(['two', 'three', 'four', 'five']))
    expect(server.received.map(({ headers }) => headers['x-own'])).toEqual(['new', 'new', 'new', 'new'])
    expect([server.received.length, former.received.length]).toEqual([4, 1])
    const { jobs } = await engine.list({ queue: 'webhooks', state: 'cancelled' })
    expect(jobs.map(({ tags }) => tags)).toEqual(Array.from({ length: 3 }, () => ['endpoint:bystander']))
  })
})

test('an endpoint that is none holds up no other', async () => {
  const server = await receiver()
  const told: DisabledReason[] = []
  work()
  const wrong = { ...endpointOf('nowhere', { id: 'wrong' }), enabled: true, createdAt: new Date(), cursor: 0 }
  await store.save(wrong)
  await started({ onDisabled: (_endpoint, reason) => void told.push(reason) }).add(endpointOf(server.url, { events: ['enqueued'] }))
  await engine.enqueue('one')
  await server.until(1)
  expect(told).toEqual(['invalid'])
  expect((await store.list())[0]).toMatchObject({ enabled: false, disabledReason: 'invalid' })
})

test('a listener that throws is no trouble', async () => {
  const server = await receiver((_received, response, count) => void response.writeHead(count === 1 ? 410 : 200).end())
  const next = await receiver()
  const errors: string[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
  work()
  const feed = started({ logger, onDisabled: () => Promise.reject(new Error('no mail')) })
  await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
  await feed.add(endpointOf(next.url, { id: 'e2', events: ['enqueued'] }))
  await engine.enqueue('one')
  await next.until(1)
  while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await engine.enqueue('two')
  await next.until(2)
  expect(errors).toEqual(['onDisabled has failed'])
})

test.each<[DisabledReason, boolean]>([
  ['gone', true],
  ['invalid', false],
])('a listener that removes the endpoint, and waits for that, holds up nothing: %s', async (reason, isSound) => {
  const server = await receiver((_received, response) => void response.writeHead(410).end())
  const other = await receiver()
  const removed = Promise.withResolvers<[boolean, DisabledReason]>()
  work()
  const url = isSound ? server.url : 'nowhere'
  const endpoint = { ...endpointOf(url, { events: ['enqueued'] }), enabled: true, createdAt: new Date(), cursor: await headOf(engine) }
  await store.save(endpoint)
  const feed = started({
    async onDisabled({ id }, why) {
      removed.resolve([await feed.remove(id), why])
    },
  })
  await feed.add(endpointOf(other.url, { id: 'e2', events: ['enqueued'] }))
  await engine.enqueue('one')
  expect(await removed.promise).toEqual([true, reason])
  await engine.enqueue('two')
  await other.until(2)
  await feed.stop()
  expect((await store.list()).map(({ id }) => id)).toEqual(['e2'])
})

test('an engine that is stopped ends it, and it can be told to stop all the same', async () => {
  const warned = Promise.withResolvers<string>()
  const logger = { debug() {}, info() {}, warn: (message: string) => warned.resolve(message), error() {} }
  const feed = started({ logger })
  await feed.add(endpointOf('https://example.com/'))
  await engine.stop()
  expect(await warned.promise).toContain('ended with their engine')
  await feed.stop()
})

test.each<[string, Partial<NewEndpoint>, RegExp]>([
  ['an id', { id: 'a:b' }, /id has/],
  ['a URL', { url: 'x' }, /url is/],
  ['a secret itself', { secret: 'whsec_x' }, /never the secret itself/],
  ['headers', { headers: { host: 'x' } }, /headers.host/],
  ['no types', { events: [] }, /events is/],
  ['an unknown type', { events: ['done' as never] }, /events is/],
  ['queues', { queues: 'mail' as never }, /queues is/],
  ['no queues', { queues: [] }, /queues is/],
  ['no names', { names: [] }, /names is/],
  ['names, and no event of a job', { events: ['queue.paused', 'queue.resumed'], names: ['mail'] }, /names is for events of jobs/],
  ['a misspelt filter', { queue: ['mail'] } as never, /did you mean 'queues'/],
  ["what is the feed's to say", { cursor: 0 } as never, /no option 'cursor'/],
])('no endpoint: %s', async (_what, change, message) => {
  const feed = new EventWebhooks(engine, { endpoints: store })
  await expect(feed.add(endpointOf('https://example.com/', change))).rejects.toThrow(message)
  expect(await store.list()).toEqual([])
})

test('5.3: a secret is of one endpoint, until that is gone', async () => {
  const feed = new EventWebhooks(engine, { endpoints: store })
  const url = 'https://example.com/'
  await feed.add(endpointOf(url, { id: 'shop', secret: 'main' }))
  await feed.add(endpointOf(url, { id: 'open' }))
  const before = await store.list()
  const shared = endpointOf(url, { id: 'bank', secret: 'main' })
  await expect(feed.add(shared)).rejects.toMatchObject({
    code: 'OPTION_TYPE',
    option: 'secret',
    message: expect.stringContaining("that of the endpoint 'shop'"),
  })
  await expect(feed.add(endpointOf(url, { id: 'open', secret: 'main' }))).rejects.toMatchObject({ option: 'secret' })
  expect(await store.list()).toEqual(before)
  await feed.add(endpointOf(url, { id: 'shop', secret: 'main', events: ['failed'] }))
  await feed.remove('shop')
  expect(await feed.add(shared)).toMatchObject({ id: 'bank', secret: 'main' })
})

test("6: a secret that signs jobs of others is no endpoint's", async () => {
  const feed = new EventWebhooks(engine, { endpoints: store, secrets: async () => ({ keys: SECRET, hosts: ['example.com'] }) })
  await expect(feed.add(endpointOf('https://example.com/', { secret: 'main' }))).rejects.toMatchObject({
    code: 'OPTION_TYPE',
    option: 'secret',
  })
  expect(await store.list()).toEqual([])
})

test('6: a delivery that somebody else has made is not signed; a replay to another URL is', async () => {
  const [former, server] = [await receiver(), await receiver()]
  const feed = started()
  await feed.add(endpointOf(former.url, { events: ['enqueued'], secret: 'main' }))
  const fed = fedUntil(1)
  await engine.enqueue('true')
  await fed
  const [delivery] = (await engine.list({ queue: 'webhooks' })).jobs
  const data = delivery?.data as WebhookData
  const options = { queue: 'webhooks', maxAttempts: 1 }
  const forged = await engine.enqueueMany([
    { job: webhookJob, data: { ...data, url: server.url }, options },
    { job: webhookJob, data: { ...data, body: 'forged' }, options },
    { job: webhookJob, data: { url: former.url, body: 'forged', secret: 'main' }, options },
  ])
  work()
  await engine.queues.drain('webhooks')
  expect(told(former.received).map(({ data }) => data['name'])).toEqual(['true'])
  const names = await Promise.all(forged.map(async ({ id }) => (await engine.get(id))?.attempts[0]?.error?.name))
  expect(names).toEqual(['SecretMissingError', 'SecretMissingError', 'SecretRefusedError'])
  await engine.queues.resume('webhooks')
  await engine.queues.pause('webhooks')
  const next = fedUntil(1)
  await engine.enqueue('moved')
  await next
  await feed.disable('e1')
  await feed.add(endpointOf(server.url, { events: ['enqueued'], secret: 'main' }))
  await feed.enable('e1', { replay: true })
  await engine.queues.resume('webhooks')
  await server.until(1)
  const [{ headers, body }] = server.received as [Received]
  expect(verify({ headers, body, secret: SECRET }).id).toBe(headers['webhook-id'])
  expect(told(server.received).map(({ data }) => data['name'])).toEqual(['moved'])
})

test('added again, an endpoint is told what is said now, from where it is, with nothing of what was said before', async () => {
  const [former, server, bystander] = [await receiver(), await receiver(), await receiver()]
  work()
  const feed = started()
  await feed.add(endpointOf(bystander.url, { id: 'bystander', events: ['enqueued'] }))
  await feed.add(endpointOf(former.url, { events: ['failed'], queues: ['mail'], headers: { 'x-own': 'yes' } }))
  await feed.stop()
  const [, before] = await store.list()
  await engine.enqueue('meanwhile')
  const changed = await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
  expect(changed).toEqual({ ...before, url: server.url, events: ['enqueued'], queues: undefined, headers: undefined })
  feed.start()
  await Promise.all([server.until(1), bystander.until(1)])
  expect(told(server.received).map(({ data }) => data['name'])).toEqual(['meanwhile'])
  expect(server.received[0]?.headers).not.toHaveProperty('x-own')
  await feed.disable('e1')
  expect(await feed.add(endpointOf(server.url))).toMatchObject({ enabled: false })
  await expect(feed.add(endpointOf('nowhere'))).rejects.toThrow(/url is/)
  expect(former.received).toEqual([])
})

test.each<[string, unknown]>([
  ['endpoints', {}],
  ['queue', { endpoints: new MemoryEndpointStore(), queue: 'a b' }],
  ['disableAfter', { endpoints: new MemoryEndpointStore(), disableAfter: '59s' }],
  ['onDisabled', { endpoints: new MemoryEndpointStore(), onDisabled: 1 }],
  ['logger', { endpoints: new MemoryEndpointStore(), logger: {} }],
  ['endpoint', { endpoint: [] }],
])('refused, and named: %s', (option, options) => {
  expect(() => new EventWebhooks(engine, options as EventWebhooksOptions)).toThrow(expect.objectContaining({ option }))
})

describe('start while a stop is under way', () => {
  test('the feed begins again when that is over', async () => {
    const server = await receiver()
    work()
    const feed = started()
    await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
    const stopped = feed.stop()
    feed.start()
    await stopped
    await engine.enqueue('one')
    await server.until(1)
    expect(told(server.received).map(({ data }) => data['name'])).toEqual(['one'])
  })

  test('the last call counts: stopped again, it reads no more', async () => {
    const feed = started()
    await feed.add(endpointOf('https://example.com/', { events: ['enqueued'] }))
    const stopped = feed.stop()
    feed.start()
    await Promise.all([stopped, feed.stop()])
    let reads = 0
    const { events } = engine
    engine.events = (options) => {
      reads++
      return events.call(engine, options)
    }
    // A feed that ran would have asked for the journal's end before these are answered.
    await engine.stats()
    await engine.stats()
    expect(reads).toBe(0)
  })
})

describe('an endpoint that is wanted no more', () => {
  test.each(['disable', 'remove'] as const)('%s: what the pass under way has yet to enqueue is waited for, and cancelled', async (call) => {
    const reached = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const silenced = Promise.withResolvers<void>()
    const cancelledEarly: unknown[] = []
    let open = false
    const { enqueueMany, cancelMany } = engine
    engine.enqueueMany = async (requests: Iterable<JobRequest>) => {
      const all = [...requests]
      if (all.length > 0) {
        reached.resolve()
        await gate.promise
      }
      return enqueueMany.call(engine, all.values() as never)
    }
    engine.cancelMany = (filter, options) => {
      if (!open) cancelledEarly.push(filter)
      return cancelMany.call(engine, filter, options)
    }
    for (const changing of ['update', 'delete'] as const) {
      const change = store[changing].bind(store) as (what: never) => Promise<never>
      store[changing] = (what: never) => change(what).finally(() => silenced.resolve())
    }
    const feed = started()
    await feed.add(endpointOf('https://example.com/', { events: ['enqueued'] }))
    await engine.enqueue('noop')
    await reached.promise
    const ended = feed[call]('e1')
    await silenced.promise
    // Whatever is cancelled too early is asked for before these are answered.
    await engine.stats()
    await engine.stats()
    open = true
    gate.resolve()
    await ended
    await feed.stop()
    expect(cancelledEarly).toEqual([])
    const { jobs } = await engine.list({ queue: 'webhooks' })
    expect(jobs.map(({ state }) => state)).toEqual(['cancelled'])
  })

  test.each(['disable', 'remove'] as const)('%s: what it has yet to be told is cancelled, others are told as ever', async (call) => {
    const [server, other] = [await receiver(), await receiver()]
    const feed = started()
    await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
    await feed.add(endpointOf(other.url, { id: 'e2', events: ['enqueued'] }))
    await engine.enqueueMany(Array.from({ length: 20 }, () => ({ job: 'noop' })))
    await feed[call]('e1')
    await engine.enqueue('last')
    work()
    await other.until(21)
    await engine.queues.drain('webhooks')
    expect(server.received).toEqual([])
    expect(other.received).toHaveLength(21)
    expect((await store.list()).map(({ id, enabled }) => `${id} ${enabled}`)).toEqual(
      call === 'disable' ? ['e1 false', 'e2 true'] : ['e2 true'],
    )
    expect(await feed.remove('e1')).toBe(call === 'disable')
  })
})

test('a replay brings back what was cancelled since, and nothing that an enable has given up', async () => {
  const [server, other] = [await receiver(), await receiver()]
  const feed = started()
  await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
  await feed.add(endpointOf(other.url, { id: 'e2', events: ['enqueued'] }))
  const fed = fedUntil(2)
  await engine.enqueue('given-up')
  await fed
  await feed.disable('e1')
  await feed.disable('e2')
  await feed.enable('e1')
  const next = fedUntil(1)
  await engine.enqueue('cancelled')
  await next
  await feed.disable('e1')
  work()
  await feed.enable('e1', { replay: true })
  await server.until(1)
  await engine.queues.drain('webhooks')
  expect(told(server.received).map(({ data }) => data['name'])).toEqual(['cancelled'])
  const { jobs } = await engine.list({ queue: 'webhooks', state: 'cancelled' })
  expect(jobs.map(({ tags }) => tags)).toEqual([['endpoint:e2']])
})

test.each(['disable', 'remove'] as const)('%s in another process: what was fed until that was heard of is cancelled', async (call) => {
  const [server, other] = [await receiver(), await receiver()]
  const feed = started()
  await feed.add(endpointOf(server.url, { events: ['enqueued'] }))
  await feed.add(endpointOf(other.url, { id: 'e2', events: ['enqueued'] }))
  const begun = fedUntil(2)
  await engine.enqueue('none')
  await begun
  await new EventWebhooks(engine, { endpoints: store })[call]('e1')
  const fed = fedUntil(2)
  await engine.enqueue('one')
  await fed
  feed.refresh()
  const next = fedUntil(1)
  await engine.enqueue('two')
  await next
  work()
  await other.until(3)
  await engine.queues.drain('webhooks')
  expect(server.received).toEqual([])
  const { jobs } = await engine.list({ queue: 'webhooks', state: 'cancelled' })
  expect(jobs.map(({ tags }) => tags)).toEqual([['endpoint:e1'], ['endpoint:e1']])
})

test.each(['enable', 'disable'] as const)('%s of none', async (call) => {
  await expect(new EventWebhooks(engine, { endpoints: store })[call]('x')).rejects.toMatchObject({
    code: 'ENDPOINT_NOT_FOUND',
    endpointId: 'x',
  })
})
