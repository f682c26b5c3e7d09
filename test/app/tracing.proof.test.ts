/** One trace from a request over HTTP to the run in another process: by a collector that takes OTLP, as OpenTelemetry sends it. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { receiver } from '../../packages/webhooks/src/testing/receiver.ts'
import { temporaryFolder } from '../temporary.ts'
import { type DaemonOptions, startDaemon, tokenIn } from './daemon.ts'
import { Place } from './millrace.ts'

const HANDLERS = fileURLToPath(new URL('./programs/tracedHandlers.ts', import.meta.url))
const LONG = 300_000

interface Span {
  readonly service: string
  readonly name: string
  /** 2 is SERVER. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const plain = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])) as Record<string, unknown>

/** Where OTLP comes in as JSON; answers what has come so far. */
async function collector() {
  const spans: Span[] = []
  const paths = new Set<string>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`)
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans)
      for (const { spans: sent } of scopeSpans)
        for (const span of sent)
          spans.push({ ...span, service: plain(resource.attributes)['service.name'], attributes: plain(span.attributes) })
    response.setHeader('content-type', 'application/json').end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, paths }
}

/** Asked again and again: these are to leave no spans. */
const UNSAMPLED = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` }

/** The daemon of a place, and how it is called. */
async function daemonOf(place: Place, options: DaemonOptions) {
  const daemon = startDaemon(place.folder, { ...options, flags: { file: 'millrace.db', ...options.flags } })
  const { url } = await daemon.serving
  const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenIn(place.folder)}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    expect(response.status).toBeLessThan(300)
    return (await response.json()) as { readonly id: string; readonly jobs: readonly { readonly id: string }[] }
  }
  const ended = async (id: string) => {
    for (;;) {
      const headers = { authorization: `Bearer ${tokenIn(place.folder)}`, ...UNSAMPLED }
      const response = await fetch(`${url}/v1/jobs/${id}`, { headers })
      const job = (await response.json()) as { readonly state: string; readonly output?: unknown; readonly meta?: unknown }
      if (['completed', 'failed'].includes(job.state)) return job
    }
  }
  return { daemon, post, ended }
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const TRACEPARENT = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' }

