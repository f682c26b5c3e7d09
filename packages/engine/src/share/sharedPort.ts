/**
 * The Port of a process that shares a file with others: it owns the file, or is attached to the process that does. If
 * that process is gone, the first to get the owner's lock serves the others. Only the lock decides.
 */
import { hostname } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import type { JobChecks } from '@millrace/client'
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
import type { RemoteServer } from '@millrace/remote'
import type { RemotePort } from '@millrace/remote/internal'
import { CAPABILITIES } from '../ports/channel.ts'
import type { WriterThread } from '../writer/thread.ts'
import type { OwnerNote, Ownership } from './ownership.ts'

export interface SharedPortOptions {
  readonly ownership: Ownership
  /** Returns why nobody takes over from a lost owner; undefined while the store exists. */
  readonly gone: () => Refusal | undefined
  /** Creates a writer thread that is not started yet. */
  readonly newThread: () => WriterThread
  readonly clock: Clock
  /** A clock whose timers do not keep the process alive, for work that the engine can do without. */
  readonly quietClock: Clock
  readonly random: () => number
  readonly logger: Logger | undefined
  /** The checks for jobs of all processes that share the file. */
  readonly checks: JobChecks
  /** The time that an owner that does not answer is waited for at the start. */
  readonly patienceMs: number
}

type Remote = typeof import('@millrace/remote/internal')

/** Errors of a process that does not open the file with this schema. Another one may. */
const WRONG_SCHEMA: ReadonlySet<string> = new Set(['SCHEMA_TOO_NEW', 'SCHEMA_TOO_OLD'])
/** Errors of an attempt to own the file after which another process may be attached to. */
const OTHERS: ReadonlySet<string> = new Set(['ALREADY_OPEN', ...WRONG_SCHEMA])
const ATTACH_MS = 1_000
const PAUSE_MIN_MS = 20
const PAUSE_MAX_MS = 120
/** The number of attempts to own the file after which the pauses double, up to about a second. */
const ATTEMPTS = 10
const PAUSE_DOUBLINGS = 3
/** The delays before the next attempt to listen, twice as long each time. */
const LISTEN_AGAIN_MS = { first: 250, most: 8_000 }
const CLOSING_MS = 60_000

export class SharedPort implements Port {
  readonly capabilities = CAPABILITIES
  readonly #options: SharedPortOptions
  readonly #remote: Remote
  /** Set if this process owns the file; otherwise `#connection` is, which is lost while the owner is sought. */
  #thread: WriterThread | undefined
  #connection: RemotePort | undefined
  #server: RemoteServer | undefined
  #listener: PortListener | undefined
  #connected = false
  #held = false
  #closed = false
  #succeeding = false
  #cancelListen = () => {}
  /** The last attempt to own the file. */
  #owning: Promise<Error | undefined> | undefined
  #told: OwnerNote | undefined

  private constructor(options: SharedPortOptions, remote: Remote) {
    this.#options = options
    this.#remote = remote
  }

  /** Owns the file or attaches to its owner, whichever succeeds first. */
  static async open(options: SharedPortOptions): Promise<SharedPort> {
    // Sockets and TLS are loaded only when they are used.
    const port = new SharedPort(options, await import('@millrace/remote/internal'))
    await port.#find(options.patienceMs)
    return port
  }

  get isOwner(): boolean {
    return this.#thread !== undefined
  }

  get distant(): boolean {
    return !this.isOwner
  }

