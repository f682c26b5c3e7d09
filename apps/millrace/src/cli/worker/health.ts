/** Reports to probes whether a worker's process lives and takes jobs. Its own server does this, as orchestrators require. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MillraceError } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { pause } from '../clock.ts'

export interface HealthOptions {
  readonly host: string
  /** The port to listen at; 0 for a free one. */
  readonly port: number
  readonly engine: Engine
  readonly draining: () => boolean
}

export interface Health {
  readonly url: string
  close(): void
}

/** The time in which the engine must answer. */
const ANSWER_MS = 2_000

/** Serves `/healthz` (the process answers) and `/readyz` (it takes jobs, and its engine answers). @throws AddressInUseError */
export async function serveHealth({ host, port, engine, draining }: HealthOptions): Promise<Health> {
  // An import of all of node:http would load what it has for WebSockets, too: a sixth of the start of each command.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer(async (request, response) => {
    const [status, body] = await answerTo(request.url ?? '', engine, draining)
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(`${JSON.stringify(body)}\n`)
  })
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

async function answerTo(url: string, engine: Engine, draining: () => boolean): Promise<readonly [status: number, body: object]> {
  const path = url.split('?', 1)[0]
  if (path === '/healthz') return [200, { status: 'ok' }]
  if (path !== '/readyz') return [404, { error: 'there are /healthz and /readyz' }]
  const reason = draining() ? 'it is stopping' : await silence(engine)
  return reason === undefined ? [200, { status: 'ready' }] : [503, { status: 'not ready', reason }]
}

/** Returns why the engine cannot be reached; undefined if it answers. */
async function silence(engine: Engine): Promise<string | undefined> {
  const over = new AbortController()
  const late = pause(ANSWER_MS, over.signal).then(() => 'the engine does not answer')
  const asked = engine.workers().then(
    () => undefined,
    // A token that only allows work may not list workers, but the refusal is an answer.
    (error: unknown) => (error instanceof MillraceError && error.code === 'FORBIDDEN' ? undefined : (error as Error).message),
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
