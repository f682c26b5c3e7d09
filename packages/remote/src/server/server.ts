/** A listening server: it accepts connections while there is room, and ends them all when it closes. */
import type { Server as NetServer, Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { type Clock, type Command, neighbourhoodOf, OptionTypeError, type Port, type Refusal, Unread, WaitingRoom } from '@millrace/core'
import { type Address, formatAddress } from '../address.ts'
import { BOUNDS } from '../limits.ts'
import { type End, Link } from '../link.ts'
import { type Bound, bind } from './bind.ts'
import { certificateOf } from './certificate.ts'
import { Connection } from './connection.ts'
import { Gate } from './gate.ts'
import { type ListenSettings, type ServerTlsOptions, tlsOption } from './options.ts'
import { Tokens } from './tokens.ts'

/** The parts of an engine that a server needs. */
export interface Shareable {
  /** @internal */
  openPort(): Port
  /** @internal Reports sessions whose process is dead. */
  declareDead?(sessions: readonly string[]): void
  /** @internal The servers to close when the engine is stopped. */
  readonly servers?: { add(server: RemoteServer): unknown; delete(server: RemoteServer): unknown }
  /** @internal Checks commands before they are sent to the engine: `refusalOf` returns undefined if a command may be sent. */
  readonly checks?: {
    refusalOf(command: Command, sender: 'other'): Refusal | undefined
    checked<Asked extends Command>(command: Asked): Asked
  }
}

/** A server that `listen` has started. */
export class RemoteServer implements AsyncDisposable {
  readonly #engine: Shareable
  readonly #settings: ListenSettings
  readonly #clock: Clock
  readonly #net: NetServer
  readonly #gate: Gate
  readonly #tokens: Tokens
  readonly #connections = new Set<Connection>()
  readonly #unread: Unread
  /** Sockets in their TLS handshake, by origin. */
  readonly #shaking = new Map<string, { readonly socket: Socket; readonly leave: () => void }>()
  readonly #handshakes: WaitingRoom
  #bound: Bound | undefined
  #alive = true
  #closing: Promise<void> | undefined

  /** @internal Servers are created by `listen`. */
  constructor(engine: Shareable, net: NetServer, settings: ListenSettings, clock: Clock) {
    this.#engine = engine
    this.#net = net
    this.#settings = settings
    this.#clock = clock
    this.#gate = new Gate(settings, clock)
    this.#handshakes = new WaitingRoom(settings.maxUnauthenticated)
    this.#unread = new Unread(settings.maxUnreadBytes)
    this.#tokens = new Tokens(settings.tokens, settings.authenticate)
    // Further connections are dropped without a goodbye.
    net.maxConnections = settings.maxConnections + settings.maxUnauthenticated
    net.on(settings.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => this.#accept(socket))
    if (settings.tls !== undefined) net.on('connection', (socket: Socket) => this.#shake(socket))
    net.on('tlsClientError', (error: Error) => settings.logger?.warn('a TLS handshake has failed', { error: error.message }))
  }

  /** @internal */
  async bind(address: Address): Promise<void> {
    this.#bound = await bind(this.#net, address)
    this.#engine.servers?.add(this)
    this.#net.on('error', (error) => this.#settings.logger?.error('the server has an error', { error: error.message }))
  }

  /** The address that clients connect to, with the chosen port if the requested one was 0. */
  get url(): string {
    return this.#bound === undefined ? '' : formatAddress(this.#bound.address)
  }

  /** @internal Sets whether the server keeps its process alive; initially it does. */
  hold(alive: boolean): void {
    this.#alive = alive
    if (alive) this.#net.ref()
    else this.#net.unref()
    for (const connection of this.#connections) connection.hold(alive)
  }

  /** The number of clients that are connected now. */
  get connections(): number {
    return this.#gate.connections
  }

  /** The number of bytes that this process holds because clients have not read them yet: at most `maxUnreadBytes`. */
  get unreadBytes(): number {
    return this.#unread.bytes
  }

  /**
   * Calls `authenticate` again for every connected client. Clients whose token is no longer known are sent away at once
   * (AuthFailedError). Clients whose token allows less must reconnect, and then have what it allows; their open calls have an unknown
   * outcome (ConnectionLostError). The others continue, with more if their token allows more.
   */
  recheck(): void {
    for (const connection of this.#connections) connection.recheck()
  }

  /**
   * Shows another certificate to clients that connect from now on, such as a renewed one. `requestCert` stays as it was. Connected clients
   * stay connected.
   *
   * @throws OptionTypeError for a wrong option, and if the server has no certificate; the error of Node if the key does not fit, and then
   * nothing changes
   */
  useCertificate(tls: Pick<ServerTlsOptions, 'key' | 'cert' | 'ca'>): void {
    const { tls: before } = this.#settings
    if (before === undefined || 'secret' in before)
      throw new OptionTypeError('tls', 'this server has no certificate to replace: listen at tls:// with tls.key and tls.cert')
    const next = tlsOption('tls', { ...tls, requestCert: before.requestCert })
    ;(this.#net as TlsServer).setSecureContext(certificateOf(next as ServerTlsOptions))
  }

  /**
   * Asks every client to reconnect, closes, and removes the socket's file. Clients try again until there is a server; their open
   * calls have an unknown outcome (ConnectionLostError). The engine continues.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#engine.servers?.delete(this)
    // While it still listens: no other server takes the place in between.
    this.#bound?.remove()
    const closed = new Promise<void>((resolve) => this.#net.close(() => resolve()))
    for (const { socket } of this.#shaking.values()) socket.destroy()
    await Promise.all([...this.#connections].map((connection) => connection.close()))
    await closed
  }

  /** Gives a socket in its TLS handshake a place, as before a greeting. Its client could not read why it is sent away. */
  #shake(socket: Socket): void {
    const leave = this.#handshakes.enter(addressOf(socket), () => socket.destroy())
    if (leave === undefined) {
      socket.destroy()
      return
    }
    const from = originOf(socket)
    this.#shaking.set(from, { socket, leave })
    socket.once('close', () => {
      leave()
      if (this.#shaking.get(from)?.socket === socket) this.#shaking.delete(from)
    })
  }

  #accept(socket: Socket): void {
    const from = originOf(socket)
    this.#shaking.get(from)?.leave()
    this.#shaking.delete(from)
    const link = new Link(socket, { role: 'server', clock: this.#clock, frameMs: BOUNDS.frameMs })
    const sendAway = ({ code, message, retryAfterMs }: End) => link.goodbye(code, message, retryAfterMs)
    const pass = this.#gate.enter(addressOf(socket), sendAway)
    if ('code' in pass) {
      sendAway(pass)
      return
    }
    const connection = new Connection({
      link,
      pass,
      tokens: this.#tokens,
      openPort: () => this.#engine.openPort(),
      refusalOf: (command) => this.#engine.checks?.refusalOf(command, 'other'),
      checked: (command) => this.#engine.checks?.checked(command) ?? command,
      declareDead: (sessions) => this.#engine.declareDead?.(sessions),
      helloTimeoutMs: this.#settings.helloTimeoutMs,
      clock: this.#clock,
      audit: this.#settings.audit,
      assertAuditable: this.#settings.assertAuditable,
      logger: this.#settings.logger,
      over: (over) => this.#connections.delete(over),
      flowed: (flowed) => this.#unread.look(flowed),
    })
    this.#connections.add(connection)
    connection.hold(this.#alive)
  }
}

/** Returns undefined for sockets that have no address. */
function addressOf({ remoteAddress }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : neighbourhoodOf(remoteAddress)
}

function originOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
