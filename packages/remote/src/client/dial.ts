/** One attempt to connect: a socket, a greeting, a welcome. */

import { createConnection, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { connect as createTlsConnection } from 'node:tls'
import type { Clock } from '@millrace/core'
import { type Message, VERSIONS } from '@millrace/wire'
import type { Address } from '../address.ts'
import { BOUNDS } from '../limits.ts'
import { type End, Link } from '../link.ts'
import { processKey } from '../process.ts'
import { LIBRARY } from '../version.ts'
import type { ClientTlsOptions } from './options.ts'

export interface Dialled {
  readonly link: Link
  /** When the greeting was sent. */
  readonly greetedMono: number
}

export interface DialOptions {
  readonly address: Address
  readonly token: string | undefined
  readonly tls: ClientTlsOptions
  readonly clock: Clock
  /** For all of it. */
  readonly timeoutMs: number
  /** Hears of the socket as soon as there is one. */
  readonly began?: (link: Link) => void
}

/** Why an attempt has failed. */
export class DialError extends Error {
  readonly end: End
  constructor(end: End) {
    super(end.message)
    this.name = 'DialError'
    this.end = end
  }
}

/** Rejects with DialError. */
export function dial({ address, token, tls, clock, timeoutMs, began }: DialOptions): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(address, tls)
    const link = new Link(socket, { role: 'client', clock, frameMs: Number.POSITIVE_INFINITY })
    began?.(link)
    let greetedMono = 0
    const cancel = clock.setTimer(timeoutMs, () => link.abandon(`there was no welcome within ${timeoutMs} ms`))
    socket.once(address.kind === 'tls' ? 'secureConnect' : 'connect', () => {
      greetedMono = clock.read().mono
      const client = { library: LIBRARY, host: hostname().slice(0, 255), pid: process.pid, process: processKey() }
      link.send({ type: 'hello', versions: VERSIONS, token, client })
    })
    link.listener = {
      heard: (message) => {
        cancel()
        const { pingMs, silenceMs } = (message as Extract<Message, { type: 'welcome' }>).limits
        link.begin(BOUNDS.replyFrameBytes, Math.min(pingMs, BOUNDS.pingMs), Math.min(silenceMs, BOUNDS.silenceMs))
        resolve({ link, greetedMono })
      },
      over: (end) => {
        cancel()
        reject(new DialError(end))
      },
    }
  })
}

function socketTo(address: Address, { ca, cert, key, servername, rejectUnauthorized }: ClientTlsOptions): Socket {
  if ('path' in address) return createConnection({ path: address.path })
  const { kind, host, port } = address
  if (kind === 'tcp') return createConnection({ host, port, noDelay: true })
  const socket = createTlsConnection({
    host,
    port,
    ...(ca !== undefined && { ca: bufferOf(ca) }),
    ...(cert !== undefined && { cert: bufferOf(cert) }),
    ...(key !== undefined && { key: bufferOf(key) }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    minVersion: 'TLSv1.3',
  })
  socket.setNoDelay(true)
  return socket
}

function bufferOf(pem: string | Uint8Array): Buffer | string {
  return typeof pem === 'string' ? pem : Buffer.from(pem)
}
