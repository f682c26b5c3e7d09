/**
 * Serves the dashboard: its page at the path of each screen, and the files that the page loads. None of them needs a token, because
 * nothing of the queue is in them.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { SECURITY_HEADERS } from '../answer.ts'
import { routerPath } from '../route.ts'
import { codingOf } from './coding.ts'
import { BASE_PATH_MARKER, type DashboardFile, type DashboardSettings } from './options.ts'

/** The paths of the screens. Which of them to show is decided in the browser. */
export const SCREENS = [
  '/',
  '/jobs',
  '/jobs/{id}',
  '/errors',
  '/queues',
  '/queues/{name}',
  '/flows',
  '/flows/{id}',
  '/schedules',
  '/workers',
  '/events',
  '/webhooks',
  '/settings',
  '/login',
] as const

const encoder = new TextEncoder()

const YEAR_S = 31_536_000

/** The answers of one file, by the headers of the request. */
type Answer = (headers: Headers) => Response

/** Returns what answers with the page. */
export function mountDashboard(app: OpenAPIHono, { page, assets, frameAncestors }: DashboardSettings, basePath: string): () => Response {
  const html = encoder.encode(page.replaceAll(BASE_PATH_MARKER, () => basePath))
  const headers = pageHeaders(frameAncestors, html.byteLength)
  const answerPage = () => new Response(html, { headers })
  // Without the slash at its end, too: that is what people type.
  if (basePath !== '') app.get(basePath, answerPage)
  for (const path of SCREENS) app.get(routerPath(basePath, path), answerPage)
  for (const [path, file] of assets) {
    const answer = answerOf(file)
    app.get(`${basePath}${path}`, (c) => answer(c.req.raw.headers))
  }
  return answerPage
}

/** Returns headers that let the page load its own files and call its own origin, and nothing else. */
function pageHeaders(frameAncestors: readonly string[], bytes: number): Record<string, string> {
  const { 'x-frame-options': deny, ...others } = SECURITY_HEADERS
  return {
    ...others,
    // Browsers that know frame-ancestors ignore it, and it cannot name other origins.
    ...(frameAncestors.length === 0 && { 'x-frame-options': deny }),
    'content-type': 'text/html; charset=utf-8',
    'content-length': `${bytes}`,
    'content-security-policy': policyOf(frameAncestors),
    'cross-origin-opener-policy': 'same-origin',
  }
}

function policyOf(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function answerOf(file: DashboardFile): Answer {
  return (asked) => {
    const coding = codingOf(asked.get('accept-encoding'), file)
    // Each coding is another representation, so each has a tag of its own.
    const etag = coding === undefined ? file.etag : file.etag.replace(/"$/, `-${coding}"`)
    const headers = {
      ...SECURITY_HEADERS,
      'cache-control': file.immutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
      etag,
      vary: 'accept-encoding',
    }
    if (isKnown(asked.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
    const body = (coding === undefined ? file.body : file[coding]) as Uint8Array<ArrayBuffer>
    return new Response(body, {
      headers: {
        ...headers,
        'content-type': file.type,
        'content-length': `${body.byteLength}`,
        ...(coding !== undefined && { 'content-encoding': coding }),
      },
    })
  }
}

/** True if the client has the representation with this tag. */
function isKnown(known: string | null, etag: string): boolean {
  if (known === null) return false
  return known.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
