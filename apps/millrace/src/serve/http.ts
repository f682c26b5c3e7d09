/** Serves a fetch function over HTTP: Node's server with the limits of the configuration, on loopback unless configured otherwise. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Logger } from '@millrace/core'
import { AddressInUseError, InsecureBindError } from '@millrace/remote'
import type { Config } from '../config/schema/schema.ts'
import type { Assembled } from './assemble.ts'
import { after, every, soon } from './clock.ts'
import { Places } from './places.ts'
import { whole } from './whole.ts'

export interface HttpServer {
  readonly url: string
  /** Shows another certificate to clients that connect from now on. Does nothing without TLS. */
  useCertificate(tls: NonNullable<HttpParts['tls']>): void
  /** Stops taking requests, and resolves when those that arrived are answered. */
  close(): Promise<void>
}

export interface HttpParts extends Pick<Assembled, 'fetch' | 'health' | 'anonymousBody' | 'longRequest' | 'longAnswer'> {
  readonly options: Config['http']
  /** The key and the certificate in PEM. If set, the server speaks HTTPS. */
  readonly tls: { readonly key: string; readonly cert: string } | undefined
  readonly logger: Logger
}

const MIN_VERSION = 'TLSv1.2'
/** The maximum interval at which Node looks for connections that are past their time. */
const LOOK_MS = 5_000
/** The interval at which clients that read nothing are noticed. */
const TICK_MS = 1_000
/** The time that requests in progress may take when the server closes. */
const CLOSE_MS = 5_000

/** @throws InsecureBindError, AddressInUseError */
export async function startHttp({ options, tls, logger, ...parts }: HttpParts): Promise<HttpServer> {
  const { fetch, health, anonymousBody, longRequest, longAnswer } = parts
  const { host, port, headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderBytes, maxConnections, trustProxy } = options
  checkSafe(options, tls)
  const limits = {
    headersTimeout,
    // `whole` applies it to each request, because imports take longer.
    requestTimeout: 0,
    keepAliveTimeout,
    connectionsCheckingInterval: Math.min(LOOK_MS, headersTimeout),
    maxHeaderSize: maxHeaderBytes,
  }
  const places = new Places(maxConnections, logger)
  const answer: typeof fetch = async (request, env) => {
    const { incoming } = env as { readonly incoming: IncomingMessage }
    if (places.isKept(incoming.socket) && !health(pathOf(incoming))) return taken(maxConnections)
    if (request.method !== 'GET' && request.method !== 'HEAD' && anonymousBody(request)) places.anonymous(incoming)
    const forwarded = trustProxy ? { remoteAddress: forwardedFor(request, incoming) } : {}
    // The places count unread answers, so the API does not.
    const response = await fetch(request, { ...(env as object), countsUnread: true, ...forwarded })
    soon(() => places.written(incoming.socket))
    return response
  }
  const server = createAdaptorServer({
    // The host of HTTP/1.0 requests, which need no Host header: some load balancers send such health checks.
    hostname: 'localhost',
    fetch: answer,
    ...(tls === undefined
      ? { createServer, serverOptions: limits }
      : {
          createServer: createTlsServer,
          // Until the handshake is done, there is no request that could be late.
          serverOptions: { ...limits, ...tls, handshakeTimeout: headersTimeout, minVersion: MIN_VERSION },
        }),
  }) as Server
  server.on('connection', (socket: Socket) => places.take(socket))
  const streams = new Set<ServerResponse>()
  const [answerTo] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // Node parses the rest of a packet also when its connection was closed for its first requests: they cost no more than that.
    if (request.socket.destroyed) return
    const path = pathOf(request)
    places.begin(request, response)
    if (longAnswer(path)) {
      streams.add(response)
      response.once('close', () => streams.delete(response))
    }
    whole(request, response, { ms: requestTimeout, endless: longRequest(path) })
    answerTo(request, response)
  })
  await listening(server, host, port)
  server.once(
    'close',
    every(TICK_MS, () => places.tick()),
  )
  server.on('error', (error) => logger.error('the HTTP server reported an error', { error: error.message }))
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    useCertificate: (next) => {
      if (tls !== undefined) (server as unknown as TlsServer).setSecureContext({ ...next, minVersion: MIN_VERSION })
    },
    close: () => close(server, streams),
  }
}

function checkSafe({ host, allowInsecure }: Config['http'], tls: HttpParts['tls']): void {
  if (allowInsecure || tls !== undefined || host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)) return
  throw new InsecureBindError(
    `others can reach http.host ${host}: set tls.key and tls.cert, or http.allowInsecure if a proxy or a container is in between`,
  )
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new AddressInUseError(`another server listens at ${host}:${port}: stop it first, or choose another http.port`, { cause: error })
          : error,
      )
    server.once('error', failed)
    server.listen(port, host, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

async function close(server: Server, streams: ReadonlySet<ServerResponse>): Promise<void> {
  // Idle connections end now, and the others after their response.
  server.keepAliveTimeout = 1
  server.keepAliveTimeoutBuffer = 0
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // A stream of events has no end: its reader resumes elsewhere after the last event that it has seen.
  for (const response of streams) response.destroy()
  const late = after(CLOSE_MS, () => server.closeAllConnections())
  await closed
  late()
}

/** Returns the response to all requests but health checks if all connections are taken. */
function taken(maxConnections: number): Response {
  const type = 'urn:millrace:problem:busy'
  const detail = `all ${maxConnections} connections are being answered (http.maxConnections): try again`
  const body = { type, title: 'Service Unavailable', status: 503, code: 'BUSY', detail, retryable: true }
  return new Response(JSON.stringify(body), { status: 503, headers: { 'content-type': 'application/problem+json', 'retry-after': '1' } })
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string
}

/** Returns the address that the last proxy reports, else that of the socket. */
function forwardedFor(
  request: Request,
  incoming: { readonly socket: { readonly remoteAddress?: string | undefined } },
): string | undefined {
  return request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() || incoming.socket.remoteAddress
}
