// Spans of enqueues and runs, by the real SDK, and the context that jobs carry from one to the other.
import { channel } from 'node:diagnostics_channel'
import { type Context, defineJob } from '@millrace/engine'
import { traceEnqueues, traceHandlers, traceHeaders, traceMeta, traceRequests, traceRun } from '@millrace/otel'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { context, diag, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

beforeAll(() => {
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
})
afterAll(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

let t: TestEngine
beforeEach(() => {
  exporter.reset()
  t = createTestEngine()
})
afterEach(() => t[Symbol.asyncDispose]())

const a = defineJob<{ n: number } | undefined>({ name: 'a', queue: 'q', maxAttempts: 2, backoff: { type: 'fixed', delay: 10 } })

function spans(name: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name)
}

test('Q7: a run is a child of its enqueue, which is a child of what called it; spans within the handler are the run’s', async () => {
  t.engine.work(
    a.handler(
      traceRun(async ({ data }) => {
        await Promise.resolve()
        trace.getTracer('app').startSpan('inside').end()
        return data?.n
      }),
    ),
  )
  const request = trace.getTracer('app').startSpan('request')
  const handle = await context.with(trace.setSpan(context.active(), request), () =>
    traceEnqueues(t.engine).enqueue(a, { n: 1 }, { meta: { mine: 1 } }),
  )
  request.end()
  await t.advance(1)
  expect(await handle.result()).toBe(1)
  const [[enqueue], [run], [inside]] = [spans('enqueue a'), spans('run a'), spans('inside')]
  expect(enqueue).toMatchObject({ kind: SpanKind.PRODUCER, attributes: { 'messaging.destination.name': 'q' } })
  expect(run).toMatchObject({ kind: SpanKind.CONSUMER, attributes: { 'messaging.message.id': handle.id, 'millrace.job.attempt': 1 } })
  expect(enqueue?.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(run?.parentSpanContext?.spanId).toBe(enqueue?.spanContext().spanId)
  expect(inside?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId)
  expect(new Set([enqueue, run, inside].map((span) => span?.spanContext().traceId))).toEqual(new Set([request.spanContext().traceId]))
  expect((await t.engine.get(handle.id))?.meta).toEqual({ mine: 1, traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-/) })
})

test('each attempt is a span; one that fails says so, and one that snoozes has not failed', async () => {
  let attempts = 0
  t.engine.work(
    a.handler(
      traceRun((run) => {
        if (attempts++ === 0) throw new RangeError('no')
        if (attempts === 2) run.snooze(10)
        return 'ok'
      }),
    ),
  )
  const handle = await traceEnqueues(t.engine).enqueue(a)
  await t.advance(100)
  expect(await handle.result()).toBe('ok')
  const runs = spans('run a')
  expect(runs.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET, SpanStatusCode.UNSET])
  expect(runs[0]).toMatchObject({ attributes: { 'error.type': 'RangeError' }, events: [{ name: 'exception' }] })
  expect(runs[1]?.attributes).toMatchObject({ 'millrace.outcome': 'snoozed', 'millrace.job.run': 2 })
  expect(new Set(runs.map((run) => run.parentSpanContext?.spanId)).size).toBe(1)
})

test('a run that joins jobs has not failed: its job runs again in a span of its own', async () => {
  const other = defineJob({ name: 'other' })
  const handler = a.handler(traceRun(async ({ join }) => void (await join('others', [other.job()]))))
  t.engine.work([handler, other.handler(() => undefined)])
  await (await t.engine.enqueue(a)).result()
  const runs = spans('run a')
  expect(runs.map(({ attributes, status }) => [attributes['millrace.outcome'], status.code])).toEqual([
    ['joined', SpanStatusCode.UNSET],
    [undefined, SpanStatusCode.UNSET],
  ])
})