test('Q7: from a request’s traceparent through the enqueue to the run of a worker process, all sent when these drain', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  const { url, spans, paths } = await collector()
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: url, MILLRACE_OTEL_ENABLED: 'true' }
  const { daemon, post, ended } = await daemonOf(place, { env: { ...otel, OTEL_SERVICE_NAME: 'queue' } })
  // A daemon says so by a variable, a worker by a flag.
  place.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url
  place.url = ((await daemon.serving).sockets as readonly string[])[0]
  place.env['MILLRACE_TOKEN'] = tokenIn(place.folder)
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--otel')
  await worker.said(/is ready/)

  const one = await post('/v1/jobs', { job: 'traced', options: { meta: { mine: 1 } } }, TRACEPARENT)
  const failing = await post('/v1/jobs', { job: 'traced', data: { fail: true } })
  const { jobs } = await post('/v1/jobs:bulk', [{ job: 'together' }, { job: 'together' }], TRACEPARENT)
  const line = 'application/x-ndjson'
  await post('/v1/jobs:import?name=elsewhere', '1\n', { ...TRACEPARENT, 'content-type': line })
  const flow = await post('/v1/flows', { nodes: [{ ref: 'a', job: 'traced' }] }, TRACEPARENT)
  const done = await ended(one.id)
  expect(done).toMatchObject({ state: 'completed', meta: { mine: 1, traceparent: expect.stringContaining(TRACE), tracestate: 'vendor=1' } })
  for (const id of [failing.id, flow.id, ...jobs.map((job) => job.id)]) await ended(id)
  const last = await post('/v1/jobs', { job: 'elsewhere' })
  await ended(last.id)

  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  expect([...paths]).toEqual(['POST /v1/traces application/json'])

  const named = (name: string) => spans.filter((span) => span.name === name && span.traceId === TRACE)
  const [request] = named('POST /v1/jobs')
  expect(request).toMatchObject({ service: 'queue', kind: 2, parentSpanId: PARENT, attributes: { 'http.route': '/v1/jobs' } })
  const [enqueue] = named('enqueue traced')
  expect(enqueue).toMatchObject({ service: 'queue', parentSpanId: request?.spanId, attributes: { 'messaging.message.id': one.id } })
  const run = spans.find(({ name, attributes }) => name === 'run traced' && attributes['messaging.message.id'] === one.id)
  expect(run).toMatchObject({ service: 'millrace', traceId: TRACE, parentSpanId: enqueue?.spanId })
  // The handler was within it.
  expect(done.output).toMatchObject({ traceId: TRACE, spanId: run?.spanId })

  const other = spans.find(({ name, attributes }) => name === 'run traced' && attributes['messaging.message.id'] === failing.id)
  expect(other?.traceId).not.toBe(TRACE)
  expect(other).toMatchObject({ status: { code: 2, message: 'no such luck' }, attributes: { 'error.type': 'RangeError' } })

  const [bulk] = named('POST /v1/jobs:bulk')
  const many = named('enqueue many').find(({ parentSpanId }) => parentSpanId === bulk?.spanId)
  expect(named('run together').map(({ parentSpanId }) => parentSpanId)).toEqual([many?.spanId, many?.spanId])
  expect(named('run together').map(({ attributes }) => attributes['error.type'])).toEqual([undefined, 'TypeError'])
  const imported = named('enqueue many').find((span) => span !== many)
  expect(named('run elsewhere')).toMatchObject([{ parentSpanId: imported?.spanId }])
  expect(named('enqueue flow')).toHaveLength(1)
  expect(named('run traced').map(({ parentSpanId }) => parentSpanId)).toContain(named('enqueue flow')[0]?.spanId)
  // Each once, and nothing but requests, enqueues and runs.
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  const requests = new Set(spans.map(({ name }) => name).filter((name) => !/^(?:run|enqueue) \w+$/.test(name)))
  expect([...requests].toSorted()).toEqual(['POST /v1/flows', 'POST /v1/jobs', 'POST /v1/jobs:bulk', 'POST /v1/jobs:import'])
  expect(spans.filter(({ name }) => name.startsWith('run '))).toHaveLength(7)
})

test('without being told, nothing is sent, and jobs carry nothing', { timeout: LONG }, async () => {
  const place = new Place()
  const { url, paths } = await collector()
  const { daemon, post, ended } = await daemonOf(place, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    flags: { 'worker-handlers': HANDLERS },
  })
  const { id } = await post('/v1/jobs', { job: 'traced' }, TRACEPARENT)
  expect(await ended(id)).toMatchObject({ state: 'completed', output: null })
  expect(await ended(id)).not.toHaveProperty('meta.traceparent')
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  expect(paths.size).toBe(0)
})

test('a trace that its caller leaves out is left out; the daemon’s own worker takes part; a setting goes before the variable', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  const { url, spans } = await collector()
  const { daemon, post, ended } = await daemonOf(place, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
    flags: { 'worker-handlers': HANDLERS, 'otel-enabled': 'true', 'otel-endpoint': `${url}/` },
  })
  const out = await post('/v1/jobs', { job: 'traced' }, { traceparent: `00-${TRACE}-${PARENT}-00` })
  const { id } = await post('/v1/jobs', { job: 'traced' })
  expect(await ended(out.id)).toMatchObject({ output: { traceId: TRACE, traceFlags: 0 } })
  await ended(id)
  for (const path of ['/healthz', '/readyz', '/metrics']) await fetch(`${(await daemon.serving).url}${path}`)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  // What watches a daemon leaves no span.
  expect(spans.map(({ name }) => name).toSorted()).toEqual(['POST /v1/jobs', 'enqueue traced', 'run traced'])
  expect(spans.filter(({ traceId }) => traceId === TRACE)).toEqual([])
})

