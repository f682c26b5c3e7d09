/** A process that uses the queue: the real client over a simulated channel, perhaps with a worker, and what befalls it. */
import { Engine } from '@millrace/client'
import {
  type Clock,
  type Codec,
  type Delivery,
  LIMITS,
  type Port,
  type PortListener,
  type Refusal,
  type ReplyOf,
  type Request,
  type RunKey,
} from '@millrace/core'
import type { Handler, Worker } from '@millrace/worker'
import { Lease } from '../../../packages/remote/src/client/lease.ts'
import type { Connection, SimulatedEngine } from './engine.ts'
import { type Folder, SimulatedJournal } from './journal.ts'
import type { Timeline } from './timeline.ts'

export interface Work {
  readonly handlers: readonly Handler[]
  readonly min: number
  readonly max: number
  readonly queues: readonly string[] | undefined
  readonly order?: 'strict'
  readonly abortGraceMs: number
}

export interface ClientOptions {
  readonly timeline: Timeline
  readonly name: string
  /** Of another process than the engine's: its connection may be cut, and its sessions have leases. */
  readonly remote: boolean
  readonly drift: number
  /** Of its journal, which an earlier process may have left behind. */
  readonly folder: Folder | undefined
  readonly codec: Codec | undefined
  readonly random: () => number
  /** Of the next message. */
  readonly delayMs: () => number
  /** It has heard which of the runs that it named are its own no longer. */
  readonly lost: (client: Client, runs: readonly RunKey[]) => void
}

const RESTART_MS = 5
/** Of a worker whose attach was refused. */
const SAY_AGAIN_MS = 250
const BROKEN: Refusal = { code: 'COMMIT_UNKNOWN', message: 'the channel was cut before the engine answered' }

export class Client {
  readonly name: string
  readonly engine: Engine
  readonly clock: Clock
  readonly remote: boolean
  readonly sessions = new Set<string>()
  /** When it has ended runs by itself, and those with leases of how long. */
  readonly lapses: { readonly mono: number; readonly ms: number }[] = []
  /** Calls that wait for their answer. */
  readonly calls = new Set<string>()
  dead = false
  readonly folder: Folder | undefined
  frozenUntil = 0
  /** Until when its messages may have been lost or late by more than their delay. */
  disturbedUntil = -1
  /** When the last attach that was answered had been sent, and when its answer was heard. */
  attachSentMono = -1
  attachedMono = -1
  #works = 0
  #over = false
  /** The public name of its worker. */
  workerId: string | undefined
  worker: Worker | undefined
  /** The fewest jobs that its worker may run at a time: its batches are no larger. */
  least = 1
  readonly #lease: Lease | undefined
  readonly #options: ClientOptions
  readonly #attaches = new Map<number, number>()
  #listener: PortListener | undefined
  #connection: Connection | undefined
  /** Of the channel: what a former one carries is lost. */
  #generation = 0
  #outMono = 0
  #inMono = 0
  /** Under way to the client, in order. */
  #coming: (() => void)[] = []
  /** Has come, and is not heard yet. */
  readonly #heard: (() => void)[] = []

  constructor(options: ClientOptions, engine: SimulatedEngine | undefined) {
    this.#options = options
    this.name = options.name
    this.remote = options.remote
    this.folder = options.folder
    const { timeline } = options
    this.clock = timeline.clock({ drift: 1 + options.drift, frozenMs: () => this.frozenMs })
    const port: Port = {
      capabilities: new Set(['work', 'events', 'list']),
      listen: (listener) => {
        this.#listener = listener
      },
      send: (requests) => this.#send(this.#lease?.outgoing(requests) ?? requests),
      hold: () => {},
      close: async () => this.#connection?.drop(),
    }
    if (this.remote) this.#lease = this.#newLease()
    if (engine !== undefined) this.connect(engine)
    const { folder, random, codec } = options
    const intake = folder && new SimulatedJournal({ folder, timeline, clock: this.clock, random, dead: () => this.dead })
    this.engine = new Engine(port, {
      maxDataBytes: LIMITS.dataBytes,
      clock: this.clock,
      host: 'host',
      pid: 1,
      local: !options.remote,
      codec,
      ...(intake && { intake }),
    })
    if (engine === undefined) this.#listener?.broken(BROKEN)
  }

  get frozenMs(): number {
    return this.dead ? Number.POSITIVE_INFINITY : this.frozenUntil - this.#options.timeline.mono
  }

  /**
   * Its clock is about as slow as leases allow for, a twentieth: then they end at the same millisecond at both ends, and of the shortest
   * leases, 100 ms, that one millisecond by which a timer may be late is a hundredth.
   */
  get slowest(): boolean {
    return this.#options.drift < -0.04
  }

  get connected(): boolean {
    return this.#connection !== undefined
  }