test.each(['handler', 'middleware'])('a run that sleeps has not failed, and one whose step fails has: a traced %s', async (what) => {
  const work = async ({ sleep, step }: Context) => {
    await sleep('nap', '1h')
    await step('shaky', ({ attempt }) => {
      if (attempt === 1) throw new RangeError('no')
    })
  }
  if (what === 'middleware') t.engine.use({ run: (context, next) => traceRun(next)(context) })
  t.engine.work(a.handler(what === 'handler' ? traceRun(work) : work))
  const handle = await t.engine.enqueue(a)
  await t.advance('1h')
  await t.advance('1h')
  await handle.result()
  expect(spans('run a').map(({ attributes, status }) => [attributes['millrace.outcome'], attributes['error.type'], status.code])).toEqual([
    ['asleep', undefined, SpanStatusCode.UNSET],
    [undefined, 'RangeError', SpanStatusCode.ERROR],
    [undefined, undefined, SpanStatusCode.UNSET],
  ])
})

test('a thenable is waited for as a promise is, within its span', async () => {
  const asked = Promise.withResolvers<(value: unknown) => void>()
  const lazy = {
    // biome-ignore lint/suspicious/noThenProperty: what a query builder answers.
    then: (resolve: (value: unknown) => void) => {
      trace.getTracer('app').startSpan('inside').end()
      asked.resolve(resolve)
    },
  }
  t.engine.work(a.handler(traceRun(() => lazy as unknown)))
  const handle = await t.engine.enqueue(a)
  const answer = await Promise.all([asked.promise, t.advance(10)]).then(([resolve]) => resolve)
  expect(spans('run a')).toEqual([])
  answer('ok')
  expect(await handle.result()).toBe('ok')
  expect(spans('inside')[0]?.parentSpanContext?.spanId).toBe(spans('run a')[0]?.spanContext().spanId)
})

test('many at once are one span, of an array and of an iterable; what is refused fails it', async () => {
  const traced = traceEnqueues(t.engine)
  await traced.enqueueMany([{ job: a }, { job: 'b', options: { meta: { mine: 1 } } }])
  await traced.enqueueMany(
    (function* () {
      yield { job: a }
    })(),
  )
  expect(spans('enqueue many').map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([2, 1])
  const { jobs } = await t.engine.list()
  for (const { meta } of jobs) expect(meta).toHaveProperty('traceparent')
  await expect(traced.enqueue(a, undefined, { priority: 1e9 })).rejects.toThrow(RangeError)
  expect(spans('enqueue a').map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR])
  const { id } = await traced.enqueue(a, undefined, { meta: ['no map'] })
  expect((await t.engine.get(id))?.meta).toEqual(['no map'])
})

test('what a handler enqueues with its completion is a part of its trace', async () => {
  t.engine.work([
    a.handler(
      traceRun(({ enqueue }) => {
        enqueue('next', 1, { meta: { mine: 2 } })
        enqueue('next')
      }),
    ),
    defineJob({ name: 'next' }).handler(traceRun(({ data, job }) => [data, job.meta['mine']])),
  ])
  await traceEnqueues(t.engine).enqueue(a)
  await t.advance(10)
  const { spanId } = spans('run a')[0]?.spanContext() ?? {}
  expect(spans('run next').map((span) => span.parentSpanContext?.spanId)).toEqual([spanId, spanId])
  const { jobs } = await t.engine.list({ name: 'next' })
  expect(jobs.map(({ output }) => output)).toEqual([
    [null, null],
    [1, 2],
  ])
})

test('a batch is one span, of its jobs and of the one that follows them', async () => {
  t.engine.work([a.handler(traceRun(() => {})), defineJob({ name: 'last' }).handler(traceRun(() => {}))])
  const { callback } = await traceEnqueues(t.engine).batch([{ job: a }, { job: a }], { job: 'last', options: { meta: { mine: 1 } } })
  await t.advance(10)
  const [batch] = spans('enqueue batch')
  expect(batch?.attributes['messaging.batch.message_count']).toBe(3)
  const parents = [...spans('run a'), ...spans('run last')].map((span) => span.parentSpanContext?.spanId)
  expect(parents).toEqual(Array.from({ length: 3 }, () => batch?.spanContext().spanId))
  expect((await t.engine.get(callback.id))?.meta).toMatchObject({ mine: 1 })
  await expect(traceEnqueues(t.engine).batch('none' as never, { job: a })).rejects.toMatchObject({ option: 'jobs' })
})

