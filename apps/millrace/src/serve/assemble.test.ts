/** Endpoints of the configuration, at each start. */
import { SCOPES } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import type { Endpoint } from '@millrace/webhooks'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { FILES } from '../../../../packages/http/src/testing/dashboard.ts'
import { openInThread } from '../../../../packages/testkit/src/testing/inThread.ts'
import { type Config, SCHEMA } from '../config/schema/schema.ts'
import { Control } from '../control/control.ts'
import { SYSTEM } from '../control/surroundings.ts'
import { startTracing } from '../tracing/tracing.ts'
import { assemble, handlersOf, type Parts } from './assemble.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

let engine: Engine
let control: Control
beforeEach(async () => {
  engine = openInThread()
  control = new Control(':memory:', SYSTEM)
  onTestFinished(async () => {
    control.close()
    await engine.stop({ timeout: 0 })
  })
})

async function start(endpoints: unknown, warn = (_message: string, _fields?: object) => {}, enabled = true): Promise<void> {
  const config: Config = SCHEMA.parse({ webhooks: { enabled }, endpoints })
  const tracing = await startTracing(config.otel, {}, logger)
  const nobody = { authenticate: () => undefined, ready: () => true, stop: () => {} }
  const assembled = await assemble({ engine, control, config, logger: { ...logger, warn }, tracing, cwd: '/', ...nobody })
  await assembled.close()
}

test('the body of a log-in is read before anybody knows who asks, however its path is written; others are not', async () => {
  const config = SCHEMA.parse({})
  const tracing = await startTracing(config.otel, {}, logger)
  const known = { authenticate: () => undefined, ready: () => true, stop: () => {} }
  const { anonymousBody, fetch, close } = await assemble({ engine, control, config, logger, tracing, cwd: '/', ...known })
  const asked = (path: string) => new Request(`http://localhost${path}`, { method: 'POST', headers: { 'content-length': '9000' } })
  for (const path of ['/v1/session', '/v1/%73ession', '/v1/session?a', '/%76%31/session']) {
    // A 413 is of an operation that reads bodies.
    const isLogIn = (await fetch(asked(path), {})).status !== 404
    expect(anonymousBody(asked(path)), path).toBe(isLogIn)
  }
  expect(['/v1/session', '/v1/jobs', '/v1/jobs:import', '/v1/nowhere'].map((path) => anonymousBody(asked(path)))).toEqual([
    true,
    false,
    false,
    false,
  ])
  await close()
})

test('nothing said: a command that ignores SIGTERM is dead before its run is given up', async () => {
  const { worker, exec } = SCHEMA.parse({ exec: { long: { file: '/bin/sh' } } })
  expect(worker.abortGrace).toBe(30_000)
  expect(exec).toEqual({ long: { file: '/bin/sh' } })
  expect(await handlersOf(SCHEMA.parse({ exec }), '/')).toHaveLength(1)
})

test.each<[string, unknown]>([
  ['the default of one', { worker: { abortGrace: '10s' }, exec: { long: { file: '/bin/sh' } } }],
  ['of the other', { exec: { short: { file: '/bin/sh' }, long: { file: '/bin/sh', killGrace: '30s' } } }],
])('a killGrace that is not below worker.abortGrace is refused: %s', async (_what, config) => {
  const message = /^'exec': commands\['long'\]\.killGrace is [13]0s, and has to be below abortGrace of the worker, which is [13]0s/
  await expect(handlersOf(SCHEMA.parse(config), '/')).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringMatching(message) })
})

test.each(['v1/jobs', 'v1/jobs:import?name=line'])('http.requestTimeout is how long %s waits for its body', async (path) => {
  const config = SCHEMA.parse({ http: { requestTimeout: '1m' } })
  const tracing = await startTracing(config.otel, {}, logger)
  const known = { authenticate: () => ({ name: 'me', scopes: SCOPES }), ready: () => true, stop: () => {} }
  const { fetch, close } = await assemble({ engine, control, config, logger, tracing, cwd: '/', ...known })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const type = path.includes('import') ? 'application/x-ndjson' : 'application/json'
    const headers = { authorization: 'Bearer any-token-of-mine', 'content-type': type }
    const answer = Promise.resolve(fetch(new Request(`http://localhost/${path}`, { method: 'POST', body, headers, duplex: 'half' }), {}))
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(59_999)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1)
    expect((await answer).status).toBe(408)
  } finally {
    vi.useRealTimers()
    await close()
  }
})

