/** Spans of runs, as children of the enqueue that the job comes from. */
import type { JobInfo, Context as RunContext } from '@millrace/worker'
import { type Context, context, propagation, type Span, SpanKind, trace } from '@opentelemetry/api'
import { attributesOf, failed, tracer } from './tracer.ts'

type Run<Data, Output> = (run: RunContext<Data>) => Output | Promise<Output>

/**
 * A handler's function in a span: of each run one, active while the handler runs. Also what a module on a thread exports, where that
 * thread has a tracer provider.
 */
export function traceRun<Data, Output>(run: Run<Data, Output>): Run<Data, Output> {
  const traced: Run<Data, Output> = (given) => {
    const { span, parent } = startRun(given.job)
    return context.with(trace.setSpan(parent, span), () => spanned(span, () => run(given)))
  }
  TRACED.add(traced)
  return traced
}

const TRACED = new WeakSet<object>()

export function isTraced(run: object): boolean {
  return TRACED.has(run)
}

/** A span of a run, a child of what its job carries. */
export function startRun({ id, name, queue, run, attempt, meta }: Pick<JobInfo, 'id' | 'name' | 'queue' | 'run' | 'attempt' | 'meta'>): {
  readonly span: Span
  readonly parent: Context
} {
  const parent = propagation.extract(context.active(), meta)
  const attributes = {
    ...attributesOf('run', queue, name),
    'messaging.message.id': id,
    'millrace.job.run': run,
    'millrace.job.attempt': attempt,
  }
  return { span: tracer().startSpan(`run ${name}`, { kind: SpanKind.CONSUMER, attributes }, parent), parent }
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
export function ended(span: Span, error: unknown): void {
  if (error instanceof Error && error.name === 'SnoozeSignal') span.setAttribute('millrace.outcome', 'snoozed')
  else failed(span, error)
  span.end()
}
