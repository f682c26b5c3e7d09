/** What the daemon serves, each part once and through the process: HTTP, commands, webhooks, and events to endpoints. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Control } from '../../apps/millrace/src/control/control.ts'
import { SYSTEM } from '../../apps/millrace/src/control/surroundings.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Daemon, HANDLERS, startDaemon, tokenIn } from './daemon.ts'

interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What is sent to it, as it comes. */
async function receiver() {
  const heard: Received[] = []
  let told = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    heard.push({ headers: request.headers, body })
    response.end('thanks')
    told.resolve()
    told = Promise.withResolvers()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const first = async (found: (one: Received) => boolean): Promise<Received> => {
    for (;;) {
      const one = heard.find(found)
      if (one !== undefined) return one
      await told.promise
    }
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, first, heard }
}

async function caller(daemon: Daemon, token: string) {
  const { url } = await daemon.serving
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
  }
}

/** The job, once it has ended. */
async function ended(call: Awaited<ReturnType<typeof caller>>, id: unknown): Promise<Record<string, unknown>> {
  for (;;) {
    const { status, body } = await call('GET', `/v1/jobs/${String(id)}`)
    expect(status).toBe(200)
    if (['completed', 'failed', 'cancelled'].includes(String(body['state']))) return body
  }
}

test('HTTP: tokens of the control database, revoked at once, and an audit of what admins do', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder, { flags: { 'worker-handlers': HANDLERS } })
  await daemon.serving
  const admin = await caller(daemon, tokenIn(folder))
  const control = new Control(join(folder, 'millrace.db'), SYSTEM)
  onTestFinished(() => control.close())
  const { token } = control.createToken({ name: 'producer', scopes: ['enqueue'] })
  const producer = await caller(daemon, token)
  const { status, body } = await producer('POST', '/v1/jobs', { job: 'quick', data: 5 })
  expect(status).toBe(201)
  expect((await producer('GET', '/v1/stats')).status).toBe(403)
  expect(await ended(admin, body['id'])).toMatchObject({ state: 'completed', output: 5 })
  control.revokeToken('producer')
  expect((await producer('POST', '/v1/jobs', { job: 'quick' })).status).toBe(401)
  expect((await admin('POST', '/v1/queues/default/pause')).status).toBeLessThan(300)
  expect(control.audited(1)).toMatchObject([{ who: 'admin', outcome: 'done' }])
})

test('an admin stops the daemon over HTTP: it drains, and ends with 0', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  await daemon.serving
  const admin = await caller(daemon, tokenIn(folder))
  expect((await admin('POST', '/v1/engine/stop')).status).toBeLessThan(300)
  expect(await daemon.ended).toMatchObject({ code: 0 })
})

