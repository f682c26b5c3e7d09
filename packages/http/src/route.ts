/** Finds the documented path that answers a request. */
import type { OpenAPIHono } from '@hono/zod-openapi'

/** Returns a documented path as the router has it. */
export function routerPath(basePath: string, path: string): string {
  return `${basePath}${path.replaceAll(/\{(.+?)\}/g, ':$1')}`
}

/** Returns a function that finds the documented path for a request, with `basePath` before it, or undefined if nothing answers. */
export function routeFinder(app: OpenAPIHono, paths: readonly string[], basePath: string) {
  const routes = new Map(paths.map((path) => [routerPath(basePath, path), `${basePath}${path}`]))
  return (request: Request): string | undefined => {
    // A HEAD is answered like a GET.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const [[found]] = app.router.match(method, app.getPath(request))
    return found === undefined ? undefined : routes.get(found[0][1].path)
  }
}
