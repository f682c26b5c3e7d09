/**
 * The Port of a process that shares a store with others: it owns the store, or is attached to the process that does. If
 * that process is gone, the first to get the owner's lock serves the others. Only the store decides.
 */
import { hostname } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import type { JobChecks } from '@millrace/client'
import {
  AlreadyOpenError,
  type Clock,
  type Logger,
  type Port,
  type PortListener,
  type Refusal,
  type Request,
  type Role,
  refusalFrom,
} from '@millrace/core'
import type { RemoteServer } from '@millrace/remote'
import type { RemotePort, Whereabouts } from '@millrace/remote/internal'
import { bootId } from '@millrace/worker/process'
import { CAPABILITIES } from '../ports/channel.ts'
import type { WriterThread } from '../writer/thread.ts'
import { type Notice, noticeOf } from './notice.ts'
import type { Ownership } from './ownership.ts'
import { codeOf, unanswered } from './unanswered.ts'

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
  /** The checks for jobs of all processes that share the store. */
  readonly checks: JobChecks
  /** The time that an owner that does not answer is waited for at the start. */
  readonly patienceMs: number
  /** `any`: owns the store or attaches to its owner. `client`: only attaches. `owner`: only owns, and waits for another owner to go. */
  readonly role: Role
}

type Remote = typeof import('@millrace/remote/internal')

/** Errors of a process that does not open a store with this schema. Another one may. */
const WRONG_SCHEMA: ReadonlySet<string> = new Set(['SCHEMA_TOO_NEW', 'SCHEMA_TOO_OLD'])
/** Errors of an attempt to own a store that is gone, for this process and for every other one. */
const GONE: ReadonlySet<string> = new Set(['NOT_A_DATABASE', 'STORE_MOVED'])
/** Errors of an attempt to own the store after which another process may be attached to. */
const OTHERS: ReadonlySet<string> = new Set(['ALREADY_OPEN', ...WRONG_SCHEMA])
const ATTACH_MS = 1_000
/** The number of attempts to own the store after which the pauses double. */
const ATTEMPTS = 10
const PAUSE_DOUBLINGS = 3
/** The delays before the next attempt to listen, twice as long each time. */
const LISTEN_AGAIN_MS = { first: 250, most: 8_000 }
const CLOSING_MS = 60_000
/** Processes of one host, or behind one address: as many as of all. */
const CONNECTIONS_PER_HOST = 2_000

export class SharedPort implements Port {
  readonly capabilities = CAPABILITIES
  readonly #options: SharedPortOptions
  readonly #remote: Remote
  readonly #notice: Notice
  /** Set if this process owns the store; otherwise `#connection` is, which is lost while the owner is sought. */
  #thread: WriterThread | undefined
  #connection: RemotePort | undefined
  #server: RemoteServer | undefined
  #listener: PortListener | undefined
  #connected = false
  #held = false
  #closed = false
  #succeeding = false
  #cancelListen = () => {}
  #cancelWatch = () => {}
  /** The address of the owner that was found last. */
  #ownerUrl: string | undefined
  /** The last attempt to own the store. */
  #owning: Promise<Error | undefined> | undefined
  /** The last attempt to listen for other processes, which may be under way. */
  #serving: Promise<void> | undefined

  private constructor(options: SharedPortOptions, remote: Remote) {
    this.#options = options
    this.#remote = remote
    this.#notice = noticeOf(options.ownership, options.quietClock, options.logger)
  }

  /** Owns the store or attaches to its owner, whichever succeeds first. */
  static async open(options: SharedPortOptions): Promise<SharedPort> {
    // Sockets and TLS are loaded only when they are used.
    const port = new SharedPort(options, await import('@millrace/remote/internal'))
    await port.#find(options.patienceMs)
    return port
  }

