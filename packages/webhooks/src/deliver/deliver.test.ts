/** Deliveries to a real receiver: what is sent, and what each answer does to the job. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Engine, Job } from '@millrace/client'
import type { EnqueueOptions } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import type { Worker } from '@millrace/worker'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type WebhookData, webhookJob } from '../job.ts'
import { proofOf } from '../proof.ts'
import { verify } from '../signature.ts'
import { CountedClock } from '../testing/countedClock.ts'
import { type Answer, type Received, receiver } from '../testing/receiver.ts'
import { webhookHandler } from './handler.ts'
import type { WebhookHandlerOptions } from './options.ts'
import type { Secrets } from './secrets.ts'

const LOCAL = { allowPrivate: true, allowHttp: true, ports: 'any' } as const
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const NEXT = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

let engine: Engine
const workers: Worker[] = []
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeout: 0 })))
  // What waits for another attempt is not to be the next test's.
  await engine.cancelMany({ all: true })
})
afterAll(() => engine.stop())

function work(options: WebhookHandlerOptions = {}, concurrency = 5): Worker {
  const worker = engine.work([webhookHandler({ ...LOCAL, ...options })], { concurrency })
  workers.push(worker)
  return worker
}

const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_received, response) =>
    void response.writeHead(code, headers).end(body)

/** The job after its first run: it has ended, or waits for the next one. */
async function afterOneRun(data: WebhookData, options: WebhookHandlerOptions = {}, enqueue: EnqueueOptions = {}): Promise<Job> {
  const settled = new Promise<void>((resolve) => {
    for (const type of ['completed', 'failed', 'retrying', 'snoozed'] as const) engine.once(type, () => resolve())
  })
  work(options)
  const { id } = await engine.enqueue(webhookJob, data, enqueue)
  await settled
  return (await engine.get(id)) as Job
}

