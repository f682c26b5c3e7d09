/** Finds the operation that answers a request. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Operation } from './operation.ts'

/** Returns an operation's path as the router has it. */
export function routerPath(basePath: string, { path }: Operation): string {
  return `${basePath}${path.replaceAll(/\{(.+?)\}/g, ':$1')}`
}

/** Returns a function that finds the documented path for a request, with `basePath` before it, or undefined if nothing answers. */
export function routeFinder(app: OpenAPIHono, operations: readonly Operation[], basePath: string) {
  const routes = new Map(operations.map((each) => [routerPath(basePath, each), `${basePath}${each.path}`]))
  return (request: Request): string | undefined => {
    // A HEAD is answered like a GET.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const [[found]] = app.router.match(method, app.getPath(request))
    return found === undefined ? undefined : routes.get(found[0][1].path)
  }
}
