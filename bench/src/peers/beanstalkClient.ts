/** As much of beanstalkd's protocol as is needed, pipelined: commands go out as they are called, replies come back in that order. */
import { connect, type Socket } from 'node:net'

const LINE_END = '\r\n'

interface Reply {
  readonly words: readonly string[]
  readonly body: Buffer | undefined
}

export class BeanstalkClient {
  readonly #socket: Socket
  readonly #waiting: ((reply: Reply) => void)[] = []
  #buffer: Buffer = Buffer.alloc(0)
  #out = ''

  constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#receive(chunk))
  }

  static async open(address: string): Promise<BeanstalkClient> {
    const [host = '', port = ''] = address.split(':')
    const socket = connect(Number(port), host)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new BeanstalkClient(socket)
  }

  async put(body: string): Promise<void> {
    const { words } = await this.#call(`put 0 0 600 ${Buffer.byteLength(body)}${LINE_END}${body}`)
    if (words[0] !== 'INSERTED') throw new Error(`put: ${words.join(' ')}`)
  }

  /** The next job; undefined where this connection is closed instead. */
  async reserve(): Promise<{ readonly id: string; readonly body: string } | undefined> {
    const { words, body } = await this.#call('reserve')
    return words[0] === 'RESERVED' ? { id: words[1] as string, body: (body as Buffer).toString() } : undefined
  }

  async delete(id: string): Promise<void> {
    const { words } = await this.#call(`delete ${id}`)
    if (words[0] !== 'DELETED') throw new Error(`delete: ${words.join(' ')}`)
  }

  /** How many jobs the server has. */
  async count(): Promise<number> {
    const { body = Buffer.alloc(0) } = await this.#call('stats')
    const kinds = ['ready', 'reserved', 'delayed', 'buried'].map((kind) => new RegExp(`current-jobs-${kind}: (\\d+)`).exec(body.toString()))
    return kinds.reduce((sum, found) => sum + Number(found?.[1] ?? 0), 0)
  }

  close(): void {
    this.#socket.destroy()
    for (const resolve of this.#waiting.splice(0)) resolve({ words: ['CLOSED'], body: undefined })
  }

  /** What is called within one tick leaves in one write. */
  #call(command: string): Promise<Reply> {
    if (this.#out === '') {
      queueMicrotask(() => {
        this.#socket.write(this.#out)
        this.#out = ''
      })
    }
    this.#out += command + LINE_END
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #receive(chunk: Buffer): void {
    const buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    let at = 0
    for (;;) {
      const end = buffer.indexOf(LINE_END, at)
      if (end < 0) break
      const words = buffer.toString('latin1', at, end).split(' ')
      const bytes = words[0] === 'RESERVED' ? Number(words[2]) : words[0] === 'OK' ? Number(words[1]) : -1
      const next = bytes < 0 ? end + 2 : end + 2 + bytes + 2
      if (next > buffer.length) break
      this.#waiting.shift()?.({ words, body: bytes < 0 ? undefined : buffer.subarray(end + 2, end + 2 + bytes) })
      at = next
    }
    this.#buffer = buffer.subarray(at)
  }
}
