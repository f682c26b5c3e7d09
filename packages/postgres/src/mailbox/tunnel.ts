/**
 * Both ends of a tunnel: sockets whose bytes go through the schema. So client and owner speak the same protocol, with the same TLS, as if one
 * could reach the other.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { quietClock } from '@millrace/worker/clock'
import { Mailbox, type MailboxOptions } from './mailbox.ts'

export type TunnelOptions = Pick<MailboxOptions, 'url' | 'schema' | 'epoch'>

/** The address of a listening socket. */
export interface SocketAddress {
  readonly host: string
  readonly port: number
}

/** The time in which the one connection to a tunnel comes. */
const UNUSED_MS = 30_000
const OPEN_AGAIN_MS = 1_000
/** A server that closes says goodbye to its clients first. */
const CLOSE_MS = 2_000
/** Frames of one mailbox, so that the next one has other numbers. */
const NUMBERS = 2 ** 40
/** The last frames of a stream may be on their way. */
const FORGET_MS = 10_000

const LOOPBACK = '127.0.0.1'
const NOTHING = Buffer.alloc(0)

/**
 * Opens a tunnel to the owner for one connection. Resolves to the port on 127.0.0.1 that leads there.
 *
 * @param stream a name that no other stream has
 * @throws StorageError, NotWritableError if the mailbox cannot be used
 */
export async function openTunnel(options: TunnelOptions, stream: string): Promise<number> {
  const mailbox = await Mailbox.open({ ...options, stream })
  let socket: Socket | undefined
  const server = createServer({ noDelay: true }, (accepted) => {
    socket = accepted.unref()
    cancel()
    server.close()
    pass(accepted, mailbox, stream)
    accepted.once('close', () => void mailbox.close())
  })
  mailbox.listen({
    heard: (_stream, bytes) => socket && written(socket, bytes),
    over: () => {
      socket?.destroy()
      server.close()
    },
  })
  const cancel = quietClock.setTimer(UNUSED_MS, () => void mailbox.close())
  server.listen(0, LOOPBACK).unref()
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/**
 * Connects clients that come through the schema to a listening socket. Whenever the mailbox is lost, it is opened again. Returns a function that
 * lets no more clients in, and closes when those that are there have gone.
 */
export function serveTunnels(options: TunnelOptions, to: SocketAddress): () => void {
  const tunnels = new Tunnels(options, to)
  tunnels.open()
  return () => tunnels.close()
}

/** The tunnels of an owner. */
class Tunnels {
  readonly #options: TunnelOptions
  readonly #to: SocketAddress
  readonly #sockets = new Map<string, Socket>()
  #mailbox: Mailbox | undefined
  #opened = 0
  #isClosed = false
  #cancel = () => {}

  constructor(options: TunnelOptions, to: SocketAddress) {
    this.#options = options
    this.#to = to
  }

  open(): void {
    const first = this.#opened++ * NUMBERS
    Mailbox.open({ ...this.#options, stream: undefined, first }).then(
      (mailbox) => {
        this.#mailbox = mailbox
        mailbox.listen({ heard: (...frame) => this.#heard(mailbox, ...frame), over: () => this.#over() })
        if (this.#isClosed) void mailbox.close()
      },
      () => this.#openAgain(),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#cancel = quietClock.setTimer(CLOSE_MS, () => void this.#mailbox?.close())
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (!this.#isClosed || this.#sockets.size > 0) return
    this.#cancel()
    void this.#mailbox?.close()
  }

  #openAgain(): void {
    if (!this.#isClosed) this.#cancel = quietClock.setTimer(OPEN_AGAIN_MS, () => this.open())
  }

  #over(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
    this.#sockets.clear()
    this.#openAgain()
  }

  #heard(mailbox: Mailbox, stream: string, bytes: Buffer, number: number): Promise<void> | undefined {
    const known = this.#sockets.get(stream)
    if (known !== undefined) return written(known, bytes)
    // A stream of a mailbox that was lost, or that is over: its client is to begin another one.
    if (number > 0 || this.#isClosed) return end(mailbox, stream, bytes)
    return written(this.#begin(mailbox, stream), bytes)
  }

  #begin(mailbox: Mailbox, stream: string): Socket {
    const socket = connect({ ...this.#to, noDelay: true }).unref()
    this.#sockets.set(stream, socket)
    pass(socket, mailbox, stream)
    socket.once('close', () => {
      if (this.#sockets.get(stream) === socket) this.#sockets.delete(stream)
      forgetLater(mailbox, stream)
      this.#closeIfUnused()
    })
    return socket
  }
}

/** Answers bytes of a stream that nobody has here. */
function end(mailbox: Mailbox, stream: string, bytes: Buffer): undefined {
  if (bytes.length > 0) void mailbox.send(stream, NOTHING)
  forgetLater(mailbox, stream)
}

function forgetLater(mailbox: Mailbox, stream: string): void {
  quietClock.setTimer(FORGET_MS, () => void mailbox.forget(stream))
}

/** Sends the bytes of a socket through the mailbox, and its end. */
function pass(socket: Socket, mailbox: Mailbox, stream: string): void {
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    const sent = mailbox.send(stream, bytes)
    if (sent === undefined) return
    socket.pause()
    void sent.then(() => socket.resume())
  })
  socket.once('close', () => void mailbox.send(stream, NOTHING))
}

/** Writes bytes to a socket, or its end. Returns a promise if the socket has enough for now. */
function written(socket: Socket, bytes: Buffer): Promise<void> | undefined {
  if (bytes.length === 0) {
    socket.destroySoon()
    return undefined
  }
  if (socket.write(bytes)) return undefined
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}
