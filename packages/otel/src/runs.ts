/** Traces runs, as children of the enqueue that the job comes from. */
import { type EnqueueOptions, isError, isErrorOf, isThenable } from '@millrace/core'
import type { JobInfo, JobType, Context as RunContext } from '@millrace/worker'
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { isMap, metaOf } from './meta.ts'
import { replaced } from './replaced.ts'
import { attributesOf, failed, tracer } from './tracer.ts'

type Run<Data, Output> = (run: RunContext<Data>) => Output | Promise<Output>

/**
 * Wraps a handler's function: each run has a span, active while the handler runs. The jobs that the handler enqueues are a part
 * of its trace. It also wraps what a module on a thread exports, if that thread has a tracer provider.
 */
export function traceRun<Data, Output>(run: Run<Data, Output>): Run<Data, Output> {
  const traced: Run<Data, Output> = (given) => {
    const { span, parent } = startRun(given.job)
    const inside = trace.setSpan(parent, span)
    const enqueue = (job: JobType | string, data?: unknown, options?: EnqueueOptions) =>
      given.enqueue(job, data, { ...options, ...metaOf(options, inside) })
    return context.with(inside, () => spanned(span, given.signal, () => run(replaced(given, { enqueue }))))
  }
  TRACED.add(traced)
  return traced
}

const TRACED = new WeakSet<object>()

export function isTraced(run: object): boolean {
  return TRACED.has(run)
}

/** Starts a span of a run, as a child of the context that its job carries. */
export function startRun({ id, name, queue, run, attempt, meta }: Pick<JobInfo, 'id' | 'name' | 'queue' | 'run' | 'attempt' | 'meta'>): {
  readonly span: Span
  readonly parent: Context
} {
  // The active context is not the parent: a worker runs within what was active when its engine was opened.
  const parent = propagation.extract(ROOT_CONTEXT, meta, TEXTS)
  const attributes = {
    ...attributesOf('run', queue, name),
    'messaging.message.id': id,
    'millrace.job.run': run,
    'millrace.job.attempt': attempt,
    ...scheduleOf(meta),
  }
  return { span: tracer().startSpan(`run ${name}`, { kind: SpanKind.CONSUMER, attributes }, parent), parent }
}

/** Reads strings only: a producer can put anything into `meta`, and propagators take strings for granted. */
const TEXTS: TextMapGetter<unknown> = {
  keys: (meta) => (isMap(meta) ? Object.keys(meta) : []),
  get: (meta, key) => {
    const value: unknown = isMap(meta) ? meta[key] : undefined
    return typeof value === 'string' ? value : undefined
  },
}

/** Returns the schedule of a job that a schedule has enqueued: it has no parent, so its schedule identifies it. */
function scheduleOf(meta: unknown): Attributes {
  const schedule = isMap(meta) ? meta['schedule'] : undefined
  const { id, at } = isMap(schedule) ? schedule : {}
  return typeof id === 'string' && typeof at === 'string' ? { 'millrace.schedule.id': id, 'millrace.schedule.tick': at } : {}
}

/** Runs within the span. A synchronous result stays synchronous. If a durable call ends the run, its signal says so. */
function spanned<Output>(span: Span, signal: AbortSignal, run: () => Output | Promise<Output>): Output | Promise<Output> {
  let isOver = false
  const over = (end: () => void) => {
    if (!isOver) end()
    isOver = true
  }
  const failing = (error: unknown): never => {
    over(() => ended(span, error))
    throw error
  }
  let output: Output | Promise<Output>
  try {
    output = run()
    // A thenable may call back twice, or throw: a promise of it does neither. The worker does the same.
    if (isThenable(output)) output = Promise.resolve(output)
  } catch (error) {
    return failing(error)
  }
  if (!(output instanceof Promise)) {
    span.end()
    return output
  }
  const suspended = () => {
    if (isErrorOf(signal.reason, 'RunSuspended')) over(() => ended(span, signal.reason.cause ?? signal.reason))
  }
  signal.addEventListener('abort', suspended, { once: true })
  return output.then((value) => {
    over(() => span.end())
    return value
  }, failing)
}

const SIGNALS: ReadonlyMap<string, string> = new Map([
  ['SnoozeSignal', 'snoozed'],
  ['JoinSignal', 'joined'],
  ['WaitSignal', 'asleep'],
  ['RunSuspended', 'asleep'],
])

/** Recognizes a run that will go on later by the name of what it throws: a second copy of the package has another class. */
export function ended(span: Span, error: unknown): void {
  const outcome = isError(error) ? SIGNALS.get(error.name) : undefined
  if (outcome === undefined) failed(span, error)
  else span.setAttribute('millrace.outcome', outcome)
  span.end()
}
