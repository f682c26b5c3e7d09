/**
 * What is served, put together in one place: the answers of HTTP, the handlers of the daemon's own worker, and what else runs as long as
 * the daemon does.
 */
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import type { Logger } from '@millrace/core'
import { type CommandSpec, execHandlers } from '@millrace/exec'
import { type Caller, createHttp, type HttpApi } from '@millrace/http'
import { EventWebhooks, type NewEndpoint, type WebhookHandlerOptions, webhookHandler } from '@millrace/webhooks'
import type { Handler } from '@millrace/worker'
import type { Config } from '../config/schema/schema.ts'
import type { Control } from '../control/control.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { version } from '../version.ts'
import { loadHandlers } from './handlers.ts'
import { named } from './named.ts'
import { EVENTS_QUEUE, type Handlers, type Plan, plansOf } from './workers.ts'

export interface Parts {
  readonly engine: Engine
  readonly control: Control
  readonly config: Config
  readonly logger: Logger
  readonly tracing: Tracing
  /** Relative paths of the configuration are from here. */
  readonly cwd: string
  /** Who a token is; undefined for nobody. */
  readonly authenticate: (token: string) => Caller | undefined
  /** Whether the daemon takes work: from its start to the first signal. */
  readonly ready: () => boolean
  /** Ends the daemon as a signal does. */
  readonly stop: () => void
}

export interface Assembled {
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>
  /** Whether the body of a request may take as long as it comes: an import. */
  readonly longRequest: (path: string) => boolean
  /** True for what says how the daemon is: it is answered even if all connections are taken. */
  readonly health: (path: string) => boolean
  /** Whether an answer has no end: a stream of events. */
  readonly longAnswer: (path: string) => boolean
  readonly workers: readonly Plan[]
  /** Called when all else is there. */
  readonly start: () => void | Promise<void>
  /** Before workers stop. */
  readonly close: () => void | Promise<void>
}

/** @throws ConfigError */
export async function assemble(parts: Parts): Promise<Assembled> {
  const { config, cwd, tracing } = parts
  const feed = config.webhooks.enabled ? await named('webhooks', () => feedOf(parts)) : undefined
  if (feed !== undefined) await applyEndpoints(parts, feed)
  const { fetch, routeOf } = httpOf({ ...parts, engine: tracing.engine(parts.engine) }, feed)
  const workers = await workersOf(config, cwd, tracing)
  // What the daemon serves itself it knows: what would fail is not let in.
  parts.engine.checks.add(workers.flatMap(({ handlers }) => handlers.map(({ definition }) => definition)))
  // Endpoints may be changed by another process, too.
  const forget = parts.control.onChange(() => feed?.refresh())
  return {
    fetch: tracing.fetch(fetch, routeOf),
    longRequest: (path) => path === '/v1/jobs:import',
    health: (path) => path === '/healthz' || path === '/readyz',
    longAnswer: (path) => path === '/v1/events',
    workers,
    start: () => feed?.start(),
    close: async () => {
      forget()
      await feed?.stop()
    },
  }
}

/**
 * What one worker of this configuration runs: handlers of modules, commands, webhooks.
 *
 * @param propagate what goes with each webhook
 */
export async function handlersOf(config: Config, cwd: string, propagate?: Tracing['headers']): Promise<readonly Handler[]> {
  const { modules, commands, webhooks } = await handlersByKind(config, cwd, propagate)
  return [...modules, ...commands, ...webhooks]
}

async function handlersByKind(config: Config, cwd: string, propagate?: Tracing['headers']): Promise<Handlers> {
  const webhooks = async () =>
    config.webhooks.enabled
      ? [await named('webhooks', () => webhookHandler({ ...deliveryOf(config), ...(propagate !== undefined && { propagate }) }))]
      : []
  return {
    modules: await loadHandlers(config.worker.handlers, cwd),
    commands: await named('exec', () => commandsOf(config, cwd)),
    webhooks: await webhooks(),
    events: await webhooks(),
  }
}

async function workersOf(config: Config, cwd: string, tracing: Tracing): Promise<readonly Plan[]> {
  const plans = plansOf(config, await handlersByKind(config, cwd, tracing.headers))
  return plans.map((plan) => ({ ...plan, handlers: tracing.handlers(plan.handlers) }))
}

export function feedOf({ engine, control, config, logger }: Pick<Parts, 'engine' | 'control' | 'config' | 'logger'>): EventWebhooks {
  return new EventWebhooks(engine, {
    endpoints: control.endpoints,
    queue: EVENTS_QUEUE,
    secrets: config.webhooks.secrets ?? {},
    logger,
    onDisabled: ({ id, disabledReason }) => logger.warn('a webhook endpoint was disabled', { id, reason: disabledReason }),
  })
}

/** Endpoints of the configuration are added, or said anew; those that it does not name stay as they are. */
async function applyEndpoints({ config }: Parts, feed: EventWebhooks): Promise<void> {
  for (const [id, settings] of Object.entries(config.endpoints)) {
    const endpoint = { ...(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as NewEndpoint), id }
    await named(`endpoints.${id}`, () => feed.add(endpoint))
  }
}

/** @param feed of event webhooks, where they are served */
export function httpOf(
  { engine, control, config, logger, authenticate, ready, stop }: Omit<Parts, 'cwd' | 'tracing'>,
  feed: EventWebhooks | undefined,
): HttpApi {
  const { maxBodyBytes, requestTimeout, rateLimit } = config.http
  return createHttp(engine, {
    authenticate,
    maxBodyBytes,
    bodyTimeout: requestTimeout,
    ...(rateLimit !== undefined && { rateLimit }),
    audit: (entry) => control.audit({ ...entry, via: 'http' }),
    logger,
    ready,
    control: { stop },
    version: version(),
    ...(feed !== undefined && {
      webhooks: {
        list: () => control.endpoints.list(),
        add: (endpoint) => feed.add(endpoint),
        enable: (id, options) => feed.enable(id, options),
        disable: (id) => feed.disable(id),
        remove: (id) => feed.remove(id),
      },
    }),
  })
}

function commandsOf({ exec, execLogs: { folder, ...bounds }, worker: { abortGrace } }: Config, cwd: string): readonly Handler[] {
  if (Object.keys(exec).length === 0) return []
  const logs = folder === undefined ? {} : { logFolder: resolve(cwd, folder), ...bounds }
  return execHandlers(exec as Readonly<Record<string, CommandSpec>>, { ...logs, abortGrace })
}

function deliveryOf({
  webhooks: { enabled: _enabled, concurrency: _concurrency, eventConcurrency: _event, ...given },
}: Config): WebhookHandlerOptions {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
