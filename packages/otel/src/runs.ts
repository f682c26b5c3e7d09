/** Spans of runs, as children of the enqueue that the job comes from. */
import type { Context as RunContext } from '@millrace/worker'
import { context, propagation, type Span, SpanKind, trace } from '@opentelemetry/api'
import { attributesOf, failed, tracer } from './tracer.ts'

type Run<Data, Output> = (run: RunContext<Data>) => Output | Promise<Output>

/**
 * A handler's function in a span: of each run one, active while the handler runs. Also what a module on a thread exports, where that
 * thread has a tracer provider.
 */
export function traceRun<Data, Output>(run: Run<Data, Output>): Run<Data, Output> {
  return (given) => {
    const { id, name, queue, run: number, attempt, meta } = given.job
    const parent = propagation.extract(context.active(), meta)
    const attributes = {
      ...attributesOf('run', queue, name),
      'messaging.message.id': id,
      'millrace.job.run': number,
      'millrace.job.attempt': attempt,
    }
    const span = tracer().startSpan(`run ${name}`, { kind: SpanKind.CONSUMER, attributes }, parent)
    return context.with(trace.setSpan(parent, span), () => spanned(span, () => run(given)))
  }
}

/** What is answered at once is answered at once. */
function spanned<Output>(span: Span, run: () => Output | Promise<Output>): Output | Promise<Output> {
  let output: Output | Promise<Output>
  try {
    output = run()
  } catch (error) {
    ended(span, error)
    throw error
  }
  if (output instanceof Promise) {
    return output.then(
      (value) => {
        span.end()
        return value
      },
      (error) => {
        ended(span, error)
        throw error
      },
    )
  }
  span.end()
  return output
}

/** By its name: a second copy of the package has another class. */
function ended(span: Span, error: unknown): void {
  if (error instanceof Error && error.name === 'SnoozeSignal') span.setAttribute('millrace.outcome', 'snoozed')
  else failed(span, error)
  span.end()
}
