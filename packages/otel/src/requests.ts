/** The context that a request over HTTP brings along. */
import { context, propagation, type TextMapGetter } from '@opentelemetry/api'

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/** A function of requests, within the context that each names (`traceparent` of W3C): what it enqueues is a part of that trace. */
export function traceRequests<Rest extends readonly unknown[], Answer>(
  fetch: (request: Request, ...rest: Rest) => Answer,
): (request: Request, ...rest: Rest) => Answer {
  return (request, ...rest) => context.with(propagation.extract(context.active(), request.headers, HEADERS), () => fetch(request, ...rest))
}
