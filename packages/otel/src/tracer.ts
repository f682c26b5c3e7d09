/** The tracer, and the attributes that every span of this package has. */
import { isError } from '@millrace/core'
import { type Attributes, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'

/**
 * Returns the tracer. It is requested each time, so that a provider that is set later takes effect. Without one, spans do nothing
 * and cost next to nothing.
 */
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
  const known = isError(error) ? error : new Error(String(error))
  span.recordException(known)
  span.setStatus({ code: SpanStatusCode.ERROR, message: known.message })
  span.setAttribute('error.type', known.name)
}
