/** Manages the workers that `engine.work` has started for one engine. */
import { type Grant, type Notice, OptionTypeError, type StopOptions, validateStopOptions, type WorkSettings } from '@millrace/core'
import { apart, type Handler, type Middleware, Worker } from '@millrace/worker'
import type { Mailbox } from './mailbox.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import type { EngineSetup } from './setup.ts'

const KINDS: ReadonlySet<string> = new Set<Handler['kind']>(['inline', 'batch', 'thread', 'process'])

/** The time that a stop waits after its timeout for calls that are not answered yet. */
const ANSWER_MS = 1_000

/** @throws OptionTypeError */
export function handlersOf(handlers: readonly Handler[] | Handler): readonly Handler[] {
  const list = Array.isArray(handlers) ? (handlers as readonly Handler[]) : [handlers as Handler]
  if (list.length > 0 && list.every((handler) => KINDS.has(handler?.kind))) return list
  throw new OptionTypeError(
    'handlers',
    'work takes handlers, made by definition.handler(function), definition.thread(url) or definition.childProcess(url)',
  )
}

export class Workers {
  readonly #setup: EngineSetup
  readonly #mailbox: Mailbox
  /** The mailbox, with the codec in between. */
  readonly #calls: Pick<Mailbox, 'call'>
  readonly #open: ((grant: Grant) => Grant) | undefined
  readonly #bySession = new Map<string, Worker>()

  constructor(setup: EngineSetup, mailbox: Mailbox, calls: Pick<Mailbox, 'call'>, codec: PayloadCodec | undefined) {
    this.#setup = setup
    this.#mailbox = mailbox
    this.#calls = calls
    this.#open = codec && ((grant) => codec.decodeGrant(grant))
  }

  /** Starts a worker, apart from the caller. A worker with the same id is drained and replaced. */
  start(served: readonly Handler[], settings: WorkSettings, middleware: readonly Middleware[]): Worker {
    return apart(() => this.#start(served, settings, middleware))
  }

  #start(served: readonly Handler[], settings: WorkSettings, middleware: readonly Middleware[]): Worker {
    const handlers = middleware.length === 0 ? served : served.map((handler) => ({ ...handler, middleware }))
    const { maxDataBytes, clock, host, pid, local, logger, redact, replay } = this.#setup
    const calls = this.#calls
    const open = this.#open
    const worker = new Worker({ calls, handlers, settings, host, pid, local, maxDataBytes, clock, logger, open, redact, replay })
    void worker.stopped.then(() => {
      for (const session of worker.sessions) this.#bySession.delete(session)
      this.#mailbox.countWorkers(-1)
    })
    for (const former of this.#all()) if (former.id === worker.id) void former.stop()
    for (const session of worker.sessions) this.#bySession.set(session, worker)
    this.#mailbox.countWorkers(1)
    worker.attach()
    return worker
  }

  /** Returns each worker once, whatever the number of its sessions. */
  #all(): ReadonlySet<Worker> {
    return new Set(this.#bySession.values())
  }

  take(grant: Grant): void {
    const worker = this.#bySession.get(grant.session)
    if (worker !== undefined) worker.take(grant)
    else void this.#mailbox.call<'giveBack'>({ op: 'giveBack', seq: grant.seq, run: grant.run }).catch(() => {})
  }

  notice(notice: Exclude<Notice, { kind: 'gap' }>): void {
    if (notice.kind !== 'reattach') this.#bySession.get(notice.session)?.notice(notice)
    // Attach after earlier answers have been heard.
    else queueMicrotask(() => this.attach())
  }

  /** Makes every worker attach to the engine again. */
  attach(): void {
    for (const worker of this.#all()) worker.attach()
  }

  reopened(): void {
    for (const worker of this.#all()) worker.reopened()
  }

  lapsed(ms: number): void {
    for (const worker of this.#all()) worker.lapsed(ms)
  }

  /** Stops all workers. Returns the moment after which neither their stops nor the engine's wait for an answer. */
  async stop(options?: StopOptions): Promise<number> {
    const untilMono = this.#setup.clock.read().mono + validateStopOptions(options) + ANSWER_MS
    const workers = [...this.#all()]
    await Promise.allSettled(workers.map((worker) => worker.stop(options)))
    return Math.max(untilMono, ...workers.map(({ deadlineMono }) => deadlineMono))
  }

  abandon(reason: Error): void {
    for (const worker of this.#all()) worker.abandon(reason)
  }
}
