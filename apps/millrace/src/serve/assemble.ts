/**
 * What is served, put together in one place: the answers of HTTP, the handlers of the daemon's own worker, and what else runs as long as
 * the daemon does.
 */
import type { Engine } from '@millrace/client'
import type { Logger } from '@millrace/core'
import type { Handler } from '@millrace/worker'
import { Hono } from 'hono'
import { ConfigError } from '../config/errors.ts'
import type { Config } from '../config/schema/schema.ts'
import type { Control } from '../control/control.ts'
import type { Caller } from '../control/tokens.ts'
import { loadHandlers } from './handlers.ts'

export interface Parts {
  readonly engine: Engine
  readonly control: Control
  readonly config: Config
  readonly logger: Logger
  /** Relative paths of the configuration are from here. */
  readonly cwd: string
  /** Who a token is; undefined for nobody. */
  readonly authenticate: (token: string) => Caller | undefined
  /** Whether the daemon takes work: from its start to the first signal. */
  readonly ready: () => boolean
  /** Ends the daemon as a signal does. */
  readonly stop: () => void
}

export interface Assembled {
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>
  /** Whether the body of a request may take as long as it comes: an import. */
  readonly longRequest: (path: string) => boolean
  /** Whether an answer has no end: a stream of events. */
  readonly longAnswer: (path: string) => boolean
  readonly handlers: readonly Handler[]
  /** Called when all else is there. */
  readonly start: () => void | Promise<void>
  /** Before workers stop. */
  readonly close: () => void | Promise<void>
}

/** @throws ConfigError */
export async function assemble({ engine, config, cwd, ready }: Parts): Promise<Assembled> {
  refuseUnserved(config)
  const app = new Hono()
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const answers = await engine.stats().then(
      () => true,
      () => false,
    )
    return ready() && answers ? c.json({ status: 'ready' }) : c.json({ status: 'unavailable' }, 503)
  })
  return {
    fetch: app.fetch,
    longRequest: (path) => path === '/v1/jobs:import',
    longAnswer: (path) => path === '/v1/events',
    handlers: await loadHandlers(config.worker.handlers, cwd),
    start: () => {},
    close: () => {},
  }
}

/** What is configured is served, or the daemon does not start. */
function refuseUnserved({ exec, webhooks }: Config): void {
  if (Object.keys(exec).length > 0) throw new ConfigError(["'exec': this version of the daemon runs no commands"])
  if (webhooks.enabled) throw new ConfigError(["'webhooks.enabled': this version of the daemon delivers no webhooks"])
}