test('the job of a schedule is a trace of its own, known by its tick; by hand it is a child of who triggers it', async () => {
  const traced = traceEnqueues(t.engine)
  t.engine.work([a.handler(traceRun(() => {}))])
  const request = trace.getTracer('app').startSpan('request')
  const within = <T>(work: () => Promise<T>) => context.with(trace.setSpan(context.active(), request), work)
  const upsert = () => within(() => traced.schedules.upsert('s', { every: '1m' }, { job: a, options: { meta: { mine: 1 } } }))
  const { nextRunAt } = await upsert()
  await upsert()
  expect((await t.engine.schedules.get('s'))?.options['meta']).toEqual({ mine: 1 })
  await t.clock.advance('2m')
  const ticks = spans('run a')
  expect(ticks.map((span) => span.parentSpanContext)).toEqual([undefined, undefined])
  expect(new Set(ticks.map((span) => span.spanContext().traceId)).size).toBe(2)
  expect(ticks[0]?.attributes).toMatchObject({ 'millrace.schedule.id': 's', 'millrace.schedule.tick': nextRunAt?.toISOString() })
  exporter.reset()

  const handle = await within(() => traced.schedules.trigger('s', { meta: { by: 'hand' } }))
  await t.advance(10)
  const [trigger] = spans('trigger s')
  expect(trigger).toMatchObject({
    kind: SpanKind.PRODUCER,
    attributes: { 'messaging.message.id': handle.id, 'millrace.job.created': true },
  })
  expect(trigger?.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(spans('run a')[0]?.parentSpanContext?.spanId).toBe(trigger?.spanContext().spanId)
  expect((await t.engine.get(handle.id))?.meta).toMatchObject({ mine: 1, by: 'hand', schedule: { id: 's' } })
  await expect(traced.schedules.trigger('none')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
  expect(spans('trigger none').map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR])
})

test('a run is nobody’s child but of what its job carries, whatever is active where the worker runs', async () => {
  const { handlers, end } = traceHandlers([
    a.handler(() => {}),
    defineJob({ name: 'b' }).handler((items) => items.map(() => ({ output: 1 })), { batch: { size: 1 } }),
  ])
  onTestFinished(end)
  const opening = trace.getTracer('app').startSpan('opening')
  await context.with(trace.setSpan(context.active(), opening), async () => {
    t.engine.work(handlers)
    await t.engine.enqueueMany([{ job: a }, { job: 'b' }])
    await t.advance(10)
  })
  opening.end()
  expect([...spans('run a'), ...spans('run b')].map((span) => span.parentSpanContext)).toEqual([undefined, undefined])
})

test('a whole engine is one still: its flows are traced, and what is no enqueue is as it was', async () => {
  const traced = traceEnqueues(t.engine)
  t.engine.work([a.handler(traceRun(() => {}))])
  const { jobs } = await traced.flow([
    { ref: 'one', job: a },
    { ref: 'two', job: 'b', dependsOn: ['one'], options: { meta: { mine: 1 } } },
  ])
  await traced.queues.configure('other', {})
  await traced.queues.pause('other')
  await t.advance(10)
  const [flow] = spans('enqueue flow')
  expect(flow?.attributes['messaging.batch.message_count']).toBe(2)
  expect(spans('run a').map((span) => span.parentSpanContext?.spanId)).toEqual([flow?.spanContext().spanId])
  expect((await traced.get(jobs.two.id))?.meta).toEqual({
    mine: 1,
    traceparent: expect.stringContaining(flow?.spanContext().spanId ?? '-'),
  })
  expect((await traced.queues.get('other'))?.paused).toBe(true)
})

test('handlers of a worker, each run once: of a function, traced already or not, and of a batch', async () => {
  const b = defineJob({ name: 'b', maxAttempts: 1 })
  const c = defineJob({ name: 'c' })
  const { handlers, end } = traceHandlers([
    a.handler(() => void trace.getTracer('app').startSpan('inside').end()),
    b.handler((items) => items.map((_, index) => (index === 0 ? { snooze: '1h' } : { error: new RangeError('no') })), {
      batch: { size: 2 },
    }),
    c.handler(traceRun(() => {})),
  ])
  t.engine.work(handlers)
  const traced = traceEnqueues(t.engine)
  await traced.enqueue(a)
  await traced.enqueueMany([{ job: b }, { job: b }])
  await traced.enqueue(c)
  await t.advance(10)
  expect(spans('inside')[0]?.parentSpanContext?.spanId).toBe(spans('run a')[0]?.spanContext().spanId)
  expect(spans('run b').map(({ attributes, status }) => [attributes['millrace.outcome'], attributes['error.type'], status.code])).toEqual([
    ['snoozed', undefined, SpanStatusCode.UNSET],
    ['failed', 'RangeError', SpanStatusCode.ERROR],
  ])
  const [many] = spans('enqueue many')
  for (const span of spans('run b')) expect(span.parentSpanContext?.spanId).toBe(many?.spanContext().spanId)
  expect(spans('run c')).toHaveLength(1)
  end()
  await t.engine.enqueueMany([{ job: b }, { job: b }])
  await t.advance(10)
  expect(spans('run b')).toHaveLength(2)
})

test('handlers that are traced again have one span per run, until all of them have ended', async () => {
  const traced = () =>
    traceHandlers([defineJob({ name: 'b' }).handler((items) => items.map(() => ({ output: 1 })), { batch: { size: 1 } })])
  const [first, second] = [traced(), traced()]
  t.engine.work(first.handlers)
  const run = async () => {
    await t.engine.enqueue('b')
    await t.advance(10)
    return spans('run b').length
  }
  expect(await run()).toBe(1)
  first.end()
  first.end()
  expect(await run()).toBe(2)
  second.end()
  expect(await run()).toBe(2)
  expect(channel('millrace:started').hasSubscribers).toBe(false)
})

test.each([[null], [['no map']], ['no map'], [7], [{ schedule: null, traceparent: 1, baggage: 2 }]])(
  'a meta of %j is of no trace, and its runs are as any others',
  async (meta) => {
    const b = defineJob({ name: 'b', maxAttempts: 1 })
    const { handlers, end } = traceHandlers([
      a.handler(() => 'ok'),
      b.handler((items) => items.map(() => ({ output: 'ok' })), { batch: { size: 1 } }),
    ])
    onTestFinished(end)
    propagation.disable()
    propagation.setGlobalPropagator(new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }))
    onTestFinished(() => {
      propagation.disable()
      propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    })
    t.engine.work(handlers)
    const jobs = await Promise.all([a, b].map((job) => t.engine.enqueue(job, undefined, { meta: meta as never })))
    await t.advance(10)
    expect(await Promise.all(jobs.map((job) => job.result()))).toEqual(['ok', 'ok'])
    expect([...spans('run a'), ...spans('run b')].map((span) => span.parentSpanContext)).toEqual([undefined, undefined])
  },
)