test.each([false, true])('a webhook that would fail is refused, with webhooks.enabled %s', async (enabled) => {
  const config = SCHEMA.parse({ webhooks: { enabled } })
  const tracing = await startTracing(config.otel, {}, logger)
  const known = { authenticate: () => ({ name: 'me', scopes: SCOPES }), ready: () => true, stop: () => {} }
  const { fetch, close } = await assemble({ engine, control, config, logger, tracing, cwd: '/', ...known })
  onTestFinished(() => close())
  const headers = { authorization: 'Bearer any-token-of-mine', 'content-type': 'application/json' }
  const post = async (job: string, data: unknown) => {
    const body = JSON.stringify({ job, data })
    return (await fetch(new Request('http://localhost/v1/jobs', { method: 'POST', headers, body }), {})).status
  }
  expect([await post('http', { nourl: 1 }), await post('http', { url: 'https://a.example' }), await post('other', { nourl: 1 })]).toEqual([
    400, 201, 201,
  ])
  await expect(engine.schedules.upsert('s', { every: '1d' }, { job: 'http', data: { nourl: 1 } })).rejects.toMatchObject({
    code: 'VALIDATION',
  })
})

describe('browsers', () => {
  const TOKEN = 'any-token-of-mine'
  const known: Parts['authenticate'] = (token) => (token === TOKEN ? { name: 'me', scopes: SCOPES } : undefined)
  const PAGE = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }

  async function serving(http: unknown = {}, files: Pick<Parts, 'dashboard'> = { dashboard: FILES }) {
    const config = SCHEMA.parse({ http })
    const tracing = await startTracing(config.otel, {}, logger)
    const parts = { engine, control, config, logger, tracing, cwd: '/', authenticate: known, ready: () => true, stop: () => {}, ...files }
    const { fetch, close } = await assemble(parts)
    onTestFinished(() => close())
    return async (path: string, init: RequestInit = {}) => fetch(new Request(`http://localhost${path}`, init), {})
  }

  test('the dashboard is served with the files that are given, and none without', async () => {
    const ask = await serving({ dashboard: { frameAncestors: ['self', 'https://admin.example.com'] } })
    const page = await ask('/jobs/17')
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("frame-ancestors 'self' https://admin.example.com;"),
    ])
    const without = await (await serving({}, {}))('/')
    expect(await without.text()).toContain('<a href="/docs">')
  })

  test('a session outlives a restart, and is of this control database alone', async () => {
    const logIn = async (ask: Awaited<ReturnType<typeof serving>>) => {
      const answer = await ask('/v1/session', { method: 'POST', headers: PAGE, body: JSON.stringify({ token: TOKEN }) })
      return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    }
    const cookie = await logIn(await serving())
    const statusOf = async (headers: Record<string, string>) => (await (await serving())('/v1/stats', { headers })).status
    expect([await statusOf({ cookie }), await statusOf({})]).toEqual([200, 401])
    control.close()
    control = new Control(':memory:', SYSTEM)
    const other = await logIn(await serving())
    expect(other.split('=')[0]).not.toBe(cookie.split('=')[0])
    expect([await statusOf({ cookie }), await statusOf({ cookie: `${cookie}; ${other}` })]).toEqual([401, 200])
  })

  test('http.allowedHosts and http.dashboard.redact are those of the API', async () => {
    await engine.enqueue('mail', { email: 'hidden@example.com', subject: 'kept' }, { delay: '1h' })
    const ask = await serving({ allowedHosts: ['jobs.example.com'], dashboard: { redact: ['*.email'] } })
    const authorization = `Bearer ${TOKEN}`
    const shown = await (await ask('/v1/jobs', { headers: { authorization, host: 'jobs.example.com' } })).json()
    expect(shown).toMatchObject({ jobs: [{ data: { email: '[redacted]', subject: 'kept' } }] })
    expect((await ask('/v1/jobs', { headers: { authorization, host: 'other.example.com' } })).status).toBe(403)
  })

  test.each<[unknown, string]>([
    [{ allowedHosts: ['https://jobs.example.com'] }, "'http': allowedHosts[0] must be a name without a port"],
    [{ dashboard: { redact: ['user.email'] } }, "'http': redact[0] must be keys with dots in between"],
    [{ dashboard: { frameAncestors: ['*'] } }, "'http': dashboard.frameAncestors[0] must be 'self', or an origin"],
  ])('%j is refused, with its key', async (http, message) => {
    await expect(serving(http)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(message) })
  })
})

