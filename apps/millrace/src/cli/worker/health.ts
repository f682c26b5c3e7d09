/** Reports to probes whether a worker's process lives and takes jobs. Its own server does this, as orchestrators require. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isErrorOf, type Logger } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { Places } from '../../serve/places.ts'
import { pause } from '../clock.ts'

export interface HealthOptions {
  readonly host: string
  /** The port to listen at; 0 for a free one. */
  readonly port: number
  readonly engine: Engine
  readonly draining: () => boolean
  readonly logger: Logger
}

export interface Health {
  readonly url: string
  close(): void
}

/** The time in which the engine must answer. */
const ANSWER_MS = 2_000
/** The time for a request to arrive. Probes are small. */
const REQUEST_MS = 5_000
/** The number of connections. Beyond it, newcomers replace those that have waited longest for a request. */
const CONNECTIONS = 64

/** Serves `/healthz` (the process answers) and `/readyz` (it takes jobs, and its engine answers). @throws AddressInUseError */
export async function serveHealth({ host, port, engine, draining, logger }: HealthOptions): Promise<Health> {
  // An import of all of node:http would load what it has for WebSockets, too: a sixth of the start of each command.
  const { createServer } = process.getBuiltinModule('node:http')
  const places = new Places(CONNECTIONS, logger)
  // Probes that come together ask the engine once.
  let asked: Promise<string | undefined> | undefined
  const ask = () => {
    asked ??= silence(engine).finally(() => {
      asked = undefined
    })
    return asked
  }
  const limits = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: REQUEST_MS / 5 }
  const server = createServer(limits, async (request, response) => {
    places.begin(request, response)
    const [status, body] = await answerTo(request.url ?? '', ask, draining)
    // Each connection has one answer, whatever else its client has sent.
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' }
    response.writeHead(status, headers).end(`${JSON.stringify(body)}\n`)
  })
  server.on('connection', (socket: Socket) => places.take(socket))
  await listening(server, host, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answerTo(
  url: string,
  ask: () => Promise<string | undefined>,
  draining: () => boolean,
): Promise<readonly [status: number, body: object]> {
  const path = url.split('?', 1)[0]
  if (path === '/healthz') return [200, { status: 'ok' }]
  if (path !== '/readyz') return [404, { error: 'there are /healthz and /readyz' }]
  const reason = draining() ? 'it is stopping' : await ask()
  return reason === undefined ? [200, { status: 'ready' }] : [503, { status: 'not ready', reason }]
}

/** Returns why the engine cannot be reached; undefined if it answers. */
async function silence(engine: Engine): Promise<string | undefined> {
  const over = new AbortController()
  const late = pause(ANSWER_MS, over.signal).then(() => 'the engine does not answer')
  const asked = engine.workers().then(
    () => undefined,
    // A token that only allows work may not list workers, but the refusal is an answer.
    (error: unknown) => (isErrorOf(error, 'MillraceError') && error.code === 'FORBIDDEN' ? undefined : (error as Error).message),
  )
  return Promise.race([asked, late]).finally(() => over.abort())
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    const { AddressInUseError } = await import('@millrace/remote')
    throw new AddressInUseError(`another server listens at ${host}:${port}: stop it first, or choose another --health-port`, { cause })
  }
}