  /** The limit of the current owner; each process of the file may have set its own. */
  get maxDataBytes(): number | undefined {
    return this.#thread?.maxDataBytes ?? this.#connection?.maxDataBytes
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    // The owner may have gone before there was a listener.
    if (!this.#isHeard) listener.broken({ code: 'CONNECTION_LOST', message: 'the owner of the file is out of reach' })
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

  /** Opens another channel to the engine, if it is in this process. */
  openChannel(): MessagePort | undefined {
    return this.#thread?.openChannel()
  }

  /** Opens another Port of this thread to the engine, if it is in this process. */
  openPort(): Port | undefined {
    return this.#thread?.openPort()
  }

  async close(withinMs?: number): Promise<void> {
    this.#closed = true
    this.#cancelListen()
    this.#forgetNote()
    // A writer that is being started keeps no process alive, but must let go of the file before this is over.
    const letGo = this.#options.clock.setTimer(CLOSING_MS, () => {})
    // Close the server first, so that the others come back to a successor, and not to a file that is being closed.
    await this.#server?.close()
    await this.#thread?.close()
    await this.#connection?.close(withinMs)
    // An attempt that is under way lets go of the file automatically.
    await this.#owning
    letGo()
  }

  async #find(patienceMs: number): Promise<void> {
    const { clock } = this.#options
    const untilMono = clock.read().mono + patienceMs
    for (let attempt = 0; ; attempt++) {
      const owned = await this.#own()
      if (owned === undefined || this.#closed) return
      if (!OTHERS.has(codeOf(owned))) throw owned
      const refused = await this.#attach()
      if (refused === undefined || this.#closed) return
      if (clock.read().mono >= untilMono) throw this.#unanswered(owned, refused)
      await this.#pause(attempt)
    }
  }

  /** Resolves to undefined if the file is this process's own now; otherwise to the reason why it is not. */
  #own(): Promise<Error | undefined> {
    this.#owning = this.#tryToOwn()
    return this.#owning
  }

  async #tryToOwn(): Promise<Error | undefined> {
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
    this.#leaveOwner()
    this.#thread = thread
    thread.listen({
      deliver: (delivery) => this.#listener?.deliver(delivery),
      broken: (refusal) => this.#listener?.broken(refusal),
      reopened: () => {
        // A note that was removed by `close` is not written again.
        if (!this.#closed) this.#writeNote(thread)
        this.#listener?.reopened()
      },
      lapsed: (ms) => this.#listener?.lapsed(ms),
      ended: (refusal) => this.#dethroned(thread, refusal),
    })
    thread.hold(this.#held)
    await this.#serve(thread)
    return undefined
  }

  async #serve(thread: WriterThread, againMs = LISTEN_AGAIN_MS.first): Promise<void> {
    const { ownership, logger, quietClock } = this.#options
    try {
      const server = await this.#remote.listen(
        {
          openPort: () => thread.openPort(),
          declareDead: (sessions: readonly string[]) => thread.declareDead(sessions),
          checks: this.#options.checks,
        },
        ownership.listenUrl,
        {
          ...(logger && { logger }),
        },
      )
      server.hold(false)
      if (this.#thread === thread && !this.#closed) {
        this.#server = server
        this.#writeNote(thread)
      } else await server.close()
    } catch (error) {
      // It owns the file anyway: others wait until they can reach it.
      if (againMs === LISTEN_AGAIN_MS.first) {
        logger?.warn('the file is shared, and its socket cannot be made yet: others wait for it', {
          url: ownership.listenUrl,
          error: String(error),
        })
      }
      this.#cancelListen = quietClock.setTimer(againMs, () => {
        if (this.#thread === thread && !this.#closed) void this.#serve(thread, Math.min(againMs * 2, LISTEN_AGAIN_MS.most))
      })
    }
  }