test('a tracer that throws where a batch begins is told to the diagnostics, and ends nothing', async () => {
  const told: unknown[] = []
  diag.setLogger({ error: (...args) => told.push(args), warn() {}, info() {}, debug() {}, verbose() {} })
  onTestFinished(() => diag.disable())
  const failing = vi.spyOn(provider, 'getTracer').mockImplementation(() => {
    throw new RangeError('no tracer')
  })
  onTestFinished(() => failing.mockRestore())
  const b = defineJob({ name: 'b', maxAttempts: 1 })
  const { handlers, end } = traceHandlers([b.handler((items) => items.map(() => ({ output: 'ok' })), { batch: { size: 1 } })])
  onTestFinished(end)
  t.engine.work(handlers)
  const handle = await t.engine.enqueue(b)
  await t.advance(10)
  expect(await handle.result()).toBe('ok')
  expect(told).toMatchObject([[expect.stringContaining('no span'), { message: 'no tracer' }]])
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const WITHIN = { traceparent: `00-${TRACE}-${PARENT}-01` }

test('a request is a span, within the trace that it names, and what it enqueues is its child', async () => {
  const enqueues = async (_request: Request, name: string) => {
    await traceEnqueues(t.engine).enqueue(name)
    return new Response(null, { status: 201 })
  }
  const answer = traceRequests(enqueues, { routeOf: ({ url }) => (url.includes('/jobs/') ? '/jobs/{id}' : undefined) })
  const headers = { ...WITHIN, 'user-agent': 'a test' }
  expect((await answer(new Request('https://queue:7410/jobs/5?a=secret', { method: 'POST', headers }), 'b')).status).toBe(201)
  await answer(new Request('http://localhost/'), 'c')
  const [within] = spans('POST /jobs/{id}')
  expect(within).toMatchObject({ kind: SpanKind.SERVER, parentSpanContext: { spanId: PARENT, traceId: TRACE } })
  expect(within?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 201,
    'http.route': '/jobs/{id}',
    'server.address': 'queue',
    'url.path': '/jobs/5',
    'url.scheme': 'https',
    'user_agent.original': 'a test',
  })
  expect(spans('enqueue b')[0]?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: within?.spanContext().spanId })
  const [other] = spans('GET')
  expect(other?.parentSpanContext).toBeUndefined()
  expect(other?.attributes).not.toHaveProperty('http.route')
  expect(spans('enqueue c')[0]?.parentSpanContext?.spanId).toBe(other?.spanContext().spanId)
})

