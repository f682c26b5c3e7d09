/** What can happen on the way: stands between clients and a server, and cuts, holds or delays what passes. */
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

type Direction = 'up' | 'down'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export class FaultyProxy {
  /** Where clients connect to. */
  readonly url: string
  readonly #path: string
  readonly #target: string
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  /** What has been held back, in order. */
  readonly #held: { readonly to: Socket; readonly chunk: Buffer }[] = []
  readonly #holding = new Set<Direction>()
  #refusing = false
  /** How often somebody has connected. */
  connections = 0

  constructor(target: string) {
    this.#target = target.slice('unix:'.length)
    this.#path = join(temporaryFolder(), 'proxy')
    this.url = `unix:${this.#path}`
    this.#server = createServer((client) => this.#join(client))
    onTestFinished(() => this.close())
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.#path, resolve))
    return this
  }

  /** Every connection breaks, now. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy()
      server.destroy()
    }
    this.#pairs.clear()
    this.#held.splice(0)
  }

  /** Nothing passes any more, and nobody is told: a cable that is pulled. `up` is from clients to the server. */
  hold(...directions: readonly Direction[]): void {
    for (const direction of directions.length === 0 ? (['up', 'down'] as const) : directions) this.#holding.add(direction)
  }

  /** All that was held back arrives in a burst, and what follows passes. */
  release(): void {
    this.#holding.clear()
    for (const { to, chunk } of this.#held.splice(0)) to.write(chunk)
  }

  /** Whoever connects is cut off at once, until told otherwise. */
  refuse(refusing: boolean): void {
    this.#refusing = refusing
    if (refusing) this.cut()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #join(client: Socket): void {
    client.on('error', () => {})
    this.connections++
    if (this.#refusing) {
      client.destroy()
      return
    }
    const server = createConnection({ path: this.#target })
    server.on('error', () => client.destroy())
    const pair = { client, server }
    this.#pairs.add(pair)
    this.#pass('up', client, server)
    this.#pass('down', server, client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('close', () => {
        this.#pairs.delete(pair)
        // A pulled cable carries no end of a connection either.
        if (this.#holding.size === 0) other.destroy()
      })
    }
  }

  #pass(direction: Direction, from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      if (this.#holding.has(direction)) this.#held.push({ to, chunk })
      else to.write(chunk)
    })
  }
}
