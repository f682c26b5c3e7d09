/** A process that uses the queue: an engine over its own way there, perhaps with a worker, and what befalls it. */
import { Engine } from '@millrace/client'
import { LIMITS, type Port, type PortListener, type Refusal } from '@millrace/core'
import type { Checker } from './checker.ts'
import { handlersFor } from './handlers.ts'
import { type Connection, noteSessions, type Owner } from './owner.ts'
import type { Scheduler } from './scheduler.ts'

export interface ClientOptions {
  readonly scheduler: Scheduler
  readonly checker: Checker
  readonly name: string
  readonly drift: number
  /** Whether an earlier run that goes on unheard of would be a fault of the engine. */
  readonly strict: boolean
  readonly concurrency: readonly [min: number, max: number] | undefined
}

export class Client {
  readonly name: string
  readonly engine: Engine
  /** Worker sessions that live here. */
  readonly sessions = new Set<string>()
  /** Calls that are open. */
  readonly calls = new Set<string>()
  dead = false
  frozenUntil = 0
  readonly #scheduler: Scheduler
  #listener: PortListener | undefined
  #connection: Connection | undefined
  readonly #heard: (() => void)[] = []

  constructor({ scheduler, checker, name, drift, strict, concurrency }: ClientOptions, owner: Owner) {
    this.name = name
    this.#scheduler = scheduler
    const clock = scheduler.clock({
      drift: 1 + drift,
      frozenMs: () => (this.dead ? Number.MAX_SAFE_INTEGER : this.frozenUntil - scheduler.mono),
    })
    this.#connect(owner)
    const port: Port = {
      capabilities: new Set(['work', 'events']),
      listen: (listener) => {
        this.#listener = listener
      },
      send: (requests) => {
        if (this.dead) return
        noteSessions(this.sessions, requests)
        this.#connection?.send(requests)
      },
      hold: () => {},
      close: async () => this.#connection?.drop(),
    }
    this.engine = new Engine(port, { maxDataBytes: LIMITS.dataBytes, clock, host: 'host', pid: 1, local: true })
    if (concurrency !== undefined) {
      const [minConcurrency, maxConcurrency] = concurrency
      this.engine.work(handlersFor({ client: this, checker, clock, scheduler, strict }), {
        minConcurrency,
        maxConcurrency,
        abortGrace: 400,
      })
    }
  }

  /** It goes on when it was told so: while it is frozen it hears nothing. */
  #later(work: () => void): void {
    this.#heard.push(work)
    if (this.#heard.length === 1) this.#hear()
  }

  /** In order, whatever it has slept through. */
  #hear(): void {
    if (this.dead) return
    const frozenMs = this.frozenUntil - this.#scheduler.mono
    if (frozenMs > 0) this.#scheduler.after(frozenMs, () => this.#hear())
    else {
      // One thing of its event loop after the other, each with all that it sets off.
      this.#heard[0]?.()
      this.#heard.shift()
      if (this.#heard.length > 0) this.#scheduler.after(0, () => this.#hear())
    }
  }

  #connect(owner: Owner): void {
    this.#connection = owner.connect((delivery) => this.#later(() => this.#listener?.deliver(delivery)))
  }

  broken(): void {
    this.#connection = undefined
    this.#later(() => this.#listener?.broken({ code: 'COMMIT_UNKNOWN', message: 'the writer thread ended before it answered' }))
  }

  reopened(owner: Owner): void {
    this.#connect(owner)
    this.#later(() => this.#listener?.reopened())
  }

  ended(refusal: Refusal): void {
    this.#later(() => this.#listener?.ended(refusal))
  }

  /** As by `kill -9`: handlers, calls and timers are no more. */
  die(): void {
    this.dead = true
    this.#connection?.drop()
  }
}
