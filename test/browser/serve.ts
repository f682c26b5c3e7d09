/** A server for pages, on a port that is free, until the test ends. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { onTestFinished } from 'vitest'

/** Returns the origin. */
export async function serve(answer: (request: Request) => Response | Promise<Response>): Promise<string> {
  const server = createServer(getRequestListener(answer)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
