/**
 * The host's side of the writer thread: starts it, restarts it when it dies, and is the Port of the process that owns the
 * store. A thread that dies has answered nothing of its turn: unanswered calls are of unknown outcome.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { type Clock, type Delivery, errorFrom, type Logger, type Port, type PortListener, type Refusal, type Request } from '@millrace/core'
import { threadOptions } from '@millrace/worker'
import { quietClock, sharedMono } from '../clock.ts'
import { CAPABILITIES, ChannelPort } from '../ports/channel.ts'
import { PortMux } from '../ports/mux.ts'
import { greet } from '../readers/attachedReaders.ts'
import type { Readers } from '../readers/readers.ts'
import { deliveryOf, type Rare, ReadingPort, type SessionChange, sortOut } from '../readers/readRouter.ts'
import type { StoreModule } from '../storeModule.ts'
import { PATIENCE_MS } from './beats.ts'
import type { FromWriter, ToWriter, WriterData, WriterSettings } from './messages.ts'
import { TimelyPort, withoutGrants } from './timely.ts'

/** The engine gives up after more deaths than this within a minute. */
const DEATHS_MAX = 3
const DEATHS_WITHIN_MS = 60_000
const RESTART_MS = [0, 200, 1_000]
/** The meaning of errors of a start in place of a dead thread, by their code; any other is a death like the one before. */
const RESTART_CODES = new Map<string, Refusal['code']>([
  ['ALREADY_OPEN', 'OWNER_LOST'],
  ['STORAGE', 'STORAGE'],
  // A replica that is about to be promoted.
  ['NOT_WRITABLE', 'STORAGE'],
])
/** The time until the next attempt to reach a server that is away. */
const SERVER_AWAY_MS = 500
/**
 * The size of V8's young generation. Objects of a turn are dead by the next. By default, V8 lets such garbage grow to 150
 * MB before it collects, which exceeds the processor's caches: at full load with pruning 118k jobs/s, with 24 MB 125k,
 * with 6 MB 110k. In turns of thousands of jobs, 24 MB make it collect so often that it promotes their objects to the old
 * generation: 0.5 µs for each job that comes in bulk.
 */
const YOUNG_MB = 48

export interface WriterThreadOptions {
  readonly store: StoreModule
  readonly settings: WriterSettings
  readonly clock: Clock
  /** The clock of beats. Default `sharedMono`. */
  readonly sharedMono?: () => number
  /** The threads that answer lists; undefined if the writer does. */
  readonly readers?: Readers | undefined
  readonly logger?: Logger | undefined
}

export class WriterThread implements Port {
  readonly capabilities = CAPABILITIES
  readonly #store: StoreModule
  readonly #settings: WriterSettings
  readonly #clock: Clock
  readonly #sharedMono: () => number
  readonly #readers: Readers | undefined
  readonly #rare: Rare
  readonly #logger: Logger | undefined
  /** Worker sessions of this process, which keep their jobs when the thread is restarted. */
  readonly #sessions = new Set<string>()
  #worker: Worker | undefined
  /** The last start, which may be under way. */
  #starting: Promise<void> | undefined
  #channel: ChannelPort | undefined
  #mux: PortMux | undefined
  #listener: PortListener | undefined
  #held = false
  #closing: Promise<void> | undefined
  readonly #deathsMono: number[] = []
  /** True while the server of the store could not be reached. */
  #serverAway = false
  /** The time of the thread's last beat, which it writes. */
  readonly #beat = new Float64Array(new SharedArrayBuffer(8))
  #epoch = 0
  #schema = 0
  /** Called when others cannot find this owner by what is in the store. */
  onForgotten = () => {}

  constructor({ store, settings, clock, sharedMono: mono = sharedMono, readers, logger }: WriterThreadOptions) {
    this.#sharedMono = mono
    this.#store = store
    this.#settings = settings
    this.#clock = clock
    this.#readers = readers
    const answer: Rare['answer'] = (reply) => this.#listener?.deliver(deliveryOf(reply, 0))
    this.#rare = { readers, answer, noteSession: (change) => this.#noteSession(change) }
    this.#logger = logger
  }

