/** A client that says whatever a test wants, byte by byte if need be, and keeps what the server answers. */
import { createConnection, type Socket } from 'node:net'
import type { Command, Reply } from '@millrace/core'
import { decodeMessage, encodeMessage, FrameReader, type Message } from '@millrace/wire'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

export const HELLO = {
  type: 'hello',
  versions: [1, 1],
  token: undefined,
  client: { library: 'test/1', host: 'host', pid: 1, process: '' },
} as const satisfies Message

export class RawClient {
  readonly socket: Socket
  /** All that the server has said. */
  readonly heard: Message[] = []
  /** The replies among it. */
  readonly replies: Reply[] = []
  closed = false
  #lastId = 0

  constructor(url: string) {
    this.socket = createConnection(
      url.startsWith('unix:') ? { path: url.slice(5) } : { host: '127.0.0.1', port: Number(new URL(url).port) },
    )
    const reader = new FrameReader({ frameBytes: 2 ** 27 })
    this.socket.on('data', (chunk) => {
      for (const payload of reader.push(chunk)) {
        const message = decodeMessage(payload, 'server')
        this.heard.push(message)
        if (message.type === 'delivery') this.replies.push(...message.delivery.replies)
      }
    })
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.closed = true
    })
    onTestFinished(() => void this.socket.destroy())
  }

  send(message: Message): void {
    this.socket.write(encodeMessage(message))
  }

  /** Asks the next request; resolves with its reply. Ids begin at 1: a test that numbers its own requests does not ask. */
  async ask(command: Command): Promise<Reply> {
    const id = ++this.#lastId
    this.send({ type: 'requests', requests: [{ id, command }] })
    const find = () => this.replies.findLast((reply) => reply.id === id)
    await until(() => find() !== undefined || this.closed)
    const found = find()
    if (found === undefined) throw new Error(`the server has closed without a reply to ${command.op}: ${JSON.stringify(this.heard.at(-1))}`)
    return found
  }

  bytes(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, () => resolve()))
  }

  /** The message of that type, said already or to come. */
  async said<Type extends Message['type']>(type: Type): Promise<Extract<Message, { type: Type }>> {
    const find = () => this.heard.find((message) => message.type === type)
    await until(() => find() !== undefined || this.closed)
    const found = find()
    if (found === undefined) throw new Error(`the server has closed without ${type}: it said ${JSON.stringify(this.heard).slice(0, 2_000)}`)
    return found as Extract<Message, { type: Type }>
  }

  /** The server has closed the connection. */
  async gone(): Promise<void> {
    await until(() => this.closed)
  }
}

/** One that has been welcomed. */
export async function welcomed(url: string, token?: string): Promise<RawClient> {
  const client = new RawClient(url)
  client.send({ ...HELLO, token })
  await client.said('welcome')
  return client
}