const url = 'https://example.com/hook'

test('what is named is so, with its place in the journal; what is not named stays', async () => {
  await start({ shop: { url, events: ['failed'], queues: ['mail'], headers: { 'x-key': 'k' } }, other: { url, events: ['completed'] } })
  const before = await control.endpoints.list()
  await control.endpoints.update([{ id: 'shop', cursor: 7, enabled: false, disabledReason: 'gone' }])
  await start({ shop: { url, events: ['completed'], secret: 'shop' } })
  const [other, shop] = await control.endpoints.list()
  expect(other).toEqual(before[0])
  // What the configuration says no more is no more.
  expect(shop).toEqual({
    ...{ id: 'shop', url, events: ['completed'], secret: 'shop' },
    ...{ cursor: 7, enabled: false, disabledReason: 'gone', createdAt: before[1]?.createdAt },
  })
})

test.each<[string, unknown, string]>([
  ['a URL that is none', { shop: { url: 'nowhere', events: ['failed'] } }, "'endpoints.shop': of the endpoint, url is"],
  ['no URL', { shop: { events: ['failed'] } }, "'endpoints.shop': of the endpoint, url is"],
  ['an unknown type', { shop: { url, events: ['done'] } }, "'endpoints.shop': of the endpoint, events is"],
  [
    'a secret of two',
    { bank: { url, events: ['failed'], secret: 'main' }, shop: { url, events: ['failed'], secret: 'main' } },
    "'endpoints.shop': the secret 'main' is that of the endpoint 'bank'",
  ],
])('%s is refused with its key, whether the endpoint is new or known', async (_what, endpoints, message) => {
  await expect(start(endpoints)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(message) })
  await start({ shop: { url, events: ['failed'] } })
  const before = (await control.endpoints.list()).find(({ id }) => id === 'shop')
  await expect(start(endpoints)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(message) })
  expect((await control.endpoints.list()).find(({ id }) => id === 'shop')).toEqual(before)
})

test.each<[what: string, warned: number, change: (shop: Endpoint) => Promise<unknown>]>([
  ['is as it was', 1, async () => {}],
  ['has come further', 1, () => control.endpoints.update([{ id: 'shop', cursor: 7 }])],
  ['is disabled', 0, () => control.endpoints.update([{ id: 'shop', enabled: false }])],
  ['is deleted', 0, () => control.endpoints.delete('shop')],
  ['was changed by somebody else', 0, (shop) => control.endpoints.save({ ...shop, events: ['cancelled'] })],
])('an endpoint that has left the configuration and %s: %i warnings at each start', async (_what, warned, change) => {
  const warnings: object[] = []
  const warn = (message: string, fields?: object) => void warnings.push({ message, ...fields })
  await start({ shop: { url, events: ['failed'], headers: { 'x-key': 'secret' } }, other: { url, events: ['completed'] } }, warn)
  expect(warnings).toEqual([])
  expect(JSON.stringify(control.configured('endpoints'))).not.toContain('secret')
  await change((await control.endpoints.list()).find(({ id }) => id === 'shop') as Endpoint)
  const other = { other: { url, events: ['completed'] } }
  // Nothing is delivered then.
  await start(other, warn, false)
  expect(warnings).toEqual([])
  for (let starts = 0; starts < 2; starts++) await start(other, warn)
  expect(warnings).toEqual(
    Array(2 * warned).fill({
      message: 'an endpoint has left the configuration, and still receives events: delete it, or disable it',
      endpoint: 'shop',
      command: 'millrace webhooks delete shop',
    }),
  )
})
