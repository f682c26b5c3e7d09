/** A client that says whatever a test wants, byte by byte if need be, and keeps what the server answers. */
import { createConnection, type Socket } from 'node:net'
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
  closed = false

  constructor(url: string) {
    this.socket = createConnection(
      url.startsWith('unix:') ? { path: url.slice(5) } : { host: '127.0.0.1', port: Number(new URL(url).port) },
    )
    const reader = new FrameReader({ frameBytes: 2 ** 27 })
    this.socket.on('data', (chunk) => {
      for (const payload of reader.push(chunk)) this.heard.push(decodeMessage(payload, 'server'))
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
export async function welcomed(url: string): Promise<RawClient> {
  const client = new RawClient(url)
  client.send(HELLO)
  await client.said('welcome')
  return client
}
