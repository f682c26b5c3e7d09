/** Carries the context of a trace in a job: in `meta`, by the names that the propagator has for it (`traceparent` of W3C). */
import { type Context, context, propagation, trace } from '@opentelemetry/api'

/** Returns `meta` with the active context in it, for producers that are not traced: an outbox, a client in another language. */
export function traceMeta(meta?: unknown): unknown {
  return carried(meta, context.active())
}

/** Returns `meta` with the context in it. A `meta` that is not a map has no place for it, and stays as it is. */
export function carried(meta: unknown, from: Context): unknown {
  if (meta !== undefined && !isMap(meta)) return meta
  const carrier: Record<string, string> = {}
  context.with(from, () => propagation.inject(activeOr(from), carrier))
  return Object.keys(carrier).length === 0 ? meta : { ...meta, ...carrier }
}

/**
 * Returns the active context if it has the same span, because the propagator of Sentry writes down no other, and its manager makes a
 * context of its own of the one that becomes active. Without a manager, none becomes active.
 */
function activeOr(from: Context): Context {
  const active = context.active()
  return trace.getSpan(active) === trace.getSpan(from) ? active : from
}

/** Sets `meta` only if there is any: `meta: undefined` would be an option that is set. */
export function metaOf(options: { readonly meta?: unknown } | undefined, from: Context): { readonly meta?: unknown } {
  const meta = carried(options?.meta, from)
  return meta === undefined ? {} : { meta }
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
