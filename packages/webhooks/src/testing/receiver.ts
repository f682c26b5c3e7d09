/** A real server for webhooks, on this machine. It keeps the requests that it receives, and a test chooses its answers. */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export type Answer = (received: Received, response: ServerResponse, count: number) => void

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  /** The number of connections that were opened so far. */
  readonly connections: number
  /** Resolves when this many requests have been received. */
  until(count: number): Promise<void>
}

export async function receiver(answer: Answer = (_received, response) => void response.end('ok')): Promise<Receiver> {
  const received: Received[] = []
  const arrivals = new EventEmitter()
  let connections = 0
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    const one = { method, path: url, headers, body: Buffer.concat(chunks) }
    received.push(one)
    arrivals.emit('arrived')
    answer(one, response, received.length)
  })
  server.on('connection', () => void connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    get connections() {
      return connections
    },
    async until(count) {
      while (received.length < count) await once(arrivals, 'arrived')
    },
  }
}
