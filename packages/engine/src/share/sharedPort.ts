/**
 * The Port of a process that shares a file with others: it owns the file, or is attached to the process that does. Where that one is
 * gone, whoever gets the owner's lock first serves the others; the lock decides, and nothing else.
 */
import type { MessagePort } from 'node:worker_threads'
import {
  AlreadyOpenError,
  type Clock,
  type Logger,
  MillraceError,
  type Port,
  type PortListener,
  type Refusal,
  type Request,
} from '@millrace/core'
import type { RemotePort, RemoteServer } from '@millrace/remote'
import { CAPABILITIES, ChannelPort } from '../ports/channel.ts'
import type { WriterThread } from '../writer/thread.ts'

export interface SharedPortOptions {
  readonly url: string
  /** One that is not started yet. */
  readonly newThread: () => WriterThread
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger | undefined
  /** For how long an owner that does not answer is waited for, at the start. */
  readonly patienceMs: number
}

type Remote = typeof import('@millrace/remote')

/** Errors of an attempt to own the file after which another process may be attached to. */
const OTHERS: ReadonlySet<string> = new Set(['ALREADY_OPEN', 'SCHEMA_TOO_NEW'])
const ATTACH_MS = 1_000
const PAUSE_MIN_MS = 20
const PAUSE_MAX_MS = 120
const LISTEN_AGAIN_MS = 250

export class SharedPort implements Port {
  readonly capabilities = CAPABILITIES
  readonly #options: SharedPortOptions
  readonly #remote: Remote
  /** One of both, or, while the owner is sought, the connection that is lost. */
  #thread: WriterThread | undefined
  #connection: RemotePort | undefined
  #server: RemoteServer | undefined
  #listener: PortListener | undefined
  #connected = false
  #held = false
  #closed = false
  #cancelListen = () => {}

  private constructor(options: SharedPortOptions, remote: Remote) {
    this.#options = options
    this.#remote = remote
  }

  /** Owns the file, or attaches to its owner, whichever can be done first. */
  static async open(options: SharedPortOptions): Promise<SharedPort> {
    // Sockets and TLS are loaded where they are used.
    const port = new SharedPort(options, await import('@millrace/remote'))
    await port.#find(options.patienceMs)
    return port
  }

  get isOwner(): boolean {
    return this.#thread !== undefined
  }

  listen(listener: PortListener): void {
    this.#listener = listener
  }