  /** A number that grows each time an engine takes the store; 0 before this one does. */
  get epoch(): number {
    return this.#epoch
  }

  /** True if sent requests are heard: not between a death and the next start. */
  get isOpen(): boolean {
    return this.#channel !== undefined
  }

  get maxDataBytes(): number | undefined {
    return this.#settings.maxDataBytes
  }

  /** The schema version of the store, once it is open. */
  get schema(): number {
    return this.#schema
  }

  /** Opens the store. Rejects with the typed error that says why it cannot. */
  start(): Promise<void> {
    this.#starting = this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    const { port1, port2 } = new MessageChannel()
    const { writer } = this.#store
    const worker = newWorker(writer.file(), {
      store: writer.options,
      settings: this.#settings,
      alive: [...this.#sessions],
      channel: port2,
      beat: this.#beat,
    })
    await new Promise<void>((resolve, reject) => {
      let failure: Refusal | undefined
      let ready = false
      worker.on('message', (message: FromWriter) => {
        if (message.kind === 'ready') {
          ready = true
          this.#epoch = message.epoch
          this.#schema = message.schema
          this.#opened(worker, port1)
          resolve()
        } else if (message.kind === 'failed') failure = message.refusal
        else if (message.kind === 'forgotten') this.onForgotten()
        else if (message.kind === 'warning') this.#logger?.warn(message.message, message.details)
      })
      worker.on('error', (error) => {
        failure ??= { code: 'ENGINE_FAILED', message: `the writer thread died: ${error.message}` }
      })
      worker.on('exit', (code) => {
        port1.close()
        const refusal = failure ?? { code: 'ENGINE_FAILED', message: `the writer thread ended with code ${code}` }
        if (!ready) {
          reject(errorFrom(refusal))
          return
        }
        this.#worker = undefined
        this.#channel = undefined
        if (this.#closing === undefined) this.#died(refusal)
      })
    })
  }

  listen(listener: PortListener): void {
    this.#listener = listener
    this.#channel?.listen(this.#relay)
  }

  send(requests: readonly Request[]): void {
    const rest = sortOut(requests, this.#rare)
    if (rest.length > 0) this.#channel?.send(rest)
  }

  #noteSession(change: SessionChange): void {
    if (change.op === 'attach') this.#sessions.add(change.session.uuid)
    else this.#sessions.delete(change.session)
    this.#channel?.noteSession(change)
  }

  hold(alive: boolean): void {
    this.#held = alive
    if (alive) this.#worker?.ref()
    else this.#worker?.unref()
  }

  /** Opens another channel to the writer, for another thread. */
  openChannel(): MessagePort {
    return this.#openChannel('connect', (end) => greet(end, this.#readers))
  }

  /** Opens another Port of this thread; all of them share a channel. */
  openPort(): Port {
    if (this.#mux === undefined || this.#mux.ended) this.#mux = new PortMux(this.#openChannel('connectMux'), this.maxDataBytes)
    const muxed = this.#mux.openPort()
    const port = this.#store.onServer ? new TimelyPort(muxed, this.#isLate) : muxed
    return this.#readers === undefined ? port : new ReadingPort(port, this.#readers)
  }

  /** Reports that the process of these worker sessions is dead: if they are away, their runs are lost at once. */
  declareDead(sessions: readonly string[]): void {
    this.#tell({ kind: 'declareDead', sessions })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // Readers first: the last connection to close is the writer's, which then folds the WAL into the file.
    await this.#readers?.close()
    // A thread that is restarted meanwhile would keep the file.
    await this.#starting?.catch(() => {})
    const worker = this.#worker
    if (worker === undefined) return
    worker.ref()
    await new Promise<void>((resolve) => {
      worker.once('exit', () => resolve())
      this.#tell({ kind: 'close' })
    })
  }

  /** Relays the channel to the listener, except for the channel's end: the thread's end says more. */
  readonly #relay: PortListener = {
    deliver: (delivery) => this.#listener?.deliver(this.#inTime(delivery)),
    broken: () => {},
    reopened: () => {},
    lapsed: () => {},
    ended: () => {},
  }

  #inTime(delivery: Delivery): Delivery {
    if (delivery.grants.length === 0 || !this.#isLate()) return delivery
    return withoutGrants(delivery, { send: (requests) => this.#channel?.send(requests) })
  }

  /**
   * Returns true after a silence in which the server may have ended this owner's session: the process, or its machine, has stood still, and
   * the jobs that were handed out may have run elsewhere since.
   */
  readonly #isLate = (): boolean => this.#store.onServer && this.#sharedMono() - (this.#beat[0] ?? 0) >= PATIENCE_MS

  #opened(worker: Worker, port: MessagePort): void {
    this.#worker = worker
    this.#channel = new ChannelPort(port)
    if (this.#listener !== undefined) this.#channel.listen(this.#relay)
    this.hold(this.#held)
  }

  #died(refusal: Refusal): void {
    const afterMs = this.#restartMs(refusal)
    if (afterMs === undefined) {
      this.#fail(refusal)
      return
    }
    // A thread is back in a moment. A server may stay away: whoever stops the engine does not wait for it.
    this.#listener?.broken({
      code: this.#serverAway ? 'CONNECTION_LOST' : 'COMMIT_UNKNOWN',
      message: `the writer thread ended before it answered (${refusal.message}): the call may have happened`,
    })
    // A process that holds nothing may end meanwhile.
    const clock = this.#serverAway && !this.#held ? quietClock : this.#clock
    clock.setTimer(afterMs, () => this.#restart())
  }

  /** Returns the time until the thread is started again, in milliseconds; undefined if it is not. */
  #restartMs({ code, message }: Refusal): number | undefined {
    if (code === 'OWNER_LOST') return undefined
    if (this.#store.onServer && code === 'STORAGE') {
      if (!this.#serverAway) this.#logger?.warn('the server of the store cannot be used: trying again until it can', { error: message })
      this.#serverAway = true
      return SERVER_AWAY_MS
    }
    const now = this.#clock.read().mono
    this.#deathsMono.push(now)
    const recent = this.#deathsMono.filter((death) => now - death < DEATHS_WITHIN_MS).length
    return recent > DEATHS_MAX ? undefined : (RESTART_MS[recent - 1] ?? 0)
  }

  #restart(): void {
    if (this.#closing !== undefined) return
    const gone = this.#store.gone()
    if (gone !== undefined) {
      this.#fail(gone)
      return
    }
    this.start().then(
      () => {
        if (this.#serverAway) this.#logger?.warn('the server of the store can be used again')
        this.#serverAway = false
        if (this.#closing === undefined) this.#listener?.reopened()
      },
      (error) => {
        if (this.#closing !== undefined) return
        this.#died({ code: RESTART_CODES.get(error.code) ?? 'ENGINE_FAILED', message: error.message })
      },
    )
  }

  #fail(refusal: Refusal): void {
    const message = `the engine has failed and takes no more calls: ${refusal.message}. Open the engine again to continue`
    const { code, details } = refusal
    this.#listener?.ended(
      code === 'OWNER_LOST' ? { code, message, ...(details !== undefined && { details }) } : { code: 'ENGINE_FAILED', message },
    )
  }

  /** @param before runs with the writer's end before it is sent */
  #openChannel(kind: 'connect' | 'connectMux', before?: (end: MessagePort) => void): MessagePort {
    const { port1, port2 } = new MessageChannel()
    before?.(port2)
    // Between its death and its next start the thread cannot be asked: the channel ends at once, which notifies its user.
    if (this.#worker === undefined) port2.close()
    else this.#tell({ kind, channel: port2 }, [port2])
    return port1
  }

  #tell(message: ToWriter, transfer: MessagePort[] = []): void {
    this.#worker?.postMessage(message, transfer)
  }
}

function newWorker(file: URL, workerData: WriterData): Worker {
  try {
    return new Worker(file, {
      workerData,
      transferList: [workerData.channel],
      name: 'millrace-writer',
      ...threadOptions(),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
  } catch (cause) {
    const message = `the writer thread cannot be started: ${(cause as Error).message}. Raise the system's limit of threads or memory, and open the engine again`
    throw errorFrom({ code: 'ENGINE_FAILED', message }, { cause })
  }
}
