/** The tracer, and what every span of ours says. */
import { type Attributes, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'

/** Asked for anew: whoever sets a provider later is heard. Without one, spans are nothing and cost next to nothing. */
export function tracer(): Tracer {
  return trace.getTracer('@millrace/otel')
}

export function attributesOf(operation: 'enqueue' | 'run', queue: string | undefined, name: string | undefined): Attributes {
  return {
    'messaging.system': 'millrace',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation === 'enqueue' ? 'send' : 'process',
    'messaging.destination.name': queue,
    'millrace.job.name': name,
  }
}

export function failed(span: Span, error: unknown): void {
  const known = error instanceof Error ? error : new Error(String(error))
  span.recordException(known)
  span.setStatus({ code: SpanStatusCode.ERROR, message: known.message })
  span.setAttribute('error.type', known.name)
}
