/** The HTTP API of an engine, as a function from requests to responses. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Engine } from '@millrace/client'
import { Access } from './access/access.ts'
import { type Surroundings, SYSTEM } from './clock.ts'
import { Cursors } from './cursors.ts'
import { describe } from './document.ts'
import { mount } from './mount.ts'
import type { Operation, Service } from './operation.ts'
import { type HttpOptions, validateHttpOptions } from './options.ts'
import { problemOf, reporter } from './problem.ts'
import { jobRoutes } from './routes/jobs.ts'
import { manyRoutes } from './routes/many.ts'

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = ReturnType<typeof describe>

export interface HttpApi {
  /**
   * Answers a request; never rejects. `env` says where it came from: what @hono/node-server gives, or `{ remoteAddress }`.
   */
  fetch(request: Request, env?: unknown): Promise<Response>
  /** What the API takes and answers. */
  document(): OpenApiDocument
}

/** @throws OptionTypeError, OptionRangeError; without `token` or `authenticate`, unless `open: true` says that this is meant */
export function createHttp(engine: Engine, options: HttpOptions): HttpApi {
  return buildHttp(engine, options, SYSTEM).api
}

/** The same with a clock of its own, and with the operations that it is made of: for tests. */
export function buildHttp(engine: Engine, options: HttpOptions, { clock, newId, newSecret }: Surroundings) {
  const settings = validateHttpOptions(options)
  const service: Service = { engine, settings, clock, cursors: new Cursors(settings.cursorSecret ?? newSecret(32)) }
  const operations: readonly Operation[] = [...jobRoutes(service), ...manyRoutes(service)]
  const app = new OpenAPIHono()
  const report = reporter(settings.logger, newId)
  mount(app, operations, { service, access: new Access(settings, clock), refuse: (error) => problemOf(error, report), report })
  let described: OpenApiDocument | undefined
  const document = () => {
    described ??= describe(app, operations, { basePath: settings.basePath, open: settings.authenticate === undefined })
    return described
  }
  const api: HttpApi = { fetch: async (request, env) => app.fetch(request, (env ?? {}) as object), document }
  return { api, operations }
}
