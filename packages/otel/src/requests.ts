/** Traces requests over HTTP, and carries the context in and out with them. */
import { checkKnown, describe, OptionTypeError } from '@millrace/core'
import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { failed, tracer } from './tracer.ts'

/** The options of `traceRequests`. */
export interface RequestTracing {
  /**
   * Returns the path as the server has it: `/v1/jobs/{id}`; undefined if it serves none. Without `routeOf`, spans are named by
   * the method alone.
   */
  readonly routeOf?: (request: Request) => string | undefined
  /** Routes without a span, for example those requested every few seconds. Default none. */
  readonly ignore?: readonly string[]
}

const KNOWN = new Set<keyof RequestTracing>(['routeOf', 'ignore'])
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const SERVER_ERROR = 500

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/**
 * Wraps a function of requests: each gets a `SERVER` span within the trace that it names (`traceparent` of W3C), and the jobs
 * that it enqueues are a part of that trace. The span ends with the response's head: it does not wait for a streamed body.
 *
 * @throws OptionTypeError
 */
export function traceRequests<Rest extends readonly unknown[]>(
  fetch: (request: Request, ...rest: Rest) => Response | Promise<Response>,
  options: RequestTracing = {},
): (request: Request, ...rest: Rest) => Promise<Response> {
  const { routeOf, ignored } = validated(options)
  return async (request, ...rest) => {
    const from = propagation.extract(context.active(), request.headers, HEADERS)
    const route = routeOf?.(request)
    if (route !== undefined && ignored.has(route)) return context.with(from, () => fetch(request, ...rest))
    const span = startSpan(request, route, from)
    try {
      const response = await context.with(trace.setSpan(from, span), () => fetch(request, ...rest))
      answered(span, response)
      return response
    } catch (error) {
      failed(span, error)
      throw error
    } finally {
      span.end()
    }
  }
}

/** Returns the active context as headers, for a request that is to be a part of its trace; none if nothing is traced. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {}
  propagation.inject(context.active(), headers)
  return headers
}

function startSpan({ method, url, headers }: Request, route: string | undefined, from: Context): Span {
  const known = METHODS.has(method)
  const { pathname, protocol, hostname } = new URL(url)
  const attributes: Attributes = {
    'http.request.method': known ? method : '_OTHER',
    ...(!known && { 'http.request.method_original': method }),
    // Leaves out the query: it may contain something that only the queue may know.
    'url.path': pathname,
    'url.scheme': protocol.slice(0, -1),
    'server.address': hostname,
    'http.route': route,
    'user_agent.original': headers.get('user-agent') ?? undefined,
  }
  const name = [known ? method : 'HTTP', ...(route === undefined ? [] : [route])].join(' ')
  return tracer().startSpan(name, { kind: SpanKind.SERVER, attributes }, from)
}

/** Notes the response's status. A caller's mistake is not an error of the server. */
function answered(span: Span, { status }: Response): void {
  span.setAttribute('http.response.status_code', status)
  if (status < SERVER_ERROR) return
  span.setAttribute('error.type', String(status))
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function validated(options: unknown) {
  checkKnown('traceRequests', options, KNOWN)
  const { routeOf, ignore = [] } = options
  if (routeOf !== undefined && typeof routeOf !== 'function')
    throw new OptionTypeError('routeOf', `routeOf must be a function, got ${describe(routeOf)}`)
  if (!Array.isArray(ignore) || !ignore.every((route) => typeof route === 'string'))
    throw new OptionTypeError('ignore', `ignore must be an array of routes, got ${describe(ignore)}`)
  return { routeOf: routeOf as RequestTracing['routeOf'], ignored: new Set<string>(ignore) }
}
