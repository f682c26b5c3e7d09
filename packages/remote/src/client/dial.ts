/** One attempt to connect: a socket, a greeting, a welcome. */

import { createConnection, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { type ConnectionOptions, connect as createTlsConnection } from 'node:tls'
import type { Clock } from '@millrace/core'
import { VERSIONS } from '@millrace/wire'
import { processKey } from '@millrace/worker/process'
import type { Address } from '../address.ts'
import { SECRET_NAME, SECRET_TLS, type SharedSecret } from '../credentials.ts'
import { BOUNDS } from '../limits.ts'
import { type End, Link } from '../link.ts'
import { LIBRARY } from '../version.ts'
import type { ClientTlsOptions } from './options.ts'

export interface Dialled {
  readonly link: Link
  /** The time at which the greeting was sent. */
  readonly greetedMono: number
  /** The largest data, output or checkpoint that the engine stores, each; undefined if the server does not report it. */
  readonly maxDataBytes: number | undefined
}

export interface DialOptions {
  readonly address: Address
  readonly token: string | undefined
  readonly tls: ClientTlsOptions | SharedSecret
  readonly clock: Clock
  /** The time for the whole attempt. */
  readonly timeoutMs: number
  /** Called with the connection as soon as its socket exists. */
  readonly began?: (link: Link) => void
}

/** The reason why an attempt failed. */
export class DialError extends Error {
  readonly end: End
  constructor(end: End) {
    super(end.message)
    this.name = 'DialError'
    this.end = end
  }
}

/** Resolves once the server has welcomed this client; rejects with DialError. */
export async function dial(options: DialOptions): Promise<Dialled> {
  const { dialled, ended } = await greet(options)
  // The connection may have ended within the bytes that brought the welcome, and nothing else would report that.
  const end = ended()
  if (end !== undefined) throw new DialError(end)
  return dialled
}

interface Greeted {
  readonly dialled: Dialled
  readonly ended: () => End | undefined
}

function greet({ address, token, tls, clock, timeoutMs, began }: DialOptions): Promise<Greeted> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(address, tls)
    const link = new Link(socket, { role: 'client', clock, frameMs: Number.POSITIVE_INFINITY })
    began?.(link)
    let greetedMono = 0
    const cancel = clock.setTimer(timeoutMs, () => link.abandon(`there was no welcome within ${Math.ceil(timeoutMs)} ms`))
    socket.once(address.kind === 'tls' ? 'secureConnect' : 'connect', () => {
      greetedMono = clock.read().mono
      const client = { library: LIBRARY, host: hostname().slice(0, 255), pid: process.pid, process: processKey() }
      link.send({ type: 'hello', versions: VERSIONS, token, client })
    })
    let ended: End | undefined
    link.listener = {
      heard: (message) => {
        // Other messages that arrive with the welcome are for all clients: this one has not asked anything yet.
        if (message.type !== 'welcome') return
        cancel()
        const { version } = message
        if (version < VERSIONS[0] || version > VERSIONS[1]) {
          const mismatch = `the server speaks protocol version ${version}, this client ${VERSIONS[0]} to ${VERSIONS[1]}`
          link.goodbye('VERSION_MISMATCH', `${mismatch}: bring the older of the two up to date`, -1)
          return
        }
        const { pingMs, silenceMs, dataBytes } = message.limits
        link.begin(BOUNDS.replyFrameBytes, Math.min(pingMs, BOUNDS.pingMs), Math.min(silenceMs, BOUNDS.silenceMs))
        resolve({ dialled: { link, greetedMono, maxDataBytes: dataBytes }, ended: () => ended })
      },
      over: (end) => {
        cancel()
        ended = end
        reject(new DialError(end))
      },
    }
  })
}

function socketTo(address: Address, tls: ClientTlsOptions | SharedSecret): Socket {
  if ('path' in address) return createConnection({ path: address.path })
  const { kind, host, port } = address
  if (kind === 'tcp') return createConnection({ host, port, noDelay: true })
  const socket = createTlsConnection({ host, port, ...('secret' in tls ? bySecret(tls) : byCertificate(tls)) })
  socket.setNoDelay(true)
  return socket
}

function bySecret({ secret }: SharedSecret): ConnectionOptions {
  return {
    ...SECRET_TLS,
    pskCallback: () => ({ identity: SECRET_NAME, psk: secret }),
    // Called if the server has not used the secret, whoever vouches for its certificate.
    checkServerIdentity: () => new Error('the server does not know the secret: it has shown a certificate instead'),
  }
}

function byCertificate({ ca, cert, key, servername, rejectUnauthorized }: ClientTlsOptions): ConnectionOptions {
  return {
    ...(ca !== undefined && { ca: bufferOf(ca) }),
    ...(cert !== undefined && { cert: bufferOf(cert) }),
    ...(key !== undefined && { key: bufferOf(key) }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    minVersion: 'TLSv1.3',
  }
}

function bufferOf(pem: string | Uint8Array): Buffer | string {
  return typeof pem === 'string' ? pem : Buffer.from(pem)
}
