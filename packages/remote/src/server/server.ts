/** A listening server: takes connections as long as there is room, and ends them all with itself. */
import type { Server as NetServer, Socket } from 'node:net'
import { type Clock, type Command, neighbourhoodOf, type Port, type Refusal, WaitingRoom } from '@millrace/core'
import { type Address, formatAddress } from '../address.ts'
import { BOUNDS } from '../limits.ts'
import { type End, Link } from '../link.ts'
import { type Bound, bind } from './bind.ts'
import { Connection } from './connection.ts'
import { Gate } from './gate.ts'
import type { ListenSettings } from './options.ts'
import { Tokens } from './tokens.ts'
import { Unread } from './unread.ts'

/** What a server needs of an engine. */
export interface Shareable {
  /** @internal */
  openPort(): Port
  /** @internal Of sessions whose process is dead. */
  declareDead?(sessions: readonly string[]): void
  /** @internal Closed when the engine is stopped. */
  readonly servers?: { add(server: RemoteServer): unknown; delete(server: RemoteServer): unknown }
  /** @internal Why nothing of a command is sent to the engine; undefined if it may be. */
  readonly checks?: {
    refusalOf(command: Command, sender: 'other'): Refusal | undefined
    checked(command: Command): Command
  }
}

export class RemoteServer implements AsyncDisposable {
  readonly #engine: Shareable
  readonly #settings: ListenSettings
  readonly #clock: Clock
  readonly #net: NetServer
  readonly #gate: Gate
  readonly #tokens: Tokens
  readonly #connections = new Set<Connection>()
  readonly #unread: Unread
  /** In their TLS handshake, by where they come from. */
  readonly #shaking = new Map<string, { readonly socket: Socket; readonly leave: () => void }>()
  readonly #handshakes: WaitingRoom
  #bound: Bound | undefined
  #alive = true
  #closing: Promise<void> | undefined

  /** @internal Servers are made by `listen`. */
  constructor(engine: Shareable, net: NetServer, settings: ListenSettings, clock: Clock) {
    this.#engine = engine
    this.#net = net
    this.#settings = settings
    this.#clock = clock
    this.#gate = new Gate(settings, clock)
    this.#handshakes = new WaitingRoom(settings.maxUnauthenticated)
    this.#unread = new Unread(settings.maxUnreadBytes)
    this.#tokens = new Tokens(settings.tokens, settings.authenticate)
    // More are not even told that there is no room.
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

  /** What clients connect to: with the port that was chosen where 0 was asked for. */
  get url(): string {
    return this.#bound === undefined ? '' : formatAddress(this.#bound.address)
  }

  /** @internal Whether it keeps its process alive: true until it is told otherwise. */
  hold(alive: boolean): void {
    this.#alive = alive
    if (alive) this.#net.ref()
    else this.#net.unref()
    for (const connection of this.#connections) connection.hold(alive)
  }

  /** Clients that are connected now. */
  get connections(): number {
    return this.#gate.connections
  }

  /** Bytes that this process holds because clients have not read them yet: at most `maxUnreadBytes`. */
  get unreadBytes(): number {
    return this.#unread.bytes
  }

  /**
   * Asks `authenticate` again for every client that is connected: those whose token is known no more are sent away at once
   * (AuthFailedError). Those whose token allows less are told to come back (what they wait for is of unknown outcome,
   * ConnectionLostError) and have by then what it allows; the others go on, with more where it allows more.
   */
  recheck(): void {
    for (const connection of this.#connections) connection.recheck()
  }

  /**
   * Tells every client to come back, closes, and removes the socket's file. Clients try again until there is a server; what they
   * wait for is of unknown outcome (ConnectionLostError). The engine goes on.
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
    // While it still listens: nobody else takes the place in between.
    this.#bound?.remove()
    const closed = new Promise<void>((resolve) => this.#net.close(() => resolve()))
    for (const { socket } of this.#shaking.values()) socket.destroy()
    await Promise.all([...this.#connections].map((connection) => connection.close()))
    await closed
  }

  /** Who has yet to show that he speaks TLS takes a place as one who has yet to greet does; he could not read why he is sent away. */
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
      logger: this.#settings.logger,
      over: (over) => this.#connections.delete(over),
      flowed: (flowed) => this.#unread.look(flowed),
    })
    this.#connections.add(connection)
    connection.hold(this.#alive)
  }
}

/** Undefined for sockets that have none. */
function addressOf({ remoteAddress }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : neighbourhoodOf(remoteAddress)
}

function originOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
