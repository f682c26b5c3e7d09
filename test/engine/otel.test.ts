// Spans of enqueues and runs, by the real SDK, and the context that jobs carry from one to the other.
import { defineJob } from '@millrace/engine'
import { traceEnqueues, traceMeta, traceRun } from '@millrace/otel'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

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

test('a run is a child of its enqueue, which is a child of what called it; spans within the handler are the run’s', async () => {
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

test('the context goes with whatever creates jobs: a handler’s own, by traceMeta', async () => {
  t.engine.work([
    a.handler(traceRun((run) => run.enqueue('next', undefined, { meta: traceMeta({ mine: 2 }) }))),
    defineJob({ name: 'next' }).handler(traceRun(() => {})),
  ])
  await traceEnqueues(t.engine).enqueue(a)
  await t.advance(10)
  expect(spans('run next')[0]?.parentSpanContext?.spanId).toBe(spans('run a')[0]?.spanContext().spanId)
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