  send(requests: readonly Request[]): void {
    if (this.#thread !== undefined) this.#thread.send(requests)
    else if (this.#connected) this.#connection?.send(requests)
  }

  hold(alive: boolean): void {
    this.#held = alive
    this.#thread?.hold(alive)
    this.#connection?.hold(alive)
  }

  /** A further Port to the engine, where it is in this process. */
  openChannel(): MessagePort | undefined {
    return this.#thread?.openChannel()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelListen()
    // First, so that the others come back to a successor, and not to a file that is being closed.
    await this.#server?.close()
    await this.#thread?.close()
    await this.#connection?.close()
  }

  async #find(patienceMs: number): Promise<void> {
    const { clock } = this.#options
    const untilMono = clock.read().mono + patienceMs
    for (;;) {
      const owned = await this.#own()
      if (owned === undefined || this.#closed) return
      if (!OTHERS.has(codeOf(owned))) throw owned
      const refused = await this.#attach()
      if (refused === undefined || this.#closed) return
      if (clock.read().mono >= untilMono) throw owned instanceof AlreadyOpenError ? unanswered(owned, refused) : owned
      await this.#pause()
    }
  }

  /** Undefined where the file is this process's own now; why it is not, otherwise. */
  async #own(): Promise<Error | undefined> {
    const thread = this.#options.newThread()
    try {
      await thread.start()
    } catch (error) {
      return error as Error
    }
    if (this.#closed) {
      await thread.close()
      return undefined
    }
    this.#thread = thread
    thread.listen({
      deliver: (delivery) => this.#listener?.deliver(delivery),
      broken: (refusal) => this.#listener?.broken(refusal),
      reopened: () => this.#listener?.reopened(),
      lapsed: (ms) => this.#listener?.lapsed(ms),
      ended: (refusal) => this.#dethroned(thread, refusal),
    })
    thread.hold(this.#held)
    await this.#serve(thread)
    return undefined
  }

  async #serve(thread: WriterThread): Promise<void> {
    const { url, logger, clock } = this.#options
    try {
      const server = await this.#remote.listen(
        { openPort: () => new ChannelPort(thread.openChannel()), bury: (sessions: readonly string[]) => thread.bury(sessions) },
        url,
        {
          ...(logger && { logger }),
        },
      )
      server.hold(false)
      if (this.#thread === thread && !this.#closed) this.#server = server
      else await server.close()
    } catch (error) {
      // It owns the file all the same: others wait until it can be heard.
      logger?.warn('the file is shared, and its socket cannot be made yet', { url, error: String(error) })
      this.#cancelListen = clock.setTimer(LISTEN_AGAIN_MS, () => {
        if (this.#thread === thread && !this.#closed) void this.#serve(thread)
      })
    }
  }

  async #attach(): Promise<Error | undefined> {
    const { url, logger, clock, random } = this.#options
    let connection: RemotePort
    try {
      const reconnect = { minDelay: PAUSE_MIN_MS, maxDelay: PAUSE_MAX_MS }
      const options = { connectTimeout: ATTACH_MS, reconnect, ...(logger && { logger }) }
      connection = await this.#remote.connectPort(url, options, { clock, random })
    } catch (error) {
      return error as Error
    }
    this.#connection = connection
    this.#connected = true
    connection.listen({
      deliver: (delivery) => this.#listener?.deliver(delivery),
      lapsed: (ms) => this.#listener?.lapsed(ms),
      broken: (refusal) => {
        this.#connected = false
        this.#listener?.broken(refusal)
        void this.#succeed(connection)
      },
      reopened: () => {
        this.#connected = true
        this.#listener?.reopened()
      },
      ended: (refusal) => {
        if (this.#connection === connection) this.#listener?.ended(refusal)
      },
    })
    connection.hold(this.#held)
    return undefined
  }

  /** The owner is out of reach: until it is heard again, or has a successor, this process tries to be that. */
  async #succeed(connection: RemotePort): Promise<void> {
    const { logger } = this.#options
    while (!this.#closed && !this.#connected && this.#connection === connection) {
      const refused = await this.#own()
      if (refused === undefined) {
        if (this.#closed) return
        this.#connection = undefined
        void connection.close()
        this.#listener?.reopened()
        return
      }
      // What this version cannot open it never takes over; another one will.
      if (codeOf(refused) === 'SCHEMA_TOO_NEW') return
      if (codeOf(refused) !== 'ALREADY_OPEN') logger?.warn('the file of a lost owner cannot be taken over yet', { error: refused.message })
      await this.#pause()
    }
  }

  /** The file has another owner, or the writer has failed for good. */
  #dethroned(thread: WriterThread, refusal: Refusal): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    void this.#server?.close()
    this.#server = undefined
    if (refusal.code !== 'OWNER_LOST') {
      this.#listener?.ended(refusal)
      return
    }
    // What runs here may run elsewhere by now.
    this.#listener?.lapsed(Number.POSITIVE_INFINITY)
    this.#listener?.broken({ code: 'COMMIT_UNKNOWN', message: `another process owns the file now (${refusal.message})` })
    this.#find(this.#options.patienceMs).then(
      () => this.#closed || this.#listener?.reopened(),
      (error) => this.#listener?.ended({ code: 'OWNER_LOST', message: error.message }),
    )
  }

  #pause(): Promise<void> {
    const { clock, random } = this.#options
    return new Promise((resolve) => clock.setTimer(PAUSE_MIN_MS + random() * (PAUSE_MAX_MS - PAUSE_MIN_MS), resolve))
  }
}

function codeOf(error: Error): string {
  return error instanceof MillraceError ? error.code : ''
}

function unanswered({ message, pid, host }: AlreadyOpenError, cause: Error): AlreadyOpenError {
  const hint = 'it does not answer at its socket either: open the file with share: true in every process'
  return new AlreadyOpenError(`${message} (${hint})`, { pid, host }, { cause })
}
