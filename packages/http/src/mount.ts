/** Mounts operations on a router: admits the caller, reads the request, answers it, and audits the call. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { boundedTarget, ForbiddenError, reservedKey, type Scope } from '@millrace/core'
import type { Context } from 'hono'
import type { Admitted } from './access/access.ts'
import type { Caller } from './access/caller.ts'
import { outcomeOf } from './audit.ts'
import { compressed } from './compress.ts'
import { HttpError } from './errors.ts'
import { type Call, mayBringBody, type Operation, type Service } from './operation.ts'
import { readJson, refuseEncoding } from './requests/body.ts'
import { check, readQuery, refuseBody } from './requests/check.ts'
import { routerPath } from './route.ts'

export interface Mounting {
  readonly service: Service
  /** Returns the answer to an error that was thrown. */
  readonly refuse: (error: unknown) => Response
  /** Logs an error that must not be shown, and returns its id. */
  readonly report: (error: unknown) => string
  /** Returns the page of an address where nothing is; undefined if JSON is wanted there. */
  readonly nowherePage: (request: Request) => Response | undefined
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export function mount(app: OpenAPIHono, operations: readonly Operation[], mounting: Mounting): void {
  const { basePath } = mounting.service.settings
  for (const each of operations) {
    app.on([each.method.toUpperCase()], [routerPath(basePath, each.path)], (c) => serve(each, c, mounting))
  }
  app.notFound((c) => mounting.nowherePage(c.req.raw) ?? mounting.refuse(nowhere(app, c, basePath)))
  app.onError((error) => mounting.refuse(error))
}

async function serve(each: Operation, c: Context, mounting: Mounting): Promise<Response> {
  const { service, refuse } = mounting
  if (each.scope === undefined) return compressed(each, c.req.raw, await answered(each, c, mounting, undefined).catch(refuse))
  let admitted: Admitted
  try {
    const entering = service.access.enter(c.req.raw, c.env)
    admitted = entering instanceof Promise ? await entering : entering
  } catch (error) {
    return refuse(error)
  }
  const response = await answeredTo(admitted.caller, each, c, mounting)
  if (admitted.renewal !== undefined) response.headers.append('set-cookie', admitted.renewal)
  return compressed(each, c.req.raw, response)
}

/** The scopes whose calls are in the audit: they act on the jobs of others. */
const AUDITED: ReadonlySet<unknown> = new Set<Scope>(['admin', 'send'])

async function answeredTo(caller: Caller, each: Operation, c: Context, mounting: Mounting): Promise<Response> {
  const { service, refuse } = mounting
  if (AUDITED.has(each.scope) && service.settings.audit !== undefined) return audited(each, c, mounting, caller)
  try {
    if (each.scope !== undefined) service.access.demand(caller, each.scope)
    return await answered(each, c, mounting, caller)
  } catch (error) {
    return refuse(error)
  }
}

async function audited(each: Operation, c: Context, mounting: Mounting, caller: Caller): Promise<Response> {
  const { service, refuse, report } = mounting
  const at = new Date(service.clock.read().wall)
  let target: Readonly<Record<string, unknown>> = c.req.param()
  let response: Response
  try {
    if (each.scope !== undefined) service.access.demand(caller, each.scope)
    const call = await read(each, c, mounting, caller)
    target = { ...target, ...each.target?.(call.body) }
    if (each.method !== 'get') service.settings.assertAuditable?.()
    response = await each.handle(call)
  } catch (error) {
    response = refuse(error)
  }
  const { status } = response
  // The audit is of changes. A page that looks at it must not fill it.
  if (each.method === 'get' && status < 400) return response
  const entry = { at, who: caller.name, operation: each.id, target: boundedTarget(target), outcome: outcomeOf(status), status }
  try {
    await service.settings.audit?.(entry)
  } catch (error) {
    // The change has happened. To answer that it has not would be worse than a gap in the audit trail, which the log shows.
    report(error)
  }
  return response
}

async function answered(each: Operation, c: Context, mounting: Mounting, caller: Caller | undefined): Promise<Response> {
  return each.handle(await read(each, c, mounting, caller))
}

const NOBODY: Caller = { name: 'nobody', scopes: [] }

async function read(each: Operation, c: Context, { service }: Mounting, caller: Caller = NOBODY): Promise<Call> {
  const { raw: request } = c.req
  const { env } = c
  const params = each.params === undefined ? undefined : check(each.params, c.req.param(), 'path')
  const given = each.query === undefined && !request.url.includes('?') ? undefined : readQuery(request.url)
  if (each.query === undefined && given !== undefined) refuseQuery(given)
  const query = each.query === undefined ? undefined : check(each.query, given, 'query')
  if (each.headers !== undefined) checkHeaders(each, request)
  const body = mayBringBody(each) ? await bodyOf(each, request, service) : undefined
  // Keys of messages are separate for each job, and nobody can take one first.
  if (each.scope !== 'send' && !caller.scopes.includes('admin')) refuseReserved(request, body)
  const stillMay = async () => each.scope === undefined || service.access.still(request, each.scope)
  return { params, query, body, request, caller, env, stillMay }
}

async function bodyOf(each: Operation, request: Request, service: Service): Promise<unknown> {
  refuseEncoding(request)
  if (each.stream !== undefined) return undefined
  const json = await readJson(request, service, each.bodyBytes)
  if (each.body === undefined) return refuseBody(json)
  return check(each.body, json === undefined && each.bodyOptional ? {} : json, 'body')
}

interface Keyed {
  readonly options?: { readonly idempotencyKey?: string } | undefined
}

/** Refuses keys of Millrace itself: in the header, and of the job, the jobs or the flow in the body. @throws ForbiddenError */
function refuseReserved({ headers }: Request, body: unknown): void {
  const bodies = (Array.isArray(body) ? body : [body]) as readonly (Keyed | undefined)[]
  for (const key of [headers.get('idempotency-key'), ...bodies.map((each) => each?.options?.idempotencyKey)]) {
    const reason = reservedKey(key)
    if (reason !== undefined) throw new ForbiddenError(reason)
  }
}

function refuseQuery(given: Readonly<Record<string, string>>): void {
  const [key] = Object.keys(given)
  if (key !== undefined)
    throw new HttpError('VALIDATION', `query.${key} is unknown: this operation takes no query`, { option: `query.${key}` })
}

function checkHeaders({ headers }: Operation, request: Request): void {
  const key = request.headers.get('idempotency-key')
  if (headers !== undefined && key !== null) check(headers, { 'idempotency-key': key }, 'header')
}

/** Returns the error for an unknown path, or for a known path with another method. */
function nowhere(app: OpenAPIHono, c: Context, basePath: string): HttpError {
  const { method, path } = c.req
  const methodsAt = (at: string) => METHODS.filter((other) => app.router.match(other, at)[0].length > 0)
  const allowed = methodsAt(path)
  if (allowed.length === 0) {
    // `app.mount` of Hono and `app.use` of Express strip the path like this.
    const stripped = basePath !== '' && methodsAt(`${basePath}${path}`).length > 0
    const hint = stripped
      ? `: the API has the basePath ${basePath}, and the path came without it. Route whole paths: app.all('${basePath}/*', ...) instead of app.mount; or leave basePath out`
      : ''
    return new HttpError('NOT_FOUND', `there is nothing at ${path.slice(0, 200)}${hint}`)
  }
  const allow = allowed.flatMap((other) => (other === 'GET' ? ['GET', 'HEAD'] : [other])).join(', ')
  return new HttpError('METHOD_NOT_ALLOWED', `${path.slice(0, 200)} takes ${allow}, not ${method}`, {}, { allow })
}