test('of a request that fails the span says so; a mistake of its caller is none of the server', async () => {
  const answer = (status: number) => traceRequests(() => new Response(null, { status }))
  for (const status of [404, 429, 503]) await answer(status)(new Request('http://localhost', { method: `M${status}` }))
  expect(
    spans('HTTP').map(({ attributes, status }) => [attributes['http.request.method_original'], attributes['error.type'], status]),
  ).toEqual([
    ['M404', undefined, { code: SpanStatusCode.UNSET }],
    ['M429', undefined, { code: SpanStatusCode.UNSET }],
    ['M503', '503', { code: SpanStatusCode.ERROR }],
  ])
  expect(spans('HTTP')[0]?.attributes['http.request.method']).toBe('_OTHER')
  const broken = traceRequests(() => Promise.reject(new RangeError('no')))
  await expect(broken(new Request('http://localhost'))).rejects.toThrow('no')
  expect(spans('GET')[0]).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'RangeError' } })
})

test('routes that are ignored have no span, and are within their trace all the same', async () => {
  const active: unknown[] = []
  const look = () => {
    active.push(trace.getActiveSpan()?.spanContext())
    return new Response()
  }
  const answer = traceRequests(look, { routeOf: ({ url }) => new URL(url).pathname, ignore: ['/healthz'] })
  await answer(new Request('http://localhost/healthz', { headers: WITHIN }))
  await answer(new Request('http://localhost/readyz'))
  expect(active).toMatchObject([{ traceId: TRACE, spanId: PARENT }, spans('GET /readyz')[0]?.spanContext() ?? {}])
  expect(exporter.getFinishedSpans()).toHaveLength(1)
})

test.each([
  [{ route: () => '/' }, 'route'],
  [{ routeOf: '/' }, 'routeOf'],
  [{ ignore: '/healthz' }, 'ignore'],
  [{ ignore: [1] }, 'ignore'],
])('%j is refused', (options, option) => {
  expect(() => traceRequests(() => new Response(), options as never)).toThrow(expect.objectContaining({ option }))
})

test('the active context as headers, for what a handler asks of others', async () => {
  t.engine.work(a.handler(traceRun(() => traceHeaders())))
  const handle = await t.engine.enqueue(a)
  await t.advance(10)
  const { traceId, spanId } = spans('run a')[0]?.spanContext() ?? {}
  expect(await handle.result()).toEqual({ traceparent: `00-${traceId}-${spanId}-01` })
  expect(traceHeaders()).toEqual({})
})

test('without a provider and a propagator nothing is added, and all runs as before', async () => {
  propagation.disable()
  expect(traceMeta()).toBeUndefined()
  expect(traceMeta({ mine: 1 })).toEqual({ mine: 1 })
  t.engine.work(a.handler(traceRun(() => 'ok')))
  const handle = await traceEnqueues(t.engine).enqueue(a)
  await t.advance(1)
  expect(await handle.result()).toBe('ok')
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
})
