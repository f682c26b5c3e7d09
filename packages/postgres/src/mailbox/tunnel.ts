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
    socket = accepted
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

/** Connects clients that come through the schema to a listening socket. Whenever the mailbox is lost, it is opened again. */
export function serveTunnels(options: TunnelOptions, to: SocketAddress): () => void {
  const sockets = new Map<string, Socket>()
  let mailbox: Mailbox | undefined
  let isClosed = false
  let cancel = () => {}

  const serve = (): void => {
    Mailbox.open({ ...options, stream: undefined }).then((opened) => {
      mailbox = opened
      opened.listen({ heard: (...frame) => heard(opened, ...frame), over })
      if (isClosed) void opened.close()
    }, again)
  }
  const again = (): void => {
    if (!isClosed) cancel = quietClock.setTimer(OPEN_AGAIN_MS, serve)
  }
  const over = (): void => {
    for (const socket of sockets.values()) socket.destroy()
    sockets.clear()
    again()
  }
  const heard = (through: Mailbox, stream: string, bytes: Buffer, number: number): Promise<void> | undefined => {
    // A stream of a mailbox that was lost, or that is over: its client is to begin another one.
    if (!sockets.has(stream) && number > 0) return end(through, stream, bytes)
    return written(sockets.get(stream) ?? begin(through, stream), bytes)
  }
  const begin = (through: Mailbox, stream: string): Socket => {
    const socket = connect({ ...to, noDelay: true })
    sockets.set(stream, socket)
    pass(socket, through, stream)
    socket.once('close', () => {
      sockets.delete(stream)
      forgetLater(through, stream)
    })
    return socket
  }

  serve()
  return () => {
    isClosed = true
    cancel()
    void mailbox?.close()
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
    socket.once('drain', resolve)
    socket.once('close', resolve)
  })
}