  async #attach(): Promise<Error | undefined> {
    const { ownership, logger, clock, random } = this.#options
    let connection: RemotePort
    try {
      const reconnect = { minDelay: PAUSE_MIN_MS, maxDelay: PAUSE_MAX_MS }
      const options = { connectTimeout: ATTACH_MS, reconnect, ...(logger && { logger }) }
      connection = await this.#remote.connectPort(await ownership.whereIsTheOwner(), options, { clock, random })
    } catch (error) {
      return error as Error
    }
    if (this.#closed) {
      await connection.close()
      return undefined
    }
    this.#connection = connection
    this.#connected = true
    connection.listen({
      deliver: (delivery) => this.#listener?.deliver(delivery),
      lapsed: (ms) => this.#listener?.lapsed(ms),
      broken: (refusal) => {
        if (this.#connection !== connection) return
        this.#connected = false
        this.#listener?.broken(refusal)
        void this.#succeed()
      },
      reopened: () => {
        // It may have come back to this process's own server by now.
        if (this.#connection !== connection) return
        this.#connected = true
        this.#listener?.reopened()
      },
      ended: (refusal) => {
        if (this.#connection !== connection) return
        // It does not become the owner either: nobody here would use the file.
        this.#closed = true
        this.#listener?.ended(refusal)
      },
    })
    connection.hold(this.#held)
    return undefined
  }

  /** Tries to become the owner while the owner is out of reach, until it is heard again or has a successor. */
  async #succeed(): Promise<void> {
    const { logger } = this.#options
    if (this.#succeeding) return
    this.#succeeding = true
    for (let attempt = 0; !this.#closed && !this.#connected; attempt++) {
      const gone = this.#options.gone()
      if (gone !== undefined) {
        this.#end(gone)
        break
      }
      const refused = await this.#own()
      if (refused === undefined) {
        this.#reopened()
        break
      }
      // This process never takes over a file that it does not open; another one will.
      if (WRONG_SCHEMA.has(codeOf(refused))) break
      if (codeOf(refused) !== 'ALREADY_OPEN') logger?.warn('the file of a lost owner cannot be taken over yet', { error: refused.message })
      await this.#pause(attempt)
    }
    this.#succeeding = false
  }

  /**
   * Leaves the last owner, since the file is this process's own now. The connection may have come back meanwhile, to an
   * owner that is dead by now.
   */
  #leaveOwner(): void {
    const connection = this.#connection
    this.#connection = undefined
    void connection?.close()
    if (!this.#connected) return
    this.#connected = false
    this.#listener?.broken({
      code: 'CONNECTION_LOST',
      message: 'the owner of the file is gone: the call may have happened; repeat it with the same idempotencyKey',
    })
  }

  /** Handles the end of the writer: the file has another owner, or the writer has failed permanently. */
  #dethroned(thread: WriterThread, refusal: Refusal): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#forgetNote()
    void this.#server?.close()
    this.#server = undefined
    // Its readers hold on to the file.
    void thread.close()
    if (refusal.code !== 'OWNER_LOST') {
      this.#listener?.ended(refusal)
      return
    }
    if (this.#options.gone() !== undefined) {
      this.#end(refusal)
      return
    }
    // Jobs that run here may run elsewhere by now.
    this.#listener?.lapsed(Number.POSITIVE_INFINITY)
    this.#listener?.broken({ code: 'COMMIT_UNKNOWN', message: `another process owns the file now (${refusal.message})` })
    this.#find(this.#options.patienceMs).then(
      () => this.#reopened(),
      (error) => this.#listener?.ended({ code: 'OWNER_LOST', message: error.message }),
    )
  }

  /**
   * Reports that calls are possible again. An owner that has died meanwhile does so itself when it is back: requests sent
   * to it until then would never be answered.
   */
  #reopened(): void {
    if (!this.#closed && this.#isHeard) this.#listener?.reopened()
  }

  get #isHeard(): boolean {
    return this.#thread?.isOpen ?? this.#connected
  }

  #end(refusal: Refusal): void {
    this.#closed = true
    void this.#connection?.close()
    this.#listener?.ended(refusal)
  }

  #writeNote({ epoch, schema }: WriterThread): void {
    const { ownership, logger } = this.#options
    const { bootId, LIBRARY, PROTOCOL } = this.#remote
    const [library, protocol, url] = [LIBRARY, PROTOCOL, ownership.listenUrl]
    this.#told = { host: hostname(), boot: bootId(), pid: process.pid, epoch, schema, library, protocol, url }
    try {
      ownership.announce(this.#told)
    } catch (error) {
      logger?.warn('what the owner of a shared file tells of itself could not be written', { error: String(error) })
    }
  }

  #forgetNote(): void {
    if (this.#told !== undefined) this.#options.ownership.withdraw(this.#told)
    this.#told = undefined
  }

  /** Returns why a file is neither owned nor attached to, with the note of its owner if that is the process that has the lock. */
  #unanswered(owned: Error, refused: Error): Error {
    if (!(owned instanceof AlreadyOpenError)) return owned
    const { message, pid, host } = owned
    const note = this.#options.ownership.announced()
    if (note === undefined || (pid !== undefined && pid !== note.pid)) {
      const hint = 'it does not answer at its socket either: open the file with share: true in every process'
      return new AlreadyOpenError(`${message} (${hint})`, { pid, host }, { cause: refused })
    }
    const owner = `process ${note.pid} on ${note.host} (${note.library}, protocol ${note.protocol.join(' to ')}, schema ${note.schema}, epoch ${note.epoch})`
    const what = codeOf(refused) === 'VERSION_MISMATCH' ? refused.message : 'it does not answer: it may be stopped or busy. Try again'
    return new AlreadyOpenError(`the file is shared by ${owner}, and ${what}`, { pid: note.pid, host: note.host }, { cause: refused })
  }

  #pause(attempt: number): Promise<void> {
    const { clock, random } = this.#options
    const mostMs = PAUSE_MAX_MS * 2 ** Math.min(Math.floor(attempt / ATTEMPTS), PAUSE_DOUBLINGS)
    return new Promise((resolve) => clock.setTimer(PAUSE_MIN_MS + random() * (mostMs - PAUSE_MIN_MS), resolve))
  }
}

function codeOf(error: Error): string {
  return error instanceof MillraceError ? error.code : ''
}
