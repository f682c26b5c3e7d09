/** Endpoints of the configuration, at each start. */
import { SCOPES } from '@millrace/core'
import { type Engine, openEngine } from '@millrace/engine'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type Config, SCHEMA } from '../config/schema/schema.ts'
import { Control } from '../control/control.ts'
import { SYSTEM } from '../control/surroundings.ts'
import { startTracing } from '../tracing/tracing.ts'
import { assemble, handlersOf } from './assemble.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

let engine: Engine
let control: Control
beforeEach(async () => {
  engine = await openEngine({ file: ':memory:' })
  control = new Control(':memory:', SYSTEM)
  onTestFinished(async () => {
    control.close()
    await engine.stop({ timeout: 0 })
  })
})

async function start(endpoints: unknown): Promise<void> {
  const config: Config = SCHEMA.parse({ webhooks: { enabled: true }, endpoints })
  const tracing = await startTracing(config.otel, {}, logger)
  const nobody = { authenticate: () => undefined, ready: () => true, stop: () => {} }
  const assembled = await assemble({ engine, control, config, logger, tracing, cwd: '/', ...nobody })
  await assembled.close()
}

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
