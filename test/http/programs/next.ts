/** What a server of Next does with a route handler: one function for each method that its module exports, called with a Request of the web. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'

type RouteHandler = (request: Request, context: { readonly params: Promise<{ readonly path: readonly string[] }> }) => Promise<Response>

const [, , module] = process.argv as [string, string, string]
const route = (await import(module)) as Readonly<Record<string, RouteHandler>>

createServer(
  getRequestListener((request) => {
    const [app, ...path] = new URL(request.url).pathname.split('/').slice(1)
    if (app !== 'queue') return new Response('an app')
    const handler = route[request.method]
    return handler === undefined ? new Response(null, { status: 405 }) : handler(request, { params: Promise.resolve({ path }) })
  }),
).listen(8080, '127.0.0.1')