  get #store(): string {
    return this.#options.ownership.store
  }

  get isOwner(): boolean {
    return this.#thread !== undefined
  }

  get distant(): boolean {
    return !this.isOwner
  }

  /** The limit of the current owner; each process may have set its own. */
  get maxDataBytes(): number | undefined {
    return this.#thread?.maxDataBytes ?? this.#connection?.maxDataBytes
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    // The owner may have gone before there was a listener.
    if (!this.#isHeard) listener.broken({ code: 'CONNECTION_LOST', message: `the owner of ${this.#store} is out of reach` })
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
    this.#cancelWatch()
    this.#notice.forget()
    // A writer that is being started keeps no process alive, but must let go of the store before this is over.
    const letGo = this.#options.clock.setTimer(CLOSING_MS, () => {})
    // Close the server first, so that the others come back to a successor, and not to a store that is being closed.
    await this.#server?.close()
    await this.#thread?.close()
    await this.#connection?.close(withinMs)
    // An attempt that is under way lets go of the store automatically.
    await this.#owning
    await this.#serving
    await this.#notice.settled()
    letGo()
  }

  async #find(patienceMs: number): Promise<void> {
    const { clock, role, ownership } = this.#options
    const untilMono = clock.read().mono + patienceMs
    for (let attempt = 0; ; attempt++) {
      const owned = await this.#own()
      if (owned === undefined) await this.#serving
      if (owned === undefined || this.#closed) return
      if (!OTHERS.has(codeOf(owned))) throw owned
      const refused = role === 'owner' ? owned : await this.#attach()
      if (refused === undefined || this.#closed) return
      if (clock.read().mono >= untilMono) throw await unanswered(ownership, role, owned, refused)
      await this.#pause(attempt)
    }
  }

  /** Resolves to undefined if the store is this process's own now; otherwise to the reason why it is not. */
  #own(): Promise<Error | undefined> {
    this.#owning = this.#tryToOwn()
    return this.#owning
  }

  async #tryToOwn(): Promise<Error | undefined> {
    const { role, ownership, newThread } = this.#options
    let thread: WriterThread
    try {
      const { mayBeFree } = await ownership.look()
      if (role === 'client')
        return new AlreadyOpenError(`this process only attaches to the owner of ${this.#store}, since its role is client`)
      if (!mayBeFree) return new AlreadyOpenError(`another process owns ${this.#store}`)
      if (this.#closed) return undefined
      thread = newThread()
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
    thread.onForgotten = () => {
      if (this.#thread === thread) this.#notice.repeat()
    }
    thread.listen({
      deliver: (delivery) => this.#listener?.deliver(delivery),
      broken: (refusal) => this.#listener?.broken(refusal),
      reopened: () => {
        // A note that was removed by `close` is not written again.
        if (!this.#closed && this.#server !== undefined) this.#writeNote(thread, this.#server.url)
        this.#listener?.reopened()
      },
      lapsed: (ms) => this.#listener?.lapsed(ms),
      ended: (refusal) => this.#dethroned(thread, refusal),
    })
    thread.hold(this.#held)
    // After a takeover, the calls of this process do not wait for it.
    this.#serving = this.#serve(thread)
    return undefined
  }

  async #serve(thread: WriterThread, againMs = LISTEN_AGAIN_MS.first): Promise<void> {
    const { ownership, logger, quietClock } = this.#options
    let url: string | undefined
    try {
      const at = await ownership.listenAt()
      url = at.url
      const server = await this.#remote.listen(
        {
          openPort: () => thread.openPort(),
          declareDead: (sessions: readonly string[]) => thread.declareDead(sessions),
          checks: this.#options.checks,
        },
        at.url,
        { ...(at.tls && { tls: at.tls, maxConnectionsPerAddress: CONNECTIONS_PER_HOST }), ...(logger && { logger }) },
      )
      server.hold(false)
      if (this.#thread === thread && !this.#closed) {
        this.#server = server
        this.#writeNote(thread, server.url)
      } else await server.close()
    } catch (error) {
      // It owns the store anyway: others wait until they can reach it.
      if (againMs === LISTEN_AGAIN_MS.first) {
        logger?.warn(`cannot listen for other processes of ${this.#store} yet: they wait`, { url, error: String(error) })
      }
      this.#cancelListen = quietClock.setTimer(againMs, () => {
        if (this.#thread === thread && !this.#closed) void this.#serve(thread, Math.min(againMs * 2, LISTEN_AGAIN_MS.most))
      })
    }
  }

  async #attach(): Promise<Error | undefined> {
    const { ownership, logger, quietClock: clock, random } = this.#options
    let connection: RemotePort
    try {
      const { least: minDelay, most: maxDelay } = ownership.pauseMs
      const reconnect = { minDelay, maxDelay: ownership.lookEveryMs ?? maxDelay }
      const options = { connectTimeout: ATTACH_MS, reconnect, ...(logger && { logger }) }
      connection = await this.#remote.connectPort(() => this.#whereIsTheOwner(), options, { clock, random })
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
        this.#watch()
        this.#listener?.reopened()
      },
      ended: (refusal) => {
        if (this.#connection !== connection) return
        // It does not become the owner either: nobody here would use the store.
        this.#closed = true
        this.#cancelWatch()
        this.#listener?.ended(refusal)
      },
    })
    connection.hold(this.#held)
    this.#watch()
    return undefined
  }

  async #whereIsTheOwner(): Promise<Whereabouts> {
    const reached = await this.#options.ownership.reach()
    if (reached === undefined)
      throw new Error(`no process owns ${this.#store} yet: start one whose role is 'any' or 'owner', such as millrace serve`)
    this.#ownerUrl = reached.ownerUrl
    return reached.where
  }

  /** Looks now and then whether another process owns the store, or should: an owner that stands still says nothing of it. */
  #watch(): void {
    const { ownership, quietClock, random } = this.#options
    if (ownership.lookEveryMs === undefined || this.#closed) return
    this.#cancelWatch()
    const ms = ownership.lookEveryMs * (0.5 + random())
    this.#cancelWatch = quietClock.setTimer(ms, () => void this.#lookAgain().finally(() => this.#connected && this.#watch()))
  }

  async #lookAgain(): Promise<void> {
    const { ownership, role } = this.#options
    // If the store cannot be asked, the owner cannot use it either.
    const seen = await ownership.look().catch(() => undefined)
    if (seen === undefined || this.#closed || !this.#connected) return
    const hasMoved = seen.where !== undefined && seen.where.url !== this.#ownerUrl
    if (!hasMoved && !(seen.mayBeFree && role !== 'client')) return
    this.#leaveOwner()
    await this.#succeed()
  }

  /** Tries to become the owner while the owner is out of reach, until it is heard again, or to attach to the successor of one that was left. */
  async #succeed(): Promise<void> {
    const { logger, role } = this.#options
    // A client's connection finds the next owner by itself.
    if (this.#succeeding || (role === 'client' && this.#connection !== undefined)) return
    this.#succeeding = true
    for (let attempt = 0; !this.#closed && !this.#connected; attempt++) {
      const gone = this.#options.gone()
      if (gone !== undefined) {
        this.#end(gone)
        break
      }
      const refused = await this.#own()
      if (refused === undefined) {
        // It may have been dethroned again by now.
        if (this.#thread === undefined && !this.#closed) continue
        logger?.info(`this process has taken over ${this.#store} from its lost owner`)
        this.#reopened()
        break
      }
      // Calls would wait for ever.
      if (GONE.has(codeOf(refused))) {
        this.#end(refusalFrom(refused))
        break
      }
      if (this.#connection === undefined) {
        if (role !== 'owner' && (await this.#attach()) === undefined) {
          this.#reopened()
          break
        }
        // This process never takes over a store that it does not open; another one will, and the connection finds it.
      } else if (WRONG_SCHEMA.has(codeOf(refused))) break
      if (codeOf(refused) !== 'ALREADY_OPEN')
        logger?.warn(`${this.#store} of a lost owner cannot be taken over yet`, { error: refused.message })
      await this.#pause(attempt)
    }
    this.#succeeding = false
  }

  /**
   * Leaves the last owner, since the store is this process's own now. The connection may have come back meanwhile, to an
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
      message: `the owner of ${this.#store} is gone: the call may have happened; repeat it with the same idempotencyKey`,
    })
  }

  /** Handles the end of the writer: the store has another owner, or the writer has failed permanently. */
  #dethroned(thread: WriterThread, refusal: Refusal): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#notice.forget()
    void this.#server?.close()
    this.#server = undefined
    // Its readers hold on to the store.
    void thread.close()
    // Files that were taken away have no other owner, and what has their names now may lack jobs.
    if (refusal.code !== 'OWNER_LOST' || refusal.details?.['path'] !== undefined) {
      this.#listener?.ended(refusal)
      return
    }
    if (this.#options.gone() !== undefined) {
      this.#end(refusal)
      return
    }
    // Jobs that run here may run elsewhere by now.
    this.#listener?.lapsed(Number.POSITIVE_INFINITY)
    const { isFoundByNote } = this.#options.ownership
    // A successor elsewhere may stay out of reach: whoever stops the engine does not wait for it.
    this.#listener?.broken({
      code: isFoundByNote ? 'CONNECTION_LOST' : 'COMMIT_UNKNOWN',
      message: `another process owns ${this.#store} now (${refusal.message}): the call may have happened`,
    })
    if (isFoundByNote) void this.#succeed()
    else
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

  #writeNote({ epoch, schema }: WriterThread, url: string): void {
    const { LIBRARY: library, PROTOCOL: protocol } = this.#remote
    this.#notice.write({ host: hostname(), boot: bootId(), pid: process.pid, epoch, schema, library, protocol, url })
  }

  #pause(attempt: number): Promise<void> {
    const { clock, random, ownership } = this.#options
    const { least, most } = ownership.pauseMs
    const mostMs = most * 2 ** Math.min(Math.floor(attempt / ATTEMPTS), PAUSE_DOUBLINGS)
    return new Promise((resolve) => clock.setTimer(least + random() * (mostMs - least), resolve))
  }
}
