/** Builds the OpenAPI 3.1 document from the operations. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { mayBringBody, type Operation } from './operation.ts'
import { TITLES } from './problem.ts'
import { PROBLEM } from './schemas/job.ts'

const ABOUT = `Jobs, queues, schedules, workers and events of a Millrace engine.

Times are ISO 8601. Durations are milliseconds, a text as \`5m\`, or \`{ "minutes": 5 }\`. Errors are \`application/problem+json\` with a
stable \`code\`; 429, 503 and 507 say in \`Retry-After\` when to come back. A token goes into \`Authorization: Bearer\`, and has some of the
scopes \`enqueue\`, \`read\`, \`send\` and \`admin\`.`

type Definitions = OpenAPIHono['openAPIRegistry']
type RouteConfig = Parameters<Definitions['registerPath']>[0]
type Responses = RouteConfig['responses']

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>

export function describe(
  app: OpenAPIHono,
  operations: readonly Operation[],
  { basePath, open }: { basePath: string; open: boolean },
): OpenApiDocument {
  const { openAPIRegistry: definitions } = app
  const security = definitions.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  for (const each of operations) definitions.registerPath(configOf(each, open ? undefined : security.name))
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Millrace', version: '1', description: ABOUT, license: { name: 'MIT', url: 'https://opensource.org/license/mit' } },
    servers: [{ url: basePath === '' ? '/' : basePath }],
  })
}

function configOf(each: Operation, security: string | undefined): RouteConfig {
  const { id, method, path, tag, summary, description, scope, params, query, headers, body, bodyOptional, stream } = each
  const content =
    stream !== undefined
      ? Object.fromEntries(stream.map((type) => [type, { schema: z.string() }]))
      : body !== undefined
        ? { 'application/json': { schema: body } }
        : undefined
  return {
    operationId: id,
    method,
    path,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(scope !== undefined && { 'x-scope': scope }),
    security: scope === undefined || security === undefined ? [] : [{ [security]: [] }],
    request: {
      ...(params !== undefined && { params }),
      ...(query !== undefined && { query }),
      ...(headers !== undefined && { headers }),
      ...(content !== undefined && { body: { content, required: bodyOptional !== true } }),
    },
    responses: { ...answers(each), ...refusals(each) },
  } as unknown as RouteConfig
}

function answers({ responses }: Operation): Responses {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, schema, type = 'application/json' }]) => [
      status,
      {
        description,
        ...((schema !== undefined || type !== 'application/json') && {
          content: Object.fromEntries([type].flat().map((each) => [each, { schema: schema ?? z.string() }])),
        }),
      },
    ]),
  ) as Responses
}

function refusals(each: Operation): Responses {
  const { scope, refusals: own = [] } = each
  const statuses = new Set<number>([...own, 400, 500])
  if (mayBringBody(each)) for (const status of [408, 413, 415]) statuses.add(status)
  if (scope !== undefined) for (const status of [401, 403, 429, 503]) statuses.add(status)
  if (scope === 'enqueue' || scope === 'admin') statuses.add(507)
  const content = { 'application/problem+json': { schema: PROBLEM } }
  return Object.fromEntries(
    [...statuses].toSorted((a, b) => a - b).map((status) => [status, { description: TITLES[status] as string, content }]),
  ) as Responses
}
