/**
 * Assembles what the daemon serves: the HTTP API, the handlers of the daemon's own workers, and everything else that runs as long as
 * the daemon does.
 */
import { resolve } from 'node:path'
import type { Engine } from '@millrace/client'
import type { Logger } from '@millrace/core'
import { type CommandSpec, execHandlers } from '@millrace/exec'
import { type Caller, createHttp, type DashboardOptions, type HttpApi, type InstanceOptions, type SocketPlace } from '@millrace/http'
import { EventWebhooks, type NewEndpoint, type WebhookHandlerOptions, webhookHandler, webhookJob } from '@millrace/webhooks'
import type { Handler } from '@millrace/worker'
import type { Config } from '../config/schema/schema.ts'
import type { Control } from '../control/control.ts'
import { defined } from '../defined.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { version } from '../version.ts'
import { loadHandlers } from './handlers.ts'
import { compareEndpoints } from './leavers.ts'
import { named } from './named.ts'
import { loggedFetch } from './requestLog.ts'
import { EVENTS_QUEUE, type Handlers, type Plan, plansOf } from './workers.ts'

export interface Parts {
  readonly engine: Engine
  readonly control: Control
  readonly config: Config
  readonly logger: Logger
  readonly tracing: Tracing
  /** The base folder of relative paths in the configuration. */
  readonly cwd: string
  /** Returns the caller that a token belongs to; undefined if it is unknown. If it is undefined itself, no token is needed. */
  readonly authenticate: ((token: string) => Caller | undefined) | undefined
  /** Returns true while the daemon takes work: from its start to the first signal. */
  readonly ready: () => boolean
  /** Ends the daemon as a signal does. */
  readonly stop: () => void
  /** The files of the dashboard. Without them there is none. */
  readonly dashboard?: DashboardOptions['files'] | undefined
  /** Returns where the sockets for workers are. Without it, `/v1/sockets` does not exist. */
  readonly sockets?: (() => readonly SocketPlace[]) | undefined
  /** Jobs that the dashboard offers to enqueue. */
  readonly samples?: DashboardOptions['samples'] | undefined
}

export interface Assembled {
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>
  /** True for a request whose body may take any time as long as data arrives: an import. */
  readonly longRequest: (path: string) => boolean
  /** True for a request whose body is read before anybody knows who asks: a log-in. */
  readonly anonymousBody: (request: Request) => boolean
  /** True for health checks, which are answered even if all connections are taken. */
  readonly health: (path: string) => boolean
  /** True for a request whose response has no end: a stream of events. */
  readonly longAnswer: (path: string) => boolean
  readonly workers: readonly Plan[]
  /** Called after everything else has started. */
  readonly start: () => void | Promise<void>
  /** Called before workers stop. */
  readonly close: () => void | Promise<void>
}

/** @throws ConfigError */
export async function assemble(parts: Parts): Promise<Assembled> {
  const { config, cwd, tracing } = parts
  const feed = config.webhooks.enabled ? await named('webhooks', () => feedOf(parts)) : undefined
  if (feed !== undefined) await applyEndpoints(parts, feed)
  const { fetch, routeOf } = await named('http', () => httpOf({ ...parts, engine: tracing.engine(parts.engine) }, feed))
  const workers = await workersOf(config, cwd, tracing)
  // The daemon knows the jobs that it serves itself, so the engine rejects those that would fail. It knows webhooks even if it sends none
  // now: they would fail once it does. A handler of that name is the user's own.
  const served = workers.flatMap(({ handlers }) => handlers.map(({ definition }) => definition))
  parts.engine.checks.add(served.some(({ name }) => name === webhookJob.name) ? served : [...served, webhookJob])
  // Another process may change endpoints, too.
  const forget = parts.control.onChange(() => feed?.refresh())
  return {
    fetch: loggedFetch(tracing.fetch(fetch, routeOf), routeOf, config.log.level, parts.logger),
    longRequest: (path) => path === '/v1/jobs:import',
    // By the router, because a path can be written in more ways than one.
    anonymousBody: (request) => parts.authenticate === undefined || routeOf(request) === '/v1/session',
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
 * Returns the handlers that one worker of this configuration runs: those of modules, commands and webhooks.
 *
 * @param propagate returns the headers that are sent with each webhook
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

/** Adds or updates the endpoints of the configuration. Endpoints that it does not name stay unchanged, and those that it no longer names are reported. */
async function applyEndpoints(parts: Parts, feed: EventWebhooks): Promise<void> {
  const { config } = parts
  for (const [id, settings] of Object.entries(config.endpoints)) {
    const endpoint = defined<NewEndpoint>({ ...settings, id })
    await named(`endpoints.${id}`, () => feed.add(endpoint))
  }
  await compareEndpoints(parts)
}

/** @param feed the event webhooks; undefined if they are not served */
export function httpOf(
  { engine, control, config, logger, authenticate, ready, stop, sockets, dashboard: files, samples = [] }: Omit<Parts, 'cwd' | 'tracing'>,
  feed: EventWebhooks | undefined,
): HttpApi {
  const { maxBodyBytes, requestTimeout, rateLimit, instance, allowedHosts, dashboard } = config.http
  return createHttp(engine, {
    ...(authenticate === undefined ? { open: true as const } : { authenticate }),
    maxBodyBytes,
    bodyTimeout: requestTimeout,
    ...(rateLimit !== undefined && { rateLimit }),
    ...(allowedHosts !== undefined && { allowedHosts }),
    // Kept, so that sessions outlive a restart.
    sessionSecret: control.secret('session'),
    redact: dashboard.redact,
    ...(files !== undefined && { dashboard: { files, frameAncestors: dashboard.frameAncestors, samples } }),
    audit: (entry) => control.audit({ ...entry, via: 'http' }),
    assertAuditable: () => control.assertAuditable(),
    // Everybody may ask, so it names no path.
    degraded: () => (control.fault === undefined ? undefined : 'the control database cannot be written: calls that need admin are refused'),
    logger,
    ready,
    control: { stop },
    ...(sockets !== undefined && { sockets }),
    version: version(),
    instance: instance as InstanceOptions,
    ...(authenticate !== undefined && {
      tokens: {
        list: () => control.listTokens(),
        create: (token) => control.createToken(token),
        revoke: (id) => control.revokeToken(id),
        onChange: (listener) => control.onChange(listener),
        endSession: (id, until) => control.endSession(id, until),
        isEnded: (id) => control.isEnded(id),
        audited: (limit) => control.audited(limit),
      },
    }),
    ...(feed !== undefined && {
      webhooks: {
        list: () => control.endpoints.list(),
        add: (endpoint) => feed.add(endpoint),
        enable: (id, options) => feed.enable(id, options),
        disable: (id) => feed.disable(id),
        test: (id) => feed.test(id),
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
  webhooks: { enabled: _enabled, concurrency: _concurrency, eventConcurrency: _event, ...delivery },
}: Config): WebhookHandlerOptions {
  return defined<WebhookHandlerOptions>(delivery)
}
