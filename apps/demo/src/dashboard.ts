/**
 * The dashboard of a run, for browsers on this machine. Everything that it needs is loaded when somebody opens it: a run that nobody
 * looks at pays for a port alone.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine } from '@millrace/engine'

export interface Dashboard {
  readonly url: string
  /** Ends the requests that run, too. */
  close(): void
}

/** Only this machine reaches it, which is why it needs no log-in. */
const HOST = '127.0.0.1'
/** The preferred port: neither the daemon's (7410) nor that of `millrace demo` (7411), which may run beside it. */
const PORT = 7412

/** Takes a free port if the preferred one is taken. Rejects if there is none. */
export async function serveDashboard(engine: Engine): Promise<Dashboard> {
  let answer: Promise<RequestListener> | undefined
  const server = createServer(async (request, response) => {
    try {
      answer ??= load(engine)
      const listener = await answer
      listener(request, response)
    } catch (error) {
      // The next request tries again.
      answer = undefined
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`cannot load the dashboard: ${(error as Error).message}\n`)
    }
  })
  await listen(server)
  // The run matters more than its page.
  server.on('error', () => {})
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function listen(server: Server): Promise<void> {
  try {
    await once(server.listen(PORT, HOST), 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    await once(server.listen(0, HOST), 'listening')
  }
}

async function load(engine: Engine): Promise<RequestListener> {
  const [{ getRequestListener }, { createHttp }, { dashboardFiles }] = await Promise.all([
    import('@hono/node-server'),
    import('@millrace/http'),
    import('@millrace/dashboard'),
  ])
  const api = createHttp(engine, {
    open: true,
    instance: { name: 'demo', colour: 'purple' },
    dashboard: { files: await dashboardFiles() },
  })
  return getRequestListener(api.fetch, { overrideGlobalObjects: false })
}
