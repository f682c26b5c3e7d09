/** A server that a test can take away and bring back at the same address, and that notes what it was asked. */
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'

type Answer = (request: Request, env: unknown) => Response | Promise<Response>

export interface Asked {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  /** True if a cookie came with it. */
  readonly cookie: boolean
  /** The status of the answer, once there is one. */
  status?: number
  /** The length of the answer's body, if it is JSON. */
  bytes?: number
}

/** The ports of servers that have ended. The next ones take them again: for the browser, a script at the same address is the same. */
const ports: number[] = []

export class PageServer {
  /** The requests so far, in the order of their arrival. */
  readonly asked: Asked[] = []
  /** The address that requests come from, as if they came from elsewhere. Default: this machine's own. */
  from: string | undefined
  #server: Server | undefined
  #port = 0
  #answer: Answer
  readonly #emitter = new EventEmitter<{ answered: [] }>()

  constructor(answer: Answer) {
    this.#answer = answer
    this.#emitter.setMaxListeners(0)
  }

  /** The address without a path. It stays while the server is away. */
  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get port(): number {
    return this.#port
  }

  /** Answers from now on by another function, as after a restart of the process behind the address. */
  set answer(answer: Answer) {
    this.#answer = answer
  }

  async start(): Promise<void> {
    const listener = getRequestListener((request, env) => this.#answered(request, env))
    this.#server = createServer(listener)
    this.#port = await listen(this.#server, this.#port === 0 ? ports.pop() : this.#port)
  }

  /** Refuses connections, and breaks those that are open. */
  async stop(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  /** Stops, and leaves the address to the next server. */
  async end(): Promise<void> {
    await this.stop()
    // `fetch` of this process would use a connection to the former server again, until it has heard that it is closed.
    for (let turn = 0; turn < 2; turn++) await nextTurn()
    if (this.#port !== 0) ports.push(this.#port)
    this.#port = 0
  }

  /** Resolves when a request like this was answered: one that is under way or to come, or one of those since a place in `asked`. */
  async until(pattern: RegExp, since = this.asked.length): Promise<Asked> {
    for (;;) {
      const found = this.asked.slice(since).find((each) => each.status !== undefined && pattern.test(`${each.method} ${each.path}`))
      if (found !== undefined) return found
      await once(this.#emitter, 'answered')
    }
  }

  async #answered(request: Request, env: unknown): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const asked: Asked = { method: request.method, path: `${pathname}${search}`, cookie: request.headers.has('cookie') }
    this.asked.push(asked)
    const response = await this.#answer(request, this.from === undefined ? env : { remoteAddress: this.from })
    if (/json/.test(response.headers.get('content-type') ?? '')) asked.bytes = (await response.clone().arrayBuffer()).byteLength
    asked.status = response.status
    this.#emitter.emit('answered')
    return response
  }
}

/** Listens at a port, or at another one that is free if it is taken by now. Returns the port. */
async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return listen(server)
  }
  return (server.address() as AddressInfo).port
}
