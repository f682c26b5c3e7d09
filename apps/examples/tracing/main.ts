/** One trace from a request over the enqueue to both runs of its job, by OpenTelemetry; the context travels in the job's `meta`. */
import { defineJob, openEngine } from '@millrace/engine'
import { traceEnqueues, traceRun } from '@millrace/otel'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { SpanPrinter } from './spanPrinter.ts'

// Of each process, once: where spans go, which one is active, and how their context is written down.
const printer = new SpanPrinter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: printer })] })
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

const tracer = trace.getTracer('example')
const resize = defineJob<{ path: string }>({ name: 'resize', maxAttempts: 2, backoff: { type: 'fixed', delay: 10 } })
const engine = await openEngine({ file: ':memory:' })

engine.work(
  resize.handler(
    traceRun(({ data, job }) => {
      if (job.attempt === 1) throw new Error(`${data.path} is not there yet`)
      // What is made in a handler is a child of its run.
      return tracer.startActiveSpan('shrink', (span) => {
        span.end()
        return `${data.path} is small`
      })
    }),
  ),
)

const producer = traceEnqueues(engine)
const handle = await tracer.startActiveSpan('POST /pictures', async (request) => {
  const enqueued = await producer.enqueue(resize, { path: 'a.png' }, { meta: { from: 'upload' } })
  request.end()
  return enqueued
})
console.log(await handle.result({ timeout: '1m' }))
console.log(`its meta: ${Object.keys((await engine.get(handle.id))?.meta as object).join(', ')}`)

await engine.stop()
await provider.shutdown()
printer.print()
