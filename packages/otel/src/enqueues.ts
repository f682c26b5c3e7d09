/** Traces calls that enqueue, and puts their context into the jobs. */
import type { Engine, FlowNodeRequest, JobRequest, JobRequests } from '@millrace/client'
import type { EnqueueOptions, FlowOptions, TriggerOptions } from '@millrace/core'
import { type Context, context, type Span, SpanKind, trace } from '@opentelemetry/api'
import { metaOf } from './meta.ts'
import { replaced } from './replaced.ts'
import { attributesOf, failed, tracer } from './tracer.ts'

/** An engine, as far as it enqueues. */
export type Enqueues = Pick<Engine, 'enqueue' | 'enqueueMany'> & Partial<Pick<Engine, 'flow' | 'batch' | 'schedules'>>

/**
 * Returns the same engine, with a span of its own for each call of `enqueue`, `enqueueMany`, `flow`, `batch` and
 * `schedules.trigger`. The span ends when the jobs are committed. The jobs' runs are its children.
 */
export function traceEnqueues<Enqueuing extends Enqueues>(engine: Enqueuing): Enqueuing {
  const enqueue = async (job: JobRequest['job'], data?: unknown, options?: EnqueueOptions) => {
    const name = nameOf(job)
    const queue = options?.queue ?? (typeof job === 'string' ? undefined : job?.defaults?.queue)
    return within(`enqueue ${name}`, name, queue, async (span, inside) => {
      const handle = await engine.enqueue(job as JobRequest['job'], data, { ...options, ...metaOf(options, inside) })
      span.setAttributes({ 'messaging.message.id': handle.id, 'millrace.job.created': handle.created })
      return handle
    })
  }
  const enqueueMany = async (jobs: JobRequests) => {
    return within('enqueue many', '', undefined, async (span, inside) => {
      const request = (each: JobRequest) => traced(each, inside)
      const handles = await engine.enqueueMany((Array.isArray(jobs) ? jobs.map(request) : each(jobs, request)) as readonly JobRequest[])
      span.setAttribute('messaging.batch.message_count', handles.length)
      return handles
    })
  }
  const flow = async (nodes: readonly FlowNodeRequest[], options?: FlowOptions) => {
    return within('enqueue flow', '', undefined, async (span, inside) => {
      const request = (node: FlowNodeRequest) => traced(node, inside)
      const handle = await (engine as Pick<Engine, 'flow'>).flow(Array.isArray(nodes) ? nodes.map(request) : nodes, options)
      span.setAttribute('messaging.batch.message_count', nodes.length)
      return handle
    })
  }
  const batch = async (jobs: readonly JobRequest[], callback: JobRequest, options?: FlowOptions) => {
    return within('enqueue batch', '', undefined, async (span, inside) => {
      const request = (each: JobRequest) => traced(each, inside)
      const handle = await (engine as Pick<Engine, 'batch'>).batch(
        Array.isArray(jobs) ? jobs.map(request) : jobs,
        request(callback),
        options,
      )
      span.setAttribute('messaging.batch.message_count', jobs.length + 1)
      return handle
    })
  }
  const schedules = engine.schedules && replaced(engine.schedules, { trigger: traceTrigger(engine.schedules) })
  return replaced(engine, { enqueue, enqueueMany, flow, batch, ...(schedules && { schedules }) })
}

/** Traces `trigger`. The span has no job name, because only the schedule knows it. */
function traceTrigger(schedules: Engine['schedules']): Engine['schedules']['trigger'] {
  const trigger = async (id: string, options?: TriggerOptions) =>
    within(`trigger ${id}`, undefined, undefined, async (span, inside) => {
      span.setAttribute('millrace.schedule.id', id)
      const handle = await schedules.trigger(id, { ...options, ...metaOf(options, inside) } as TriggerOptions)
      span.setAttributes({ 'messaging.message.id': handle.id, 'millrace.job.created': handle.created })
      return handle
    })
  return trigger as Engine['schedules']['trigger']
}

/** Returns the request with the context of its span. */
function traced<Request extends JobRequest>(request: Request, inside: Context): Request {
  return { ...request, options: { ...request?.options, ...metaOf(request?.options, inside) } }
}

async function* each(jobs: Iterable<JobRequest> | AsyncIterable<JobRequest>, change: (job: JobRequest) => JobRequest) {
  for await (const job of jobs) yield change(job)
}

function nameOf(job: JobRequest['job']): string {
  return typeof job === 'string' ? job : String(job?.name)
}

async function within<Result>(
  title: string,
  name: string | undefined,
  queue: string | undefined,
  call: (span: Span, inside: Context) => Promise<Result>,
): Promise<Result> {
  const span = tracer().startSpan(title, { kind: SpanKind.PRODUCER, attributes: attributesOf('enqueue', queue, name) })
  const inside = trace.setSpan(context.active(), span)
  try {
    return await context.with(inside, () => call(span, inside))
  } catch (error) {
    failed(span, error)
    throw error
  } finally {
    span.end()
  }
}