describe('what is sent', () => {
  test('a POST of JSON, with who it is from', async () => {
    const server = await receiver()
    const { id } = await afterOneRun({ url: `${server.url}?a=1`, body: { x: 'ä' } })
    const [{ method, path, headers, body }] = server.received as [Received]
    expect({ method, path, body: body.toString() }).toEqual({ method: 'POST', path: '/hook?a=1', body: '{"x":"ä"}' })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '10',
      'user-agent': 'millrace-webhooks',
      'webhook-id': id,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'millrace-job-id': id,
      'millrace-job-name': 'http',
      'millrace-queue': 'default',
      'millrace-attempt': '1',
    })
    expect(headers).not.toHaveProperty('webhook-signature')
  })

  test("bytes as they are, and headers of one's own", async () => {
    const server = await receiver()
    const bytes = Buffer.from([0, 255, 1, 254])
    await afterOneRun({
      url: server.url,
      method: 'PUT',
      bytes: bytes.toString('base64'),
      headers: { 'Content-Type': 'image/x', 'X-Own': 'yes' },
    })
    const [{ method, headers, body }] = server.received as [Received]
    expect(method).toBe('PUT')
    expect(body).toEqual(bytes)
    expect(headers).toMatchObject({ 'content-type': 'image/x', 'x-own': 'yes' })
  })

  test('headers of a trace with each; those of the job go before, and who it is from is not changed', async () => {
    const server = await receiver()
    let asked = 0
    const propagate = () => ({ traceparent: `trace ${++asked}`, tracestate: 'a=1', 'webhook-id': 'forged', 'user-agent': 'forged' })
    const { id } = await afterOneRun({ url: server.url, headers: { TraceState: 'own=1' } }, { propagate })
    expect(server.received[0]?.headers).toMatchObject({
      traceparent: 'trace 1',
      tracestate: 'own=1',
      'webhook-id': id,
      'user-agent': 'millrace-webhooks',
    })
  })

  test.each(['GET', 'HEAD', 'DELETE'] as const)('%s without a body', async (method) => {
    const server = await receiver()
    expect(await afterOneRun({ url: server.url, method })).toMatchObject({ state: 'completed' })
    expect(server.received).toMatchObject([{ method, body: Buffer.alloc(0) }])
  })

  test('signed, with each secret of its name while one takes over', async () => {
    const server = await receiver()
    await afterOneRun(
      { url: server.url, body: { n: 1 }, secret: 'shop' },
      { secrets: { shop: { keys: [NEXT, SECRET], hosts: ['127.0.0.1'] }, other: OTHER } },
    )
    const [{ headers, body }] = server.received as [Received]
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2)
    for (const secret of [SECRET, NEXT]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({ n: 1 })
      expect(verify({ headers, body, secret }).id).toBe(headers['webhook-id'])
    }
  })

  test('secrets by a function, asked for each delivery', async () => {
    const server = await receiver()
    await afterOneRun(
      { url: server.url, secret: 'shop' },
      { secrets: async (name, job) => (name === 'shop' && job.name === 'http' ? { keys: SECRET, hosts: '*' } : undefined) },
    )
    const [{ headers, body }] = server.received as [Received]
    expect(verify({ headers, body, secret: SECRET }).id).toBe(headers['webhook-id'])
  })

  test.each([
    ['of no name', { other: SECRET }],
    ['that is none', () => 'whsec_short'],
  ])('a secret %s: nothing is sent, and it is tried again', async (_what, secrets) => {
    const server = await receiver()
    const { state, attempts } = await afterOneRun({ url: server.url, secret: 'shop' }, { secrets })
    expect([state, attempts[0]?.error?.name, server.connections]).toEqual(['scheduled', 'SecretMissingError', 0])
    expect(attempts[0]?.error?.message).not.toContain('whsec_short')
  })

  test.each<[string, Secrets, Partial<WebhookData>]>([
    ['of another host', { shop: { keys: SECRET, hosts: ['example.com', '*.example.com'] } }, {}],
    ['without hosts', { shop: SECRET }, {}],
    ['of a function, without hosts', () => SECRET, {}],
    ['of no host at all', { shop: { keys: SECRET, hosts: [] } }, {}],
  ])('6: a secret %s signs nothing that is enqueued: it is not sent, and fails at once', async (_what, secrets, data) => {
    const server = await receiver()
    const { state, attempts } = await afterOneRun({ url: server.url, body: { amount: 1 }, secret: 'shop', ...data }, { secrets })
    expect([state, attempts[0]?.error?.name, server.connections]).toEqual(['failed', 'SecretRefusedError', 0])
    expect(attempts[0]?.error?.message).toContain("'shop'")
  })

  test('6: a secret without hosts signs what was made with it, and nothing that was changed since', async () => {
    const server = await receiver()
    const data: WebhookData = { url: server.url, body: { amount: 1 }, secret: 'shop', headers: { 'x-own': 'yes' } }
    const proof = proofOf(Buffer.alloc(32, 1), data, 'first')
    const secrets = { shop: [NEXT, SECRET], other: OTHER }
    const wrong: (readonly [WebhookData, EnqueueOptions?])[] = [
      [{ ...data, proof, body: { amount: 2 } }],
      [{ ...data, proof, url: `${server.url}?to=other` }],
      [{ ...data, proof, headers: {} }],
      [{ ...data, proof, method: 'PUT' }],
      [{ ...data, proof: proofOf(Buffer.alloc(32, 3), data, 'first') }],
      [{ ...data, proof: '' }],
      [{ ...data, proof }, { idempotencyKey: 'second' }],
      [
        { ...data, proof },
        { unique: { key: 'first' }, concurrencyKey: 'first', tags: ['first'] },
      ],
    ]
    for (const [one, keys = { idempotencyKey: 'first' }] of wrong) {
      await engine.releaseKey({ name: 'http', idempotencyKey: 'first' })
      const { state, attempts } = await afterOneRun(one, { secrets }, keys)
      expect([state, attempts[0]?.error?.name, server.connections]).toEqual(['scheduled', 'SecretMissingError', 0])
      await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeout: 0 })))
      await engine.cancelMany({ all: true })
    }
    await engine.releaseKey({ name: 'http', idempotencyKey: 'first' })
    expect(await afterOneRun({ ...data, proof }, { secrets }, { idempotencyKey: 'first' })).toMatchObject({ state: 'completed' })
    const [{ headers, body }] = server.received as [Received]
    expect(verify({ headers, body, secret: SECRET }).id).toBe(headers['webhook-id'])
  })

  test('each attempt has the same id, and its own number', async () => {
    const server = await receiver((_received, response, count) => void response.writeHead(count === 1 ? 500 : 200).end())
    work()
    const handle = await engine.enqueue(webhookJob, { url: server.url }, { backoff: { type: 'fixed', delay: 0 } })
    await handle.result()
    expect(server.received.map(({ headers }) => [headers['webhook-id'], headers['millrace-attempt']])).toEqual([
      [handle.id, '1'],
      [handle.id, '2'],
    ])
  })

  test('connections are kept, and no more of them to a host than perHost', async () => {
    let running = 0
    let most = 0
    const waiting: ServerResponse[] = []
    const server = await receiver((_received, response) => {
      most = Math.max(most, ++running)
      waiting.push(response)
      // Each waits for another one, so that two do run at a time.
      if (waiting.length === 2) {
        running -= 2
        for (const one of waiting.splice(0)) one.end()
      }
    })
    work({ perHost: 2 }, 10)
    const handles = await engine.enqueueMany(Array.from({ length: 20 }, () => ({ job: webhookJob, data: { url: server.url } })))
    await Promise.all(handles.map((handle) => handle.result()))
    expect([most, server.connections]).toEqual([2, 2])
  })
})