test('the example dashboard and the alerts ask for metrics that are told', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const { url } = await daemon.serving
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${tokenIn(folder)}` } })
  expect(response.status).toBe(200)
  const told = new Set(
    [...(await response.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) =>
      type === 'counter' ? `${name}_total` : type === 'histogram' ? `${name}_bucket` : name,
    ),
  )
  for (const file of ['grafana.json', 'alerts.yml']) {
    const text = readFileSync(new URL(`../../apps/millrace/dashboards/${file}`, import.meta.url), 'utf8')
    const asked = new Set(text.match(/millrace_\w+/g))
    expect(asked.size).toBeGreaterThan(5)
    expect([...asked].filter((name) => !told.has(name))).toEqual([])
  }
})

test('commands of the configuration run, with their log', async () => {
  const folder = temporaryFolder()
  const exec = JSON.stringify({ greet: { file: '/bin/echo', args: ['hello', '{{who}}'] } })
  const daemon = startDaemon(folder, { env: { MILLRACE_EXEC: exec, MILLRACE_EXEC_LOGS_FOLDER: 'logs' } })
  await daemon.serving
  const admin = await caller(daemon, tokenIn(folder))
  const { body } = await admin('POST', '/v1/jobs', { job: 'greet', data: { who: 'world' } })
  expect(await ended(admin, body['id'])).toMatchObject({ state: 'completed', output: { exitCode: 0, stdout: { head: 'hello world\n' } } })
})

test('5.4: a command that ignores SIGTERM is killed and told of before its job is tried again, with nothing said of graces', async () => {
  const folder = temporaryFolder()
  // The second attempt looks whether the first is there.
  const script = `test "$JOB_ATTEMPT" = 1 || { kill -0 "$(cat "$1")" && exit 9; exit 0; }
echo $$ > "$1"; trap '' TERM; echo begun; while :; do sleep 1; done`
  const exec = JSON.stringify({
    long: { shell: true, file: script, args: ['{{path}}'], timeout: '4s', backoff: { type: 'fixed', delay: 0 }, maxAttempts: 2 },
  })
  const daemon = startDaemon(folder, { env: { MILLRACE_EXEC: exec } })
  await daemon.serving
  const admin = await caller(daemon, tokenIn(folder))
  const { body } = await admin('POST', '/v1/jobs', { job: 'long', data: { path: join(folder, 'first') } })
  expect(await ended(admin, body['id'])).toMatchObject({
    state: 'completed',
    output: { exitCode: 0 },
    attempts: [
      {
        error: { name: 'JobTimeoutError' },
        logs: [{ message: 'begun' }, { fields: { exitCode: null, signal: 'SIGKILL', stdoutBytes: 6 } }],
      },
      {},
    ],
  })
})

test('webhooks: a job is delivered and signed, and an endpoint hears of events, also after a restart', async () => {
  const folder = temporaryFolder()
  const { url, first, heard } = await receiver()
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  const env = {
    MILLRACE_WEBHOOKS_ENABLED: 'true',
    MILLRACE_WEBHOOKS_ALLOW_PRIVATE: 'true',
    MILLRACE_WEBHOOKS_ALLOW_HTTP: 'true',
    MILLRACE_WEBHOOKS_PORTS: 'any',
    MILLRACE_WEBHOOKS_SECRETS: JSON.stringify({ mine: secret, trial: { keys: other, hosts: ['127.0.0.1'] } }),
    MILLRACE_ENDPOINTS: JSON.stringify({ shop: { url, events: ['completed'], secret: 'mine', names: ['quick'] } }),
  }
  const start = () => startDaemon(folder, { env, flags: { 'worker-handlers': HANDLERS } })
  const daemon = start()
  await daemon.serving
  const admin = await caller(daemon, tokenIn(folder))
  const { body } = await admin('POST', '/v1/jobs', { job: 'http', data: { url, body: { hello: 'world' }, secret: 'trial' } })
  expect(await first((one) => one.body === '{"hello":"world"}')).toMatchObject({
    headers: { 'webhook-id': expect.any(String), 'webhook-signature': expect.stringMatching(/^v1,/) },
  })
  expect(await ended(admin, body['id'])).toMatchObject({ state: 'completed', output: { status: 200 } })
  const one = await admin('POST', '/v1/jobs', { job: 'quick', data: 1 })
  const told = await first(({ body: text }) => text.includes(String(one.body['id'])))
  expect(told.headers).toMatchObject({ 'webhook-signature': expect.stringMatching(/^v1,/) })
  await daemon.kill()
  const again = start()
  await again.serving
  const next = await caller(again, tokenIn(folder))
  const two = await next('POST', '/v1/jobs', { job: 'quick', data: 2 })
  await first(({ body: text }) => text.includes(String(two.body['id'])))
  const ids = heard.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBeGreaterThanOrEqual(3)
})

test('endpoints over HTTP: put, told, disabled, enabled and deleted; one that is not there is a 404', async () => {
  const folder = temporaryFolder()
  const { url, first } = await receiver()
  const env = {
    MILLRACE_WEBHOOKS_ENABLED: 'true',
    MILLRACE_WEBHOOKS_ALLOW_PRIVATE: 'true',
    MILLRACE_WEBHOOKS_ALLOW_HTTP: 'true',
    MILLRACE_WEBHOOKS_PORTS: 'any',
  }
  const daemon = startDaemon(folder, { env, flags: { 'worker-handlers': HANDLERS } })
  await daemon.serving
  const admin = await caller(daemon, tokenIn(folder))
  const other = { url: 'https://example.com/hook', events: ['failed'] }
  expect(await admin('PUT', '/v1/webhooks/other', other)).toMatchObject({ status: 200, body: { id: 'other', ...other, enabled: true } })
  expect(await admin('PUT', '/v1/webhooks/shop', { url, events: ['completed'], headers: { 'x-key': 'k' } })).toMatchObject({ status: 200 })
  const { body } = await admin('POST', '/v1/jobs', { job: 'quick', data: 1 })
  expect((await first((one) => one.body.includes(String(body['id'])))).headers).toMatchObject({ 'x-key': 'k' })
  const listed = await admin('GET', '/v1/webhooks')
  expect(listed.body['webhooks']).toMatchObject([{ id: 'other' }, { id: 'shop', url, events: ['completed'] }])
  // What is sent along may be a secret.
  expect(JSON.stringify(listed.body)).not.toContain('x-key')

  expect((await admin('POST', '/v1/webhooks/shop/disable')).status).toBe(204)
  expect((await admin('GET', '/v1/webhooks')).body['webhooks']).toMatchObject([{ enabled: true }, { enabled: false }])
  expect((await admin('POST', '/v1/webhooks/shop/enable', { replay: true })).status).toBe(204)
  expect((await admin('GET', '/v1/webhooks')).body['webhooks']).toMatchObject([{ enabled: true }, { enabled: true }])
  expect((await admin('DELETE', '/v1/webhooks/shop')).status).toBe(204)
  expect((await admin('GET', '/v1/webhooks')).body['webhooks']).toMatchObject([{ id: 'other', ...other }])
  for (const [method, path] of [
    ['DELETE', 'shop'],
    ['POST', 'shop/enable'],
    ['POST', 'shop/disable'],
  ] as const)
    expect(await admin(method, `/v1/webhooks/${path}`)).toMatchObject({ status: 404, body: { code: 'ENDPOINT_NOT_FOUND' } })
})
