/** OpenTelemetry spans, if the configuration enables them. Otherwise, nothing of OpenTelemetry is loaded. */
import type { Engine } from '@millrace/client'
import type { Logger } from '@millrace/core'
import type { Handler } from '@millrace/worker'
import type { Environment } from '../config/environment.ts'
import { ConfigError } from '../config/errors.ts'
import type { Config } from '../config/schema/schema.ts'
import { after } from '../serve/clock.ts'
import { samplerOf } from './sampler.ts'

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>

/** Returns traced versions of what the daemon uses. */
export interface Tracing {
  /** Returns an engine whose enqueues are spans, and whose jobs carry their context. */
  engine(engine: Engine): Engine
  /** Makes requests, and the enqueues that they cause, spans within the traces that the requests name. */
  fetch(fetch: Fetch, routeOf: (request: Request) => string | undefined): Fetch
  /** Returns handlers whose runs are spans. */
  handlers(handlers: readonly Handler[]): readonly Handler[]
  /** Returns the headers for a request that a run sends. Undefined if nothing is traced. */
  readonly headers: (() => Readonly<Record<string, string>>) | undefined
  /** Sends the remaining spans, for 5 s at most. Never rejects. */
  end(): Promise<void>
}

const NONE: Tracing = {
  engine: (engine) => engine,
  fetch: (fetch) => fetch,
  handlers: (handlers) => handlers,
  headers: undefined,
  end: async () => {},
}
/** Paths that monitoring requests every few seconds. Their spans would only be noise. */
const PROBES = ['/healthz', '/readyz', '/metrics']

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/core',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
]
/** The time limit for the last spans, so that a collector that does not answer delays nobody. */
const END_MS = 5_000

/** Starts tracing. Call it once in a process, because it sets OpenTelemetry's globals. @throws ConfigError */
export async function startTracing({ enabled, endpoint }: Config['otel'], env: Environment, logger: Logger): Promise<Tracing> {
  if (!enabled) return NONE
  const { api, sdk, core, resources, hooks, exporting, otel } = await load()
  const sampler = samplerOf(env, sdk)
  const { context, diag, DiagLogLevel, propagation, trace } = api
  const warn = (message: string, ...rest: unknown[]) => logger.warn(`OpenTelemetry: ${message}`, rest.length === 0 ? {} : { rest })
  diag.setLogger({ error: warn, warn, info: warn, debug: warn, verbose: warn }, { logLevel: DiagLogLevel.WARN })
  const exporter = new exporting.OTLPTraceExporter(endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` })
  const detected = resources.detectResources({ detectors: [resources.resourceAttributesEnvDetector, resources.serviceNameEnvDetector] })
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': 'millrace' }))
      .merge(detected),
    sampler,
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator())
  const enders: (() => void)[] = []
  return {
    engine: otel.traceEnqueues,
    fetch: (fetch, routeOf) => otel.traceRequests(fetch, { routeOf, ignore: PROBES }),
    headers: otel.traceHeaders,
    handlers: (handlers) => {
      const traced = otel.traceHandlers(handlers)
      enders.push(traced.end)
      return traced.handlers
    },
    end: async () => {
      for (const end of enders) end()
      const { promise: late, resolve } = Promise.withResolvers<'late'>()
      const stop = after(END_MS, () => resolve('late'))
      const ended = await Promise.race([provider.shutdown().catch((error: Error) => error.message), late])
      stop()
      if (ended !== undefined) logger.warn('spans could not be sent and are lost', { reason: ended })
    },
  }
}

async function load() {
  try {
    const [api, sdk, core, resources, hooks, exporting, otel] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@millrace/otel'),
    ])
    return { api, sdk, core, resources, hooks, exporting, otel }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ConfigError([`'otel.enabled': spans need packages that are not installed: npm install ${PACKAGES.join(' ')}`], { cause })
  }
}
