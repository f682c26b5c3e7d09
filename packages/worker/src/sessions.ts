/**
 * A worker as its owner holds it: one session for the handlers of this thread, and one for each pool. The
 * engine gives a session no more jobs than it has room for, so that no job waits for a thread or a process while its timeout runs.
 */
import {
  checkNone,
  type Grant,
  LIMITS,
  type Notice,
  OptionRangeError,
  type StopOptions,
  validateConcurrency,
  validateStopOptions,
  type WorkSettings,
} from '@millrace/core'
import type { Handler } from './define.ts'
import { isModuleHandler, placesOf } from './pools/handler.ts'
import { assertDistinct, assertFits } from './runnables.ts'
import type { SessionOptions } from './sessionOptions.ts'
import { WorkerSession } from './worker.ts'

export type WorkerOptions = SessionOptions

/** A worker that `engine.work` has started. */
export class Worker {
  /** The worker's public name. */
  readonly id: string
  readonly #sessions: readonly WorkerSession[]
  readonly #parts: readonly (readonly Handler[])[]
  readonly #settings: WorkSettings
  #concurrency: number

  constructor(options: WorkerOptions) {
    const { handlers, settings } = options
    assertDistinct(handlers.map(({ definition: { name } }) => name))
    this.#settings = settings
    this.#concurrency = settings.maxConcurrency
    this.#parts = parts(handlers)
    const [first, ...others] = this.#parts.map((part) => ({ ...options, handlers: part, settings: roomFor(part, settings) }))
    const head = new WorkerSession(first as SessionOptions)
    this.id = head.id
    this.#sessions = [head, ...others.map((part) => new WorkerSession({ ...part, settings: { ...part.settings, id: head.id } }))]
  }

