/** The HTTP API of an engine, as a function from requests to responses. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '@millrace/client'
import { Access } from './access/access.ts'
import { type Surroundings, SYSTEM } from './clock.ts'
import { Cursors } from './cursors.ts'
import { mountDashboard, SCREENS } from './dashboard/serve.ts'
import { describe, type OpenApiDocument } from './document.ts'
import { letGo } from './letGo.ts'
import { mount } from './mount.ts'
import type { Operation, Service } from './operation.ts'
import { type HttpOptions, validateHttpOptions } from './options.ts'
import { nowhereFor } from './page/nowhere.ts'
import { problemOf, reporter } from './problem.ts'
import { Redaction } from './redaction.ts'
import { routeFinder } from './route.ts'
import { docsRoutes } from './routes/docs.ts'
import { engineRoutes } from './routes/engine.ts'
import { eventRoutes } from './routes/events.ts'
import { flowRoutes } from './routes/flows.ts'
import { healthRoutes } from './routes/health.ts'
import { importRoutes } from './routes/import.ts'
import { infoRoutes } from './routes/info.ts'
import { jobRoutes } from './routes/jobs.ts'
import { keyedRoutes } from './routes/keyed.ts'
import { manyRoutes } from './routes/many.ts'
import { messageRoutes } from './routes/messages.ts'
import { observeRoutes } from './routes/observe.ts'
import { payloadRoutes } from './routes/payloads.ts'
import { queueRoutes } from './routes/queues.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { sessionRoutes } from './routes/session.ts'
import { socketRoutes } from './routes/sockets.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { endedIn, Sessions } from './session/sessions.ts'
import { Turns } from './turns.ts'
import { UnreadAnswers } from './unreadAnswers.ts'

/** The API: a function of requests, for any server. */
export interface HttpApi {
  /**
   * Answers a request; never rejects. `env` says where it came from: as @hono/node-server gives it, or `{ remoteAddress }`.
   */
  fetch(request: Request, env?: unknown): Promise<Response>
  /** Returns the OpenAPI document of the API. */
  document(): OpenApiDocument
  /**
   * Returns the documented path that answers a request, with `basePath` before it: `/v1/jobs/{id}`. Undefined for files that the
   * dashboard loads, and if nothing answers.
   */
  routeOf(request: Request): string | undefined
}

/**
 * Creates the HTTP API of an engine. Its `fetch` fits into any server or framework.
 *
 * @example
 * ```ts
 * const api = createHttp(engine, { token: process.env.QUEUE_TOKEN })
 * serve({ fetch: api.fetch, port: 7410 }) // @hono/node-server
 * ```
 * @throws OptionTypeError, OptionRangeError; also without `token` and `authenticate`, unless `open: true` confirms that
 */
export function createHttp(engine: Engine, options: HttpOptions): HttpApi {
  return buildHttp(engine, options, SYSTEM).api
}

/** Builds the API with another clock, and also returns its operations: for tests. */
export function buildHttp(engine: Engine, options: HttpOptions, { clock, newId, newSecret }: Surroundings) {
  const settings = validateHttpOptions(options)
  const { basePath, cursorSecret = newSecret(32), sessionSecret = newSecret(32) } = settings
  const ended = endedIn(settings.tokens)
  const now = () => clock.read().wall
  const sessions = new Sessions({ secret: sessionSecret, basePath, now, newBytes: newSecret, ...(ended && { ended }) })
  const service: Service = {
    engine,
    settings,
    clock,
    access: new Access(settings, sessions, clock),
    cursors: new Cursors(cursorSecret),
    redaction: new Redaction(settings.redact),
    startedAt: clock.read(),
  }
  const app = new OpenAPIHono()
  let described: OpenApiDocument | undefined
  const document = () => {
    described ??= describe(app, operations, { basePath, open: settings.authenticate === undefined })
    return described
  }
  const operations: readonly Operation[] = [
    ...jobRoutes(service),
    ...payloadRoutes(service),
    ...keyedRoutes(service),
    ...messageRoutes(service),
    ...manyRoutes(service),
    ...flowRoutes(service),
    ...importRoutes(service),
    ...queueRoutes(service),
    ...scheduleRoutes(service),
    ...infoRoutes(service),
    ...socketRoutes(service),
    ...observeRoutes(service),
    ...eventRoutes(service),
    ...webhookRoutes(service),
    ...tokenRoutes(service),
    ...engineRoutes(service),
    ...sessionRoutes(service),
    ...healthRoutes(service),
    ...docsRoutes(document, settings),
  ]
  const report = reporter(settings.logger, newId)
  const refuse = (error: unknown) => problemOf(error, report)
  mount(app, operations, { service, refuse, report, nowherePage: (request) => nowhere(request) })
  const dashboard = settings.dashboard === undefined ? undefined : mountDashboard(app, settings.dashboard, basePath)
  const nowhere = nowhereFor({ app, basePath, dashboard })
  const paths = [...operations.map(({ path }) => path), ...(settings.dashboard === undefined ? [] : SCREENS)]
  const answer = async (request: Request, env: unknown) => {
    const response = await app.fetch(request, (env ?? {}) as object)
    if (engine.leaving.signal.aborted) letGo(response, env)
    unread.begin(env)
    return response
  }
  const turns = new Turns()
  const unread = new UnreadAnswers(clock)
  const api: HttpApi = {
    fetch: (request, env) => {
      const turn = turns.take(env)
      return turn === undefined ? answer(request, env) : turn.then(() => answer(request, env), refuse)
    },
    document,
    routeOf: routeFinder(app, paths, basePath),
  }
  return { api, operations }
}
