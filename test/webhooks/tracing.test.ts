/** Webhooks under trace: each has the context of its own run, also one that has waited for its host behind another. */
import { openEngine } from '@millrace/engine'
import { traceEnqueues, traceHandlers, traceHeaders } from '@millrace/otel'
import { webhookHandler, webhookJob } from '@millrace/webhooks'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished, test } from 'vitest'
import { receiver } from '../../packages/webhooks/src/testing/receiver.ts'

test('one at a time to a host: each says which run it is of', async () => {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const server = await receiver()
  const engine = await openEngine({ file: ':memory:' })
  const { handlers, end } = traceHandlers([
    webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any', perHost: 1, hostWait: '30s', propagate: traceHeaders }),
  ])
  onTestFinished(async () => {
    await engine.stop()
    end()
    trace.disable()
    context.disable()
    propagation.disable()
  })
  engine.work(handlers, { concurrency: 10 })
  const producer = traceEnqueues(engine)
  const jobs = await Promise.all(Array.from({ length: 10 }, (_, body) => producer.enqueue(webhookJob, { url: server.url, body })))
  await Promise.all(jobs.map((job) => job.result()))
  const runs = exporter.getFinishedSpans().filter(({ name }) => name === 'run http')
  const sent = Object.fromEntries(server.received.map(({ headers }) => [headers['millrace-job-id'], headers['traceparent']]))
  expect(sent).toEqual(
    Object.fromEntries(
      runs.map((run) => [run.attributes['messaging.message.id'], `00-${run.spanContext().traceId}-${run.spanContext().spanId}-01`]),
    ),
  )
  expect(new Set(runs.map((run) => run.spanContext().traceId)).size).toBe(10)
})