describe('M3: what an answer does', () => {
  test.each([200, 201, 202, 204, 299])('%i is taken', async (code) => {
    const server = await receiver(
      status(code, { 'content-type': 'text/plain', 'set-cookie': 'secret=1', 'x-request-id': 'r1' }, code === 204 ? '' : 'thanks'),
    )
    const { state, output } = await afterOneRun({ url: server.url })
    expect(state).toBe('completed')
    expect(output).toMatchObject({
      status: code,
      headers: { 'x-request-id': 'r1' },
      body: code === 204 ? '' : 'thanks',
      encoding: 'utf8',
      truncated: false,
    })
    expect(output).toMatchObject({ durationMs: expect.any(Number) })
    expect((output as { headers: object }).headers).not.toHaveProperty('set-cookie')
  })

  test.each([300, 301, 302, 303, 304, 307, 308])('%i is not followed, and fails at once', async (code) => {
    const elsewhere = await receiver()
    const server = await receiver(status(code, { location: elsewhere.url }))
    const { state, attempts } = await afterOneRun({ url: server.url })
    expect([state, attempts[0]?.error?.name, elsewhere.connections]).toEqual(['failed', 'DeliveryRejectedError', 0])
    expect(attempts[0]?.error?.message).toContain('not followed')
  })

  test.each([400, 401, 403, 404, 405, 409, 413, 422, 451])('%i fails at once, with the head of what was said', async (code) => {
    const server = await receiver(status(code, {}, `no: ${'x'.repeat(5_000)}`))
    const { state, attempts } = await afterOneRun({ url: server.url })
    expect([state, attempts[0]?.error?.name]).toEqual(['failed', 'DeliveryRejectedError'])
    expect(attempts[0]?.error?.message).toMatch(new RegExp(`answered ${code}: no: x{508}…$`))
    // The path of a URL may be a secret.
    expect(attempts[0]?.error?.message).not.toContain('/hook')
  })

  test.each([408, 425, 429, 500, 501, 502, 503, 504, 599])("%i is tried again, by the job's backoff", async (code) => {
    const server = await receiver(status(code))
    const { state, attempts, runAt, maxAttempts } = await afterOneRun({ url: server.url })
    expect([state, attempts[0]?.error?.name, maxAttempts]).toEqual(['scheduled', 'DeliveryFailedError', 10])
    const delay = runAt.getTime() - (attempts[0]?.endedAt?.getTime() ?? 0)
    expect(delay).toBeGreaterThanOrEqual(3_900)
    expect(delay).toBeLessThanOrEqual(6_100)
  })

  test('410 fails at once, and somebody is told', async () => {
    const server = await receiver(status(410))
    const told: unknown[] = []
    const { id, state, attempts } = await afterOneRun({ url: server.url }, { gone: async (url, job) => void told.push(url, job.id) })
    expect([state, attempts[0]?.error?.name]).toEqual(['failed', 'WebhookGoneError'])
    expect(told).toEqual([server.url, id])
  })

  test('410, and who is told fails: it ends the same, and the job says so', async () => {
    const server = await receiver(status(410))
    const { attempts } = await afterOneRun({ url: server.url }, { gone: () => Promise.reject(new Error('no table')) })
    expect(attempts[0]).toMatchObject({
      error: { name: 'WebhookGoneError' },
      logs: [{ level: 'error', message: expect.stringContaining('no table') }],
    })
  })

  test.each([
    ['60', 60_000],
    ['0', 1_000],
    ['9999999', 86_400_000],
    ['a date in an hour', 3_600_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 1_000],
  ])('Retry-After: %s', async (retryAfter, wanted) => {
    const server = await receiver(
      status(503, { 'retry-after': retryAfter.startsWith('a date') ? new Date(Date.now() + wanted).toUTCString() : retryAfter }),
    )
    const { state, attempts, runAt } = await afterOneRun({ url: server.url })
    expect([state, attempts[0]?.error?.name]).toEqual(['scheduled', 'RetryAfterError'])
    expect(Math.abs(runAt.getTime() - (attempts[0]?.endedAt?.getTime() ?? 0) - wanted)).toBeLessThan(5_000)
  })

  test.each(['soon', '-1', '1.5', '2030'.repeat(2).concat('x'), ''])("Retry-After that is none ('%s') is not heard", async (retryAfter) => {
    const server = await receiver(status(429, { 'retry-after': retryAfter }))
    expect((await afterOneRun({ url: server.url })).attempts[0]?.error?.name).toBe('DeliveryFailedError')
  })
})