  /** Told to stop, it comes back under another name. */
  work(work: Work): void {
    const { handlers, min, max, queues, order, abortGraceMs } = work
    this.workerId = `${this.name}.${++this.#works}`
    this.least = min
    const worker = this.engine.work(handlers, {
      id: this.workerId,
      minConcurrency: min,
      maxConcurrency: max,
      abortGrace: abortGraceMs,
      ...(queues !== undefined && { queues }),
      ...(order !== undefined && { order }),
    })
    this.worker = worker
    void worker.stopped.then(() => this.#options.timeline.after(RESTART_MS, () => this.dead || this.#over || this.work(work)))
  }

  connect(engine: SimulatedEngine): void {
    const generation = ++this.#generation
    this.#coming = []
    this.#connection = engine.connect((delivery) => this.#come(delivery, generation))
    this.#lease?.opened(this.clock.read().mono)
  }

  /** The channel carries nothing more, in either direction; the far side hears of it by itself. Answers the channel that was. */
  cut(): Connection | undefined {
    const connection = this.#connection
    this.#generation++
    this.#coming = []
    this.#connection = undefined
    return connection
  }

  /** What is said from now on, and what comes, arrives after so many milliseconds at the earliest. */
  clog(upMs: number, downMs: number): void {
    const { mono } = this.#options.timeline
    this.#outMono = Math.max(this.#outMono, mono + upMs)
    this.#inMono = Math.max(this.#inMono, mono + downMs)
  }

  /** The engine has died: what it had sent arrives, or is lost with it. */
  broken(arrives: boolean): void {
    const coming = this.#coming
    this.cut()
    if (arrives) for (const take of coming) take()
    this.#later(() => {
      this.#lease?.broken()
      this.#listener?.broken(BROKEN)
    })
  }

  reopened(engine: SimulatedEngine): void {
    this.#later(() => {
      this.connect(engine)
      this.#listener?.reopened()
    })
  }

  ended(refusal: Refusal): void {
    this.#over = true
    this.cut()
    this.#later(() => this.#listener?.ended(refusal))
  }

  /** As by `kill -9`: handlers, calls and timers are no more. */
  die(): Connection | undefined {
    this.dead = true
    return this.cut()
  }

  /** What it is told it hears in order, and while it is frozen it hears nothing. */
  #later(work: () => void): void {
    if (this.dead) return
    this.#heard.push(work)
    if (this.#heard.length === 1) this.#hear()
  }

  readonly #hear = (): void => {
    const { timeline } = this.#options
    const ms = this.frozenMs
    if (ms === Number.POSITIVE_INFINITY) return
    if (ms > 0) {
      timeline.after(ms, this.#hear)
      return
    }
    this.#heard[0]?.()
    this.#heard.shift()
    if (this.#heard.length > 0) timeline.after(0, this.#hear)
  }

  #send(requests: readonly Request[]): void {
    if (this.dead) return
    const { timeline, delayMs } = this.#options
    for (const { id, command } of requests) {
      if (command.op === 'attach') {
        this.#attaches.set(id, timeline.mono)
        this.sessions.add(command.session.uuid)
      } else if (command.op === 'leave') this.sessions.delete(command.session)
    }
    const connection = this.#connection
    const generation = this.#generation
    const sentMono = timeline.mono
    this.#outMono = Math.max(this.#outMono, sentMono + delayMs())
    timeline.after(this.#outMono - sentMono, () => {
      if (generation === this.#generation) connection?.receive(requests, sentMono)
    })
  }

  #hears(delivery: Delivery): void {
    const { timeline, lost } = this.#options
    for (const { id, refusal, value } of delivery.replies) {
      const sentMono = this.#attaches.get(id)
      if (sentMono === undefined) continue
      this.#attaches.delete(id)
      if (refusal !== undefined) {
        // Whether it was written or not, the worker says it again after a pause, and hears only then what is its own no longer.
        this.disturbedUntil = Math.max(this.disturbedUntil, timeline.mono + SAY_AGAIN_MS)
        continue
      }
      this.attachSentMono = sentMono
      this.attachedMono = timeline.mono
      const { lost: runs } = value as ReplyOf['attach']
      if (runs.length > 0) timeline.after(0, () => lost(this, runs))
    }
    const heard = this.#lease === undefined ? delivery : this.#lease.incoming(delivery)
    if (heard !== undefined) this.#listener?.deliver(heard)
  }

  #newLease(): Lease {
    return new Lease({
      clock: this.clock,
      send: (requests) => this.#send(requests),
      lapsed: (ms) => {
        this.lapses.push({ mono: this.#options.timeline.mono, ms })
        this.#listener?.lapsed(ms)
      },
    })
  }

  /** In order, as a channel keeps it. */
  #come(delivery: Delivery, generation: number): void {
    const { timeline, delayMs } = this.#options
    if (generation !== this.#generation) return
    const take = () => this.#later(() => this.#hears(delivery))
    this.#coming.push(take)
    this.#inMono = Math.max(this.#inMono, timeline.mono + delayMs())
    timeline.after(this.#inMono - timeline.mono, () => {
      if (generation !== this.#generation) return
      this.#coming.shift()
      take()
    })
  }
}