  /** The session of the handlers of this thread, or of the only pool. */
  get session(): string {
    return (this.#sessions[0] as WorkerSession).session
  }

  /** All sessions, as events name them. */
  get sessions(): readonly string[] {
    return this.#sessions.map(({ session }) => session)
  }

  /** The number of jobs that it runs, or whose outcome is not answered yet. */
  get running(): number {
    return this.#sum(({ running }) => running)
  }

  /** The number of runs that have ignored their abort for the whole grace and still run. */
  get zombies(): number {
    return this.#sum(({ zombies }) => zombies)
  }

  /**
   * Resolves when the engine has accepted this worker. Rejects if the engine refuses it (`ForbiddenError`: the token serves other names or
   * queues), or if it stops before that (`EngineStoppedError`). You need not await it: a refusal is logged as well.
   */
  get ready(): Promise<void> {
    return this.#all(({ ready }) => ready)
  }

  /** Resolves when the worker has stopped, for whatever reason. */
  get stopped(): Promise<void> {
    return this.#all(({ stopped }) => stopped)
  }

  /** @internal The moment, on its clock, after which its stop waits for no answer. */
  get deadlineMono(): number {
    return Math.max(...this.#sessions.map(({ deadlineMono }) => deadlineMono))
  }

  /** Reports to the engine what its sessions serve and hold: at the start, and again after any break. */
  attach(): void {
    for (const session of this.#sessions) session.attach()
  }

  /** Handles a new connection: each session attaches there before anything else is said about its runs. */
  reopened(): void {
    for (const session of this.#sessions) session.reopened()
  }

  take(grant: Grant): void {
    this.#of(grant)?.take(grant)
  }

  notice(notice: Extract<Notice, { session: string }>): void {
    this.#of(notice)?.notice(notice)
  }

  lapsed(ms: number): void {
    for (const session of this.#sessions) session.lapsed(ms)
  }

  /** True while it is paused, by its own `pause`. */
  get paused(): boolean {
    return this.#sessions.some(({ paused }) => paused)
  }

  /** The weight of the jobs that may run at a time, as `work` or `setConcurrency` set it last. */
  get concurrency(): number {
    return this.#concurrency
  }

  /**
   * Pauses this worker alone: it takes no jobs until `resume`, and running jobs continue. Jobs that it holds for a batch or for a place in a pool
   * are given back, without using an attempt. Resolves when no further handler is called here. The pause outlasts reconnects and restarts
   * of the engine, and ends with the worker. Rejects if the engine has stopped.
   */
  async pause(): Promise<void>
  async pause(...given: unknown[]): Promise<void> {
    checkNone('worker.pause', given, 'queues.pause(name, { for }) pauses a queue for a time')
    return this.#all((session) => session.adjust({ paused: true }))
  }

  /** Ends a pause. Resolves when the engine hands out jobs to this worker again. Rejects if the engine has stopped. */
  async resume(): Promise<void>
  async resume(...given: unknown[]): Promise<void> {
    checkNone('worker.resume', given, 'queues.resume(name, { job, key }) resumes a queue, or a part of it')
    return this.#all((session) => session.adjust({ paused: false }))
  }

  /**
   * Changes the weight of the jobs that may run at a time: 1 to 100,000, as the option `concurrency` of `work`. Resolves when the engine
   * acts by it. Above the new number, running jobs continue, and none is added before there is room. A pool has room for its
   * `threads` or `processes` at most. Rejects with OptionRangeError if a batch could never be full, or if pools have no room for that many.
   */
  async setConcurrency(concurrency: number): Promise<void> {
    const settings = { ...this.#settings, ...validateConcurrency(concurrency) }
    for (const handler of this.#parts.flat()) if (handler.kind === 'batch') assertFits(handler, settings)
    const rooms = this.#parts.map((part) => roomFor(part, settings))
    assertUsed(concurrency, this.#parts, rooms)
    const before = this.#concurrency
    this.#concurrency = concurrency
    try {
      await Promise.all(
        rooms.map(({ minConcurrency, maxConcurrency }, index) => this.#sessions[index]?.adjust({ minConcurrency, maxConcurrency })),
      )
    } catch (error) {
      if (this.#concurrency === concurrency) this.#concurrency = before
      throw error
    }
  }

  /**
   * Takes no more jobs, and lets the running ones finish for `timeout` (default 30 s). Then it aborts them and gives back
   * the unfinished ones, without using an attempt. Resolves when nothing of it runs: at most a second after `timeout`,
   * even if the engine does not answer. Aborted handlers have `abortGrace` in addition. A further call can shorten the
   * timeout, but not extend it.
   */
  stop(options?: StopOptions): Promise<void> {
    validateStopOptions(options)
    return this.#all((session) => session.stop(options))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Handles the permanent end of the engine: running jobs are aborted, and the worker stops as soon as they have ended. */
  abandon(reason: Error): void {
    for (const session of this.#sessions) session.abandon(reason)
  }

  #of({ session: uuid }: { readonly session: string }): WorkerSession | undefined {
    return this.#sessions.find(({ session }) => session === uuid)
  }

  #sum(count: (session: WorkerSession) => number): number {
    return this.#sessions.reduce((sum, session) => sum + count(session), 0)
  }

  async #all(promised: (session: WorkerSession) => Promise<void>): Promise<void> {
    await Promise.all(this.#sessions.map(promised))
  }
}

/**
 * Returns handlers grouped by session: those of this thread, and those of each pool. The former come first: a wrong batch
 * starts no thread.
 */
function parts(handlers: readonly Handler[]): readonly (readonly Handler[])[] {
  const byPool = Map.groupBy(handlers, (handler) => (isModuleHandler(handler) ? handler.key : ''))
  return [...byPool].sort(([one], [other]) => Number(one !== '') - Number(other !== '')).map(([, part]) => part)
}

/** Returns settings with room for a job in each place of a pool, and for the jobs that its `prefetch` lets wait for one. */
function roomFor([handler]: readonly Handler[], settings: WorkSettings): WorkSettings {
  if (handler === undefined || !isModuleHandler(handler)) return settings
  const room = Math.min(settings.maxConcurrency, placesOf(handler) + handler.settings.prefetch, LIMITS.concurrency)
  return { ...settings, maxConcurrency: room, minConcurrency: Math.min(settings.minConcurrency, room) }
}

/** Checks that a number above the room of its pools has an effect: only handlers of this thread can use it. */
function assertUsed(concurrency: number, handlers: readonly (readonly Handler[])[], rooms: readonly WorkSettings[]): void {
  const most = Math.max(...rooms.map(({ maxConcurrency }) => maxConcurrency))
  if (concurrency <= most || handlers.some(([first]) => first !== undefined && !isModuleHandler(first))) return
  throw new OptionRangeError(
    'concurrency',
    most,
    `concurrency (${concurrency}) must be at most ${most}, the room of this worker's pools: start it with more threads, thread(url, { threads }), or processes, childProcess(url, { processes })`,
  )
}
