/** Stands between an engine and its server, and is cut off from both when it is told to. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Relay {
  /** The server's URL, by way of this relay. */
  readonly url: string
  /** Breaks all connections, and refuses new ones. */
  cut(): void
  /** Resolves when it has refused so many connections since the last cut. */
  refused(count: number): Promise<void>
  restore(): void
}

export async function startRelay(serverUrl: string): Promise<Relay> {
  const url = new URL(serverUrl)
  const folder = url.searchParams.get('host')
  const port = Number(url.port || 5_432)
  const target = folder === null ? { host: url.hostname, port } : { path: `${folder}/.s.PGSQL.${port}` }
  const open = new Set<Socket>()
  let isCut = false
  let refusals = 0
  let wake = () => {}

  const relay = createServer((client) => {
    client.on('error', () => {})
    if (isCut) {
      client.destroy()
      refusals++
      wake()
      return
    }
    const server = connect(target)
    server.on('error', () => client.destroy())
    for (const socket of [client, server]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    client.pipe(server)
    server.pipe(client)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  onTestFinished(() => {
    relay.close()
    for (const socket of open) socket.destroy()
  })
  return {
    url: `postgres://${url.username}@127.0.0.1:${(relay.address() as AddressInfo).port}${url.pathname}`,
    cut: () => {
      isCut = true
      refusals = 0
      for (const socket of open) socket.destroy()
    },
    refused: async (count) => {
      while (refusals < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
    restore: () => {
      isCut = false
    },
  }
}
