/** A sender of webhooks of mininq on Millrace: `node after.ts FILE`. The queue is behind HTTP, and so is the service that does the work. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { webhookHandler, webhookJob } from '@millrace/webhooks'

async function listen(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

// The service: it is busy at first, and refuses what it does not know.
let calls = 0
const service = await listen(async (request, response) => {
  const body = await text(request)
  if (request.url === '/unknown') return response.writeHead(404).end('unknown')
  if (++calls === 1) return response.writeHead(503, { 'retry-after': '1' }).end('busy')
  console.log(`attempt ${request.headers['millrace-attempt']} of queue ${request.headers['millrace-queue']}: ${body}`)
  return response.end('sent')
})

const [file = 'jobs.db'] = process.argv.slice(2)
const token = randomBytes(32).toString('base64url')
const engine = await openEngine({ file, logger: false })
engine.checks.add([webhookJob])
// allowPrivate and allowHttp, since the service is on this machine: leave them out for URLs that others give you.
engine.work(webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any' }), { concurrency: 10 })
const api = createHttp(engine, { token })
const queue = await listen(getRequestListener(api.fetch))

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<[number, Record<string, unknown>]> {
  const answer = await fetch(`${queue.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return [answer.status, answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>)]
}

const [configured] = await call('PUT', '/v1/queues/emails', { concurrencyLimit: 5, rateLimit: { limit: 10 }, defaults: { maxAttempts: 4 } })
console.log(`queue: ${configured}`)

// A job with an idempotency key, posted twice.
const job = { job: 'http', data: { url: `${service.url}/send`, body: { to: 'ada' } }, options: { queue: 'emails', priority: 10 } }
const [created, { id }] = await call('POST', '/v1/jobs', job, { 'idempotency-key': 'welcome-ada' })
const [known] = await call('POST', '/v1/jobs', job, { 'idempotency-key': 'welcome-ada' })
console.log(`created: ${created}, known: ${known}`)
const { status, body } = (await engine.handle<typeof webhookJob>(id as string).result()) as { status: number; body: string }
console.log(`result: ${status} ${body}`)

// A 4xx fails at once, and can be retried by hand.
const unknown = { job: 'http', data: { url: `${service.url}/unknown` }, options: { queue: 'emails' } }
const [, refused] = await call('POST', '/v1/jobs', unknown)
await engine
  .handle(refused['id'] as string)
  .result()
  .catch(() => {})
const [, shown] = await call('GET', `/v1/jobs/${refused['id']}`)
console.log(`state: ${shown['state']} after attempt ${shown['attempt']}`)

const [scheduled] = await call('PUT', '/v1/schedules/cleanup', {
  cron: '0 */5 * * * *',
  job: 'http',
  data: unknown.data,
  options: { queue: 'emails' },
})
const [paused] = await call('POST', '/v1/queues/emails/pause', {})
console.log(`schedule: ${scheduled}, pause: ${paused}`)

queue.close()
service.close()
await engine.stop()
