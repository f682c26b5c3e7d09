/** The document, for programs and for people. */
import { z } from '@hono/zod-openapi'
import { constant } from '../constant.ts'
import type { OpenApiDocument } from '../document.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { htmlHeaders } from '../page/html.ts'
import { pageOf } from '../page/page.ts'
import { startPage } from '../page/start.ts'

/** @param document of all operations, these included, so it is requested only when they are called */
export function docsRoutes(document: () => OpenApiDocument, { basePath, dashboard }: Service['settings']): readonly Operation[] {
  let page: Page | undefined
  const answer = constant('application/json', () => JSON.stringify(document()))
  return [
    // The dashboard has a page of its own there.
    ...(dashboard === undefined ? [startRoute(basePath)] : []),

    operation({
      id: 'document',
      method: 'get',
      path: '/openapi.json',
      tag: 'docs',
      summary: 'This document',
      responses: { 200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.string() }) } },
      handle: ({ request }) => answer(request),
    }),

    operation({
      id: 'docs',
      method: 'get',
      path: '/docs',
      tag: 'docs',
      summary: 'This document, for people',
      responses: { 200: { description: 'A page without scripts', type: 'text/html' } },
      handle() {
        page ??= encoded(pageOf(document()))
        return html(page)
      },
    }),
  ]
}

function startRoute(basePath: string): Operation {
  let start: Page | undefined
  return operation({
    id: 'start',
    method: 'get',
    path: '/',
    tag: 'docs',
    summary: 'Links to what is here, for people',
    responses: { 200: { description: 'A page without scripts', type: 'text/html' } },
    handle() {
      start ??= encoded(startPage(basePath))
      return html(start)
    },
  })
}

/** A page, and the hash of its style. */
interface Page {
  readonly body: Uint8Array<ArrayBuffer>
  readonly style: string
}

const encoded = ({ html, style }: ReturnType<typeof pageOf>): Page => ({ body: new TextEncoder().encode(html), style })

function html({ body, style }: Page): Response {
  return new Response(body, { headers: htmlHeaders(style) })
}
