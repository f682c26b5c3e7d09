/** Answers browsers at addresses where nothing is with a page. Programs get a problem in JSON. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { SECURITY_HEADERS } from '../answer.ts'
import { weightsOf } from '../dashboard/coding.ts'
import { htmlHeaders } from './html.ts'
import { startPage } from './start.ts'

interface Surroundings {
  readonly app: OpenAPIHono
  readonly basePath: string
  /** Returns the page of the dashboard, which says itself that it has no such screen; undefined without a dashboard. */
  readonly dashboard: (() => Response) | undefined
}

/** Returns a function that answers a browser. It returns undefined for programs, and below `/v1`, which is for them. */
export function nowhereFor({ app, basePath, dashboard }: Surroundings): (request: Request) => Response | undefined {
  return (request) => {
    const { pathname, search } = new URL(request.url)
    const takesPages = (weightsOf(request.headers.get('accept') ?? '').get('text/html') ?? 0) > 0
    if (!['GET', 'HEAD'].includes(request.method) || !takesPages || pathname.startsWith(`${basePath}/v1/`)) return undefined
    const isWithin = basePath === '' || pathname === basePath || pathname.startsWith(`${basePath}/`)
    const short = pathname.replace(/\/+$/, '')
    // Two slashes at the beginning of a location would be another host.
    if (isWithin && short !== pathname && /^\/[^/\\]/.test(short) && app.router.match('GET', short)[0].length > 0)
      return new Response(null, { status: 308, headers: { ...SECURITY_HEADERS, location: `${short}${search}` } })
    if (dashboard !== undefined && isWithin) return withStatus(dashboard(), 404)
    const { html, style } = startPage(basePath, true)
    return new Response(html, { status: 404, headers: htmlHeaders(style) })
  }
}

function withStatus({ body, headers }: Response, status: number): Response {
  return new Response(body, { status, headers })
}
