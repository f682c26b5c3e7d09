/** Mounts the HTTP API in an app of Fastify. */
import type { Engine } from '@millrace/client'
import type { HttpOptions } from '@millrace/http'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Mounts the API at its `basePath`, below the prefix of the app. It is loaded only here: an app without it pays nothing. */
export async function mountHttp(app: FastifyInstance, engine: Engine, options: HttpOptions): Promise<void> {
  const [{ createHttp }, { getRequestListener }] = await Promise.all([import('@millrace/http'), import('@hono/node-server')])
  const { basePath = '/' } = options
  const path = basePath.replace(/\/$/, '')
  const api = createHttp(engine, { ...options, basePath: `${app.prefix}${basePath}` })
  const streams = new Set<FastifyReply['raw']>()
  const listener = getRequestListener(async (request, env) => {
    const response = await api.fetch(request, env)
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const outgoing = env.outgoing as FastifyReply['raw']
      streams.add(outgoing)
      outgoing.once('close', () => streams.delete(outgoing))
    }
    return response
  })
  app.register(async (routes) => {
    // The API reads bodies itself, and limits them.
    routes.removeAllContentTypeParsers()
    routes.addContentTypeParser('*', (_request, _body, done) => done(null))
    // At the root of the app, `/` may be the app's own.
    for (const url of `${app.prefix}${path}` === '' ? ['/*'] : [path, `${path}/*`]) {
      routes.all(url, (request, reply) => {
        reply.hijack()
        void listener(request.raw, reply.raw)
      })
    }
  })
  // Streams of events end with the engine, which ends after the server, which waits for all responses.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy()
  })
}