describe('answers that are too much, or too slow', () => {
  test('an endless answer is kept up to its limit, and ended', async () => {
    const ended = Promise.withResolvers<void>()
    const server = await receiver((_received, response) => {
      response.writeHead(200)
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', more).on('close', () => ended.resolve())
      more()
    })
    const { output } = await afterOneRun({ url: server.url }, { maxResponseBytes: 1_000 })
    expect(output).toMatchObject({ status: 200, body: 'x'.repeat(1_000), truncated: true })
    await ended.promise
  })

  test('64 KiB by default; one of just that size is whole', async () => {
    const server = await receiver((_received, response, count) => void response.end('y'.repeat(65_536 + (count === 1 ? 0 : 1))))
    work()
    const outputs = []
    for (let count = 0; count < 2; count++) outputs.push(await (await engine.enqueue(webhookJob, { url: server.url })).result())
    expect(outputs).toMatchObject([{ truncated: false }, { truncated: true }])
    for (const { body } of outputs as { body: string }[]) expect(body).toHaveLength(65_536)
  })

  test('a character that was cut in two is left out; bytes that are no text are base64', async () => {
    const answers = [Buffer.from('aä'), Buffer.from([255, 254])]
    const server = await receiver((_received, response, count) => void response.end(answers[count - 1]))
    work({ maxResponseBytes: 2 })
    const outputs = []
    for (let count = 0; count < 2; count++) outputs.push(await (await engine.enqueue(webhookJob, { url: server.url })).result())
    expect(outputs).toMatchObject([
      { body: 'a', encoding: 'utf8', truncated: true },
      { body: '//4=', encoding: 'base64', truncated: false },
    ])
  })

  test('the worst text of the largest size that may be asked for still fits the job', async () => {
    const server = await receiver((_received, response) => void response.end('\u0001'.repeat(200_000)))
    expect(await afterOneRun({ url: server.url }, { maxResponseBytes: 160 * 1_024 })).toMatchObject({
      state: 'completed',
      output: { truncated: true },
    })
  })

  test.each<[string, Answer]>([
    ['no answer', () => {}],
    ['headers, and no body', (_received, response) => void response.writeHead(200).flushHeaders()],
    ['a body that never ends', (_received, response) => void response.writeHead(200).write('x')],
  ])('%s within the time: tried again', async (_what, answer) => {
    const closed = Promise.withResolvers<void>()
    const server = await receiver((received, response, count) => {
      response.on('close', () => closed.resolve())
      answer(received, response, count)
    })
    const { state, attempts } = await afterOneRun({ url: server.url, timeout: '50ms' })
    expect([state, attempts[0]?.error?.name]).toEqual(['scheduled', 'DeliveryTimeoutError'])
    await closed.promise
  })

  test("the worker's own time where the job gives none", async () => {
    const server = await receiver(() => {})
    expect((await afterOneRun({ url: server.url }, { timeout: 30 })).attempts[0]?.error?.message).toContain('30 ms')
  })

  test('a body that is too large is not sent', async () => {
    const server = await receiver()
    const { state, attempts } = await afterOneRun({ url: server.url, body: 'x'.repeat(100) }, { maxBodyBytes: 101 })
    expect([state, attempts[0]?.error?.name, server.connections]).toEqual(['failed', 'UnsendableError', 0])
  })
})

