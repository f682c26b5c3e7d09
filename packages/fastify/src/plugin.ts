/** The plugin: an engine that opens with an app of Fastify, and stops after its server. */
import { Engine } from '@millrace/client'
import { type Duration, describe, type OpenOptions, type OpenPostgresOptions, OptionTypeError, validateStopOptions } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import type { HttpOptions } from '@millrace/http'
import type { FastifyInstance, RegisterOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { mountHttp } from './mountHttp.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The engine that the plugin `millrace` has opened. */
    readonly millrace: Engine
  }
}

/** The options of the plugin that are about the app. */
export interface MillraceAppOptions {
  /** Mounts the HTTP API, with these options of `createHttp`, at its `basePath`. Default none: it is not mounted. */
  readonly http?: HttpOptions
  /** How long running jobs may take to finish when the app closes: 0 to 100 years, or Infinity; default 30 s. */
  readonly shutdownTimeout?: Duration
}

/** The options of the plugin: those of `openEngine`, or an engine that is open; and those about the app. */
export type MillracePluginOptions = (OpenOptions | OpenPostgresOptions | { readonly engine: Engine }) & MillraceAppOptions

async function register(app: FastifyInstance, options: MillracePluginOptions): Promise<void> {
  const { http, shutdownTimeout, ...opening } = options as MillraceAppOptions & object
  const stop = shutdownTimeout === undefined ? {} : { timeout: shutdownTimeout }
  validateStopOptions(stop)
  if (app.hasDecorator('millrace')) {
    const message = 'this app has an engine already: to have several, register each within a plugin of its own'
    throw new OptionTypeError('millrace', message)
  }
  if ('prefix' in opening) {
    const message = 'prefix does not apply to this plugin, which decorates the app that it is registered on: give http.basePath'
    throw new OptionTypeError('prefix', message)
  }
  const engine = 'engine' in opening ? engineOption(opening.engine) : await openEngine(withoutThoseOfFastify(opening) as OpenOptions)
  app.decorate('millrace', engine)
  app.addHook('onClose', () => engine.stop(stop))
  if (http !== undefined) await mountHttp(app, engine, http)
}

/** Removes the options of `app.register` that are for Fastify itself. */
function withoutThoseOfFastify({ logLevel: _level, logSerializers: _serializers, ...options }: object & RegisterOptions): object {
  return options
}

function engineOption(value: unknown): Engine {
  if (value instanceof Engine) return value
  throw new OptionTypeError('engine', `engine must be the result of openEngine or connect, got ${describe(value)}`)
}

/**
 * Opens an engine with the app, as `app.millrace`, and stops it when the app closes: after the server, and before the plugins that
 * were registered earlier.
 *
 * @example
 * ```ts
 * await app.register(millrace, { file: 'jobs.db' })
 * app.millrace.work(sendMail.handler(({ data }) => deliver(data.to)))
 * app.post('/mails', ({ body }) => app.millrace.enqueue(sendMail, body))
 * ```
 * @throws OptionTypeError, OptionRangeError, and what `openEngine` throws
 */
export const millrace: (app: FastifyInstance, options: MillracePluginOptions) => Promise<void> = fastifyPlugin(register, {
  fastify: '5.x',
  name: '@millrace/fastify',
})
