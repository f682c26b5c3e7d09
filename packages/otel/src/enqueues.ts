/** Spans of what enqueues, and their context in the jobs. */
import type { Engine, FlowNodeRequest, JobRequest, JobRequests } from '@millrace/client'
import type { EnqueueOptions, FlowOptions } from '@millrace/core'
import { type Context, context, type Span, SpanKind, trace } from '@opentelemetry/api'
import { carried } from './meta.ts'
import { attributesOf, failed, tracer } from './tracer.ts'

export type Enqueues = Pick<Engine, 'enqueue' | 'enqueueMany'> & Partial<Pick<Engine, 'flow'>>

/**
 * The same engine, whose `enqueue`, `enqueueMany` and `flow` are in a span of their own, which ends when the jobs are committed. The jobs'
 * runs are its children.
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
      const request = (each: JobRequest): JobRequest => ({ ...each, options: { ...each?.options, ...metaOf(each?.options, inside) } })
      const handles = await engine.enqueueMany(Array.isArray(jobs) ? jobs.map(request) : each(jobs, request))
      span.setAttribute('messaging.batch.message_count', handles.length)
      return handles
    })
  }
  const flow = async (nodes: readonly FlowNodeRequest[], options?: FlowOptions) => {
    return within('enqueue flow', '', undefined, async (span, inside) => {
      const traced = nodes.map((node) => ({ ...node, options: { ...node?.options, ...metaOf(node?.options, inside) } }))
      const handle = await (engine as Pick<Engine, 'flow'>).flow(traced, options)
      span.setAttribute('messaging.batch.message_count', nodes.length)
      return handle
    })
  }
  const traced = new Map<PropertyKey, unknown>(Object.entries({ enqueue, enqueueMany, flow }))
  return new Proxy(engine, {
    get: (_engine, key) => {
      const own: unknown = Reflect.get(engine, key)
      if (typeof own !== 'function') return own
      // What has private fields knows itself alone.
      return traced.get(key) ?? own.bind(engine)
    },
  })
}

async function* each(jobs: Iterable<JobRequest> | AsyncIterable<JobRequest>, change: (job: JobRequest) => JobRequest) {
  for await (const job of jobs) yield change(job)
}

function nameOf(job: JobRequest['job']): string {
  return typeof job === 'string' ? job : String(job?.name)
}

/** Only where there is any: `meta: undefined` would be an option that is set. */
function metaOf(options: EnqueueOptions | undefined, inside: Context): EnqueueOptions {
  const meta = carried(options?.meta, inside)
  return meta === undefined ? {} : { meta }
}

async function within<Result>(
  title: string,
  name: string,
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
