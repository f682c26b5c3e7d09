/** The lines of `log.level` debug: one for each HTTP request. */
import type { Logger } from '@millrace/core'
import type { Config } from '../config/schema/schema.ts'
import { elapsed } from './clock.ts'

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>
type RouteOf = (request: Request) => string | undefined

/** Returns a `fetch` that logs each request when its response begins. A path may have a token in it, so its route stands in its place. */
export function loggedFetch(fetch: Fetch, routeOf: RouteOf, level: Config['log']['level'], logger: Logger): Fetch {
  if (level !== 'debug' && level !== 'trace') return fetch
  return async (request, env) => {
    const ms = elapsed()
    const response = await fetch(request, env)
    logger.debug('HTTP request', { method: request.method, route: routeOf(request) ?? 'unknown', status: response.status, ms: ms() })
    return response
  }
}