describe('connections that fail', () => {
  /** Does with each connection what it is told. */
  async function rawServer(act: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      act(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  test.each<[string, (socket: Socket) => void]>([
    ['closed at once', (socket) => socket.end()],
    ['reset', (socket) => void socket.resetAndDestroy()],
    ['no HTTP', (socket) => socket.end('SSH-2.0-x\r\n')],
    ['half an answer', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc')],
  ])('%s: tried again', async (_what, act) => {
    const { state, attempts } = await afterOneRun({ url: await rawServer(act) })
    expect([state, attempts[0]?.error?.name]).toEqual(['scheduled', 'DeliveryFailedError'])
  })

  test('one that never comes about is given up after connectTimeout, long before the time of the whole', async () => {
    // It takes connections, and says nothing of TLS.
    const url = (await rawServer(() => {})).replace('http:', 'https:')
    const { state, attempts } = await afterOneRun({ url }, { connectTimeout: 50, timeout: '4m' })
    expect([state, attempts[0]?.error]).toEqual([
      'scheduled',
      expect.objectContaining({ name: 'DeliveryFailedError', message: expect.stringContaining('UND_ERR_CONNECT_TIMEOUT') }),
    ])
  })

  test('a receiver does not say for how long its connection is kept: 10 s at most', async () => {
    const closed = Promise.withResolvers<void>()
    const head = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nkeep-alive: timeout=600\r\ncontent-length: 2\r\n\r\n'
    const url = await rawServer((socket) => socket.once('data', () => void socket.write(`${head}ok`)).once('close', () => closed.resolve()))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      expect(await afterOneRun({ url })).toMatchObject({ state: 'completed', output: { body: 'ok' } })
      await vi.advanceTimersByTimeAsync(10_000)
      await closed.promise
    } finally {
      vi.useRealTimers()
    }
  })

  test('nobody listens: tried again', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const { state, attempts } = await afterOneRun({ url: `http://127.0.0.1:${port}/` })
    expect([state, attempts[0]?.error]).toEqual([
      'scheduled',
      expect.objectContaining({ name: 'DeliveryFailedError', message: expect.stringContaining('ECONNREFUSED') }),
    ])
  })
})

describe('when the job is told to end', () => {
  test('cancelled: the request is ended, and so is the job', async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    const server = await receiver((_received, response) => arrived.resolve(response))
    work()
    const handle = await engine.enqueue(webhookJob, { url: server.url })
    const closed = once(await arrived.promise, 'close')
    await engine.cancel(handle.id)
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
    await closed
  })

  test('the worker stops: it is given back, without having used an attempt', async () => {
    const arrived = Promise.withResolvers<void>()
    const server = await receiver(() => arrived.resolve())
    const worker = work()
    const { id } = await engine.enqueue(webhookJob, { url: server.url })
    await arrived.promise
    await worker.stop({ timeout: 0 })
    expect(await engine.get(id)).toMatchObject({ state: 'waiting', attempt: 0 })
  })
})

test.each<[string, (port: number) => string, Answer]>([
  ['was taken', (port) => `http://127.0.0.1:${port}/`, status(200)],
  ['was refused', (port) => `http://127.0.0.1:${port}/`, status(400)],
  ['found nobody', () => 'http://127.0.0.1:1/', status(200)],
  ['broke off', (port) => `http://127.0.0.1:${port}/`, (_received, response) => void response.destroy()],
])('a delivery that %s leaves no timer', async (_what, urlOf, answer) => {
  const server = await receiver(answer)
  const clock = new CountedClock()
  await afterOneRun({ url: urlOf(server.port) }, { clock, timeout: '4m' })
  expect(clock.open).toBe(0)
})

describe('one slow host', () => {
  test('lets jobs of others pass: what waits for it too long comes again, without having used an attempt', async () => {
    const held: ServerResponse[] = []
    let open = false
    const slow = await receiver((_received, response) => void (open ? response.end() : held.push(response)))
    const quick = await receiver()
    const snoozed = new Promise<void>((resolve) => void engine.once('snoozed', () => resolve()))
    work({ perHost: 1, hostWait: 20 }, 3)
    const blocked = await engine.enqueueMany(Array.from({ length: 3 }, () => ({ job: webhookJob, data: { url: slow.url } })))
    await snoozed
    // Of three slots the slow host has had all.
    await (await engine.enqueue(webhookJob, { url: quick.url })).result()
    expect(slow.received).toHaveLength(1)
    open = true
    for (const response of held) response.end()
    await Promise.all(blocked.map((handle) => handle.result()))
    for (const { id } of blocked) expect(await engine.get(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  test('cancelled while it waits for its turn: nothing is sent', async () => {
    const held: ServerResponse[] = []
    const arrived = Promise.withResolvers<void>()
    const slow = await receiver((_received, response) => {
      held.push(response)
      arrived.resolve()
    })
    work({ perHost: 1, hostWait: '30s' }, 2)
    const first = await engine.enqueue(webhookJob, { url: slow.url })
    await arrived.promise
    const started = new Promise<void>((resolve) => void engine.once('started', () => resolve()))
    const second = await engine.enqueue(webhookJob, { url: slow.url })
    await started
    await engine.cancel(second.id)
    await expect(second.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
    held[0]?.end()
    await first.result()
    expect(slow.received).toHaveLength(1)
  })
})