test('a webhook names its trace to whoever receives it: from the daemon, and from a detached worker with --otel', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  const { url, spans } = await collector()
  const server = await receiver()
  const webhooks = {
    MILLRACE_WEBHOOKS_ENABLED: 'true',
    MILLRACE_WEBHOOKS_ALLOW_PRIVATE: 'true',
    MILLRACE_WEBHOOKS_ALLOW_HTTP: 'true',
    MILLRACE_WEBHOOKS_PORTS: 'any',
  }
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: url }
  const { daemon, post, ended } = await daemonOf(place, {
    env: { ...webhooks, ...otel, MILLRACE_OTEL_ENABLED: 'true', OTEL_SERVICE_NAME: 'daemon' },
    flags: { 'worker-queues': 'own' },
  })
  writeFileSync(
    place.path('worker.json'),
    JSON.stringify({ webhooks: { enabled: true, allowPrivate: true, allowHttp: true, ports: 'any' } }),
  )
  place.url = ((await daemon.serving).sockets as readonly string[])[0]
  Object.assign(place.env, otel, { MILLRACE_TOKEN: tokenIn(place.folder), OTEL_SERVICE_NAME: 'worker' })
  await place.ok('worker', 'start', '--detach', '--id', 'w', '--config', place.path('worker.json'), '--queues', 'elsewhere', '--otel')
  const data = { url: server.url, body: 1 }
  for (const queue of ['own', 'elsewhere']) await ended((await post('/v1/jobs', { job: 'http', data, options: { queue } }, TRACEPARENT)).id)
  expect(await place.ok('worker', 'stop', 'w')).toMatch(/^w \(process \d+\) stopped\n$/)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  const runs = spans.filter(({ name }) => name === 'run http')
  expect(runs.map(({ service, traceId }) => [service, traceId]).toSorted()).toEqual([
    ['daemon', TRACE],
    ['worker', TRACE],
  ])
  const sent = server.received.map(({ headers: { traceparent, tracestate } }) => [traceparent, tracestate])
  expect(sent.toSorted()).toEqual(runs.map(({ spanId }) => [`00-${TRACE}-${spanId}-01`, 'vendor=1']).toSorted())
})

test('a collector that does not answer holds nobody up, and is told of in the log', { timeout: LONG }, async () => {
  const place = new Place()
  const { daemon, post, ended } = await daemonOf(place, {
    env: { OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
    flags: { 'worker-handlers': HANDLERS, 'otel-enabled': 'true', 'otel-endpoint': 'http://127.0.0.1:9' },
  })
  await ended((await post('/v1/jobs', { job: 'traced' })).id)
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  expect(daemon.lines.some((line) => /OpenTelemetry: |spans could not be sent/.test(line))).toBe(true)
})

test.for<readonly [what: string, env: Readonly<Record<string, string>>, message: RegExp]>([
  ['a sampler that is none', { OTEL_TRACES_SAMPLER: 'sometimes' }, /'OTEL_TRACES_SAMPLER' must be one of always_on, .*, got "sometimes"/],
  [
    'a share that is none',
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    /'OTEL_TRACES_SAMPLER_ARG' must be between 0 and 1/,
  ],
  [
    'an endpoint that is none',
    { MILLRACE_OTEL_ENDPOINT: 'collector:4318' },
    /'otel.endpoint' in MILLRACE_OTEL_ENDPOINT: endpoint must be a URL/,
  ],
])('%s is refused by name', { timeout: LONG }, async ([, env, message]) => {
  const { code, stderr } = await startDaemon(temporaryFolder(), { env: { MILLRACE_OTEL_ENABLED: 'true', ...env } }).ended
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
})

test('where the packages are not installed, they are named: in a daemon and in a worker', { timeout: LONG }, async () => {
  const place = new Place()
  writeFileSync(
    place.path('hide.mjs'),
    `import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) => {
    if (name === '@opentelemetry/sdk-trace') throw Object.assign(new Error('hidden'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(name, context)
  },
})`,
  )
  const hidden = { NODE_OPTIONS: `--import=${place.path('hide.mjs')}`, MILLRACE_OTEL_ENABLED: 'true' }
  const message = /'otel.enabled': spans need packages that are not installed: npm install @opentelemetry\/api .*@opentelemetry\/sdk-trace/
  expect(await startDaemon(place.folder, { env: hidden }).ended).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
  Object.assign(place.env, hidden)
  expect(await place.run('worker', 'start', '--handlers', HANDLERS)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
})
