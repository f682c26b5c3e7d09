/** The public interface of a queue, the same for every kind of Port. */
import {
  type Enqueued,
  type EventsOptions,
  errorFrom,
  type FileUrl,
  type FlowOptions,
  type JobRef,
  nameOption,
  type Port,
  pathOption,
  type Refusal,
  type StopOptions,
  UnsupportedError,
  type UpdateOptions,
  validateEventsOptions,
  validateStopOptions,
  validateUpdateOptions,
  validateWorkOptions,
  type WorkOptions,
} from '@millrace/core'
import {
  type EnqueueArguments,
  type Handler,
  type JobOrName,
  type JobRequest,
  type JobType,
  type Middleware,
  middlewareOption,
  type OutputOf,
  type Stored,
  type Worker,
  within,
} from '@millrace/worker'
import { Changes } from './changes.ts'
import { ENQUEUED, tellEnqueued } from './channels.ts'
import { JobChecks } from './checks.ts'
import { Connectivity } from './connectivity.ts'
import { deliver } from './deliver.ts'
import { type Enqueue, enqueueMany, type JobHandles, type JobList, type JobRequests, type JobStream } from './enqueueMany.ts'
import {
  type Batch,
  type BatchCallbacks,
  type BatchWithCallbacks,
  type CallbackHandles,
  type CheckedCallbacks,
  createBatch,
  createFlow,
  type Flow,
  type FlowHandles,
  type FlowNodeRequest,
  type FlowNodes,
} from './flow.ts'
import { Flows } from './flows.ts'
import { Exports, followEvents } from './following.ts'
import { type SourceLine, sourceLine } from './forwarding/sourceLine.ts'
import { type HandleMessages, type HandleOutput, JobHandle } from './handle.ts'
import { callAbout, keyOf } from './jobKey.ts'
import type { EventStream } from './journalStream.ts'
import { type EventListener, type EventName, type GapListener, Listeners } from './listeners.ts'
import { Mailbox } from './mailbox.ts'
import { newJobOf } from './newJobs.ts'
import { assertOffered } from './offered.ts'
import { PayloadCodec } from './payloadCodec.ts'
import { Queues } from './queues.ts'
import { Schedules } from './schedules.ts'
import { boundedBy, type EngineSetup } from './setup.ts'
import { enqueueManyThrough, through } from './throughMiddleware.ts'
import { Unserved } from './unserved.ts'
import { handlersOf, Workers } from './workers.ts'

const STOPPED: Refusal = { code: 'ENGINE_STOPPED', message: 'the engine was stopped: open it again to continue' }

/** An engine, wherever it runs: in this process, in another one, or behind a socket. `openEngine` and `connect` return it. */
export class Engine extends Changes {
  /** Limits, rates, pauses and settings of queues. */
  readonly queues: Queues
  /** The schemas that jobs are checked against wherever they enter through this process. */
  readonly checks: JobChecks
  /** The progress of flows. */
  readonly flows: Flows
  /** Exports of finished jobs, before retention removes them. */
  readonly exports: Exports
  /** @internal The servers that `listen` has opened for this engine: they close with it. */
  readonly servers = new Set<{ close(): Promise<void> }>()
  /** @internal Aborted when a stop begins, before servers around the engine close: they wait for streams, which end at it. */
  readonly leaving = new AbortController()
  readonly #port: Port
  readonly #setup: EngineSetup
  /** Recurring jobs, by cron expressions or at intervals. */
  readonly schedules: Schedules
  readonly #mailbox: Mailbox
  readonly #listeners: Listeners
  readonly #codec: PayloadCodec | undefined
  /** The mailbox, with checks and the codec in between. */
  readonly #calls: Pick<Mailbox, 'call'>
  readonly #workers: Workers
  readonly #unserved: Unserved | undefined
  readonly #middleware: Middleware[] = []
  #stopping: Promise<void> | undefined
  readonly #connectivity = new Connectivity()
  /** The reason for which the Port has ended. */
  #end: Refusal | undefined
  #closed = false

  /** @internal Call `openEngine` instead. */
  constructor(port: Port, given: EngineSetup) {
    const mailbox = new Mailbox(port, given.clock.afterTurn)
    const setup = boundedBy(port, given)
    const codec = setup.codec && new PayloadCodec(setup.codec, setup.maxDataBytes)
    super({ mailbox, codec, port })
    this.#port = port
    this.#setup = setup
    this.#mailbox = mailbox
    this.queues = new Queues(this.#mailbox, setup.clock)
    this.flows = new Flows(this.#mailbox)
    this.#codec = codec
    this.exports = new Exports(this.#mailbox, () => this.#assertOpen(), setup.clock, this.#codec)
    this.checks = setup.checks ?? new JobChecks()
    this.#calls = this.checks.around(this.#codec?.around(this.#mailbox) ?? this.#mailbox)
    this.schedules = new Schedules(this.#calls, setup, this.#handleOf)
    this.#workers = new Workers(setup, this.#mailbox, this.#calls, this.#codec)
    this.#listeners = new Listeners(this.#mailbox, setup.logger)
    this.#unserved = Unserved.open(setup, () => this.stats({ names: 'none', definitions: 'disputed' }))
    port.listen({
      deliver: (delivery) => deliver(delivery, { mailbox: this.#mailbox, listeners: this.#listeners, workers: this.#workers }),
      broken: (refusal) => {
        // A server, or another owner of the file, may be there in a second or never: `stop` does not wait for it.
        if (!setup.local || refusal.code === 'CONNECTION_LOST') this.#connectivity.lost()
        this.#mailbox.break(refusal)
      },
      reopened: () => {
        this.#connectivity.regained()
        this.#mailbox.mend(() => {
          this.#workers.reopened()
          this.#listeners.renew()
        })
      },
      lapsed: (ms) => this.#workers.lapsed(ms),
      ended: (refusal) => this.#ended(refusal),
    })
    port.hold(false)
    setup.intake?.start((command) => this.#mailbox.call<'forward'>(this.checks.checked(command)))
  }

  // Middleware.

  /**
   * Adds middleware: code around every enqueue of this engine, and around every run of the workers that it starts from then on. The one
   * that was added first is the outermost.
   *
   * @example
   * ```ts
   * engine.use({
   *   enqueue: (jobs, next) => next(jobs.map((job) => ({ ...job, options: { ...job.options, concurrencyKey: tenant() } }))),
   *   run: ({ job }, next) => metrics.time(job.name, next),
   * })
   * ```
   * @throws OptionTypeError
   */
  use(middleware: Middleware): this {
    this.#middleware.push(middlewareOption(middleware))
    return this
  }

  // Producing.

  /**
   * Creates a job. Resolves when it is committed (with durability 'full': synced).
   *
   * @example
   * ```ts
   * const handle = await engine.enqueue(sendMail, { to: 'ada@example.com' }, { delay: '10m' })
   * const output = await handle.result()
   * ```
   * @throws OptionTypeError, OptionRangeError, ValidationError; BusyError, DiskFullError (retryable);
   * UniqueConflictError, JobActiveError (by `unique.onConflict`); CommitUnknownError if the outcome is unknown
   */
  async enqueue<Input, Output, Messages = unknown>(
    job: JobType<Input, Output, Messages> | string,
    ...[data, options]: EnqueueArguments<Input>
  ): Promise<JobHandle<Stored<Output>, Messages>> {
    if (this.#middleware.length > 0) {
      const request: JobRequest = { job: job as JobOrName, data, ...(options && { options }) }
      const [handle] = await this.enqueueMany([request])
      return handle as JobHandle<Stored<Output>, Messages>
    }
    const wanted = newJobOf(job, data, options, this.#setup.maxDataBytes)
    const taken = [wanted instanceof Promise ? await wanted : wanted]
    return this.#handle<Stored<Output>, Messages>((await this.#enqueue(taken))[0] as Enqueued)
  }

  /**
   * Creates many jobs and returns their handles, which all stay in memory. An array is all or nothing: up to 10,000 jobs and 16 MiB.
   * Any other iterable is read as its jobs are committed, in chunks of 1,000 that are all or nothing each. An error that ends it early
   * has `committed`, the number of jobs created.
   *
   * @example
   * ```ts
   * await engine.enqueueMany(people.map((to) => ({ job: sendMail, data: { to } })))
   * ```
   */
  async enqueueMany<Job extends JobOrName>(jobs: JobStream<Job>): Promise<readonly JobHandle<OutputOf<Job>>[]>
  async enqueueMany<const Jobs extends readonly JobOrName[]>(jobs: JobList<Jobs>): Promise<JobHandles<Jobs>>
  async enqueueMany(jobs: JobRequests): Promise<readonly JobHandle[]> {
    const send = (requests: JobRequests) => enqueueMany(this.#enqueue, requests, this.#setup.maxDataBytes)
    const created = await (this.#middleware.length === 0 ? send(jobs) : enqueueManyThrough(this.#middleware, jobs, send))
    return created.map((key) => this.#handle(key))
  }

  /**
   * Creates jobs that wait for one another, all or nothing: up to 10,000 jobs, 16 MiB and 50,000 dependencies.
   *
   * @example
   * ```ts
   * await engine.flow([
   *   { ref: 'fetch', job: fetchPage, data: { url } },
   *   { ref: 'index', job: indexPage, data: { url }, dependsOn: ['fetch'] },
   * ])
   * ```
   * @throws OptionTypeError, OptionRangeError: a cycle, a ref that is unknown or given twice, a node with keys of its
   * own; otherwise as `enqueue`
   */
  async flow<const Refs extends readonly string[], const Jobs extends readonly JobOrName[]>(
    nodes: FlowNodes<Refs, Jobs>,
    options?: FlowOptions,
  ): Promise<Flow<FlowHandles<Refs, Jobs>>>
  async flow(nodes: readonly FlowNodeRequest[], options?: FlowOptions): Promise<Flow> {
    const send = (sent: readonly FlowNodeRequest[]) => createFlow(sent, options, this.#setup.maxDataBytes, this.#calls, this.#handleOf)
    return through(this.#middleware, nodes, send, 'flow')
  }

  /** Creates up to 9,999 jobs, and a callback that runs once all of them have ended in any state, and sees which have failed. */
  async batch<const Jobs extends readonly JobOrName[], Callback extends JobOrName>(
    jobs: JobList<Jobs>,
    callback: JobRequest<Callback>,
    options?: FlowOptions,
  ): Promise<Batch<JobHandles<Jobs>, OutputOf<Callback>>>
  /** Creates jobs, and callbacks that run by how these end. Up to 10,000 jobs in all. */
  async batch<const Jobs extends readonly JobOrName[], const Callbacks extends BatchCallbacks>(
    jobs: JobList<Jobs>,
    callbacks: Callbacks & CheckedCallbacks<Callbacks>,
    options?: FlowOptions,
  ): Promise<BatchWithCallbacks<JobHandles<Jobs>, CallbackHandles<Callbacks>>>
  async batch(jobs: readonly JobRequest[], after: JobRequest | BatchCallbacks, options?: FlowOptions): Promise<Batch | BatchWithCallbacks> {
    return createBatch(jobs, after, (nodes) => this.flow(nodes as FlowNodes<[], []>, options))
  }

  // Working.

  /**
   * Starts a worker for the handlers' jobs, in every queue unless `queues` names some. An existing worker with the same
   * `id` is drained and replaced.
   *
   * @example
   * ```ts
   * const worker = engine.work([sendMail.handler(({ data }) => deliver(data.to))], { concurrency: 16 })
   * ```
   */
  work(handlers: readonly Handler[] | Handler, options?: WorkOptions): Worker {
    assertOffered(this.#port, 'work')
    const list = handlersOf(handlers)
    this.#assertOpen()
    return this.#workers.start(list, validateWorkOptions(options), [...this.#middleware])
  }

  // Reading.

  /**
   * Returns a handle of a job that was enqueued elsewhere or earlier, for its `result` and its messages. `handle<typeof resize>(id)` gives
   * the type of its output. Throws JobNotFoundError if the id is malformed.
   */
  handle<Type = unknown>(id: string): JobHandle<HandleOutput<Type>, HandleMessages<Type>> {
    return this.#handleOf({ ...keyOf(id), created: false }) as JobHandle<HandleOutput<Type>, HandleMessages<Type>>
  }

  /**
   * Makes every worker with that id, in any process, stop as by its own `stop` with that `timeout` (default 30 s).
   * Resolves when it gets no more jobs; `workers()` lists it until it has left. A worker that is away stops when it comes
   * back. If it was taken for lost meanwhile (`worker.lost`), or the engine was restarted, call this again. Throws
   * WorkerNotFoundError.
   */
  async stopWorker(id: string, options?: StopOptions): Promise<void> {
    await this.#mailbox.call<'stopWorker'>({ op: 'stopWorker', worker: nameOption('id', id), timeout: validateStopOptions(options) })
  }

  /** Changes a job, which its id or a key names: its tags and meta in any state, the rest before it has started. */
  async update(job: JobRef, changes: UpdateOptions): Promise<void> {
    await callAbout(this.#calls, 'update', job, { changes: validateUpdateOptions(changes, this.#setup.maxDataBytes) })
  }

  // Listening.

  /**
   * Calls `listener` for each event of that type ('*' for all) after its commit. 'gap' reports the events that a listener
   * misses because it is 20,000 behind.
   */
  on<Name extends EventName>(event: Name, listener: EventListener<Name>): this
  on(event: 'gap', listener: GapListener): this
  on(event: EventName | 'gap', listener: EventListener | GapListener): this {
    assertOffered(this.#port, 'events')
    this.#listeners.add(event, listener, false)
    return this
  }

  once<Name extends EventName>(event: Name, listener: EventListener<Name>): this
  once(event: 'gap', listener: GapListener): this
  once(event: EventName | 'gap', listener: EventListener | GapListener): this {
    assertOffered(this.#port, 'events')
    this.#listeners.add(event, listener, true)
    return this
  }

  off<Name extends EventName>(event: Name, listener: EventListener<Name>): this
  off(event: 'gap', listener: GapListener): this
  off(event: EventName | 'gap', listener: EventListener | GapListener): this {
    this.#listeners.remove(event, listener)
    return this
  }

  /**
   * Returns all events after a cursor, from the journal and then as they are committed. None is missing or repeated,
   * whatever breaks in between. If the journal has dropped some, a `gap` takes their place. Reads only as fast as its
   * caller, and keeps one page.
   *
   * @throws OptionTypeError, OptionRangeError; while it is read, the error that ended it: EngineStoppedError,
   * EngineFailedError, the reason of `signal`
   */
  events(options?: EventsOptions): EventStream {
    const settings = validateEventsOptions(options)
    assertOffered(this.#port, 'events')
    this.#assertOpen()
    return followEvents(this.#mailbox, settings, this.#setup.clock)
  }

  // The engine as a whole.

  /** Writes a copy of the database to a new file, a path or a `file:` URL, while the engine continues to work. */
  backup(file: string | FileUrl): Promise<{ readonly bytes: number }> {
    assertOffered(this.#port, 'backup')
    return this.#mailbox.call<'backup'>({ op: 'backup', file: pathOption('file', file) })
  }

  /** Returns a MessagePort for another thread, which passes it to `attach`, once. */
  port(): unknown {
    if (this.#setup.openChannel === undefined) throw new UnsupportedError('port() is not offered by this kind of connection')
    this.#assertOpen()
    return this.#setup.openChannel()
  }

  /** @internal Returns the part of the engine that an outbox needs. */
  sourceLine(): SourceLine {
    return sourceLine(this.#setup, this.checks, this.#mailbox, this.#codec, this.#connectivity)
  }

  /** @internal Reports that the processes of these sessions, which were a server's clients, are dead. */
  declareDead(sessions: readonly string[]): void {
    this.#setup.declareDead?.(sessions)
  }

  /** @internal Opens another Port of this thread to the same engine, which a server gives to a connection. */
  openPort(): Port {
    if (this.#setup.openPort === undefined) throw new UnsupportedError('this kind of connection cannot be shared further')
    this.#assertOpen()
    return this.#setup.openPort()
  }

  /**
   * Stops its workers (as `worker.stop`, with the same `timeout`), lets open calls be answered, and closes its servers and itself. An engine
   * of another process has `timeout` plus one second for all answers. Unanswered calls then throw CommitUnknownError, later ones EngineStoppedError.
   */
  stop(options?: StopOptions): Promise<void> {
    validateStopOptions(options)
    if (this.#stopping === undefined && this.#setup.leave?.() === false) return Promise.resolve()
    this.#stopping ??= this.#stop(options)
    return this.#stopping
  }

  close(options?: StopOptions): Promise<void> {
    return this.stop(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #stop(options?: StopOptions): Promise<void> {
    const { clock, intake } = this.#setup
    this.leaving.abort()
    const deadlineMono = await this.#workers.stop(options)
    // An engine of this process answers every call, however long its disk takes. One of another process may never answer again.
    const leftMs = () => (this.#port.distant === true ? Math.max(0, deadlineMono - clock.read().mono) : Number.POSITIVE_INFINITY)
    await within(clock, leftMs(), Promise.race([this.#answered(), new Promise<void>((resolve) => this.#connectivity.whenAway(resolve))]))
    await Promise.allSettled([...this.servers].map((server) => server.close()))
    // Close the intake first, so that it does not repeat the calls that it has under way.
    const closed = intake?.close()
    this.#mailbox.end({ code: 'COMMIT_UNKNOWN', message: 'the engine was stopped before it answered' }, STOPPED)
    await Promise.all([this.#port.close(leftMs()), closed])
    this.#letGo()
  }

  async #answered(): Promise<void> {
    await this.#setup.intake?.forwarded()
    // A question about no request (ids begin at 1), sent after all earlier calls: its answer comes after all others of the writer.
    await this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: 0 }).catch(() => {})
    await this.#mailbox.answered()
  }

  #ended(refusal: Refusal): void {
    this.#end = refusal
    this.#connectivity.lost()
    // If closing fails, the caller of `stop` gets the error.
    this.#setup.intake?.close(refusal).catch(() => {})
    this.#mailbox.end({ code: 'COMMIT_UNKNOWN', message: refusal.message }, refusal)
    this.#workers.abandon(errorFrom(refusal))
    this.#letGo()
    if (this.#stopping === undefined) this.#setup.logger?.error('the engine has ended', { code: refusal.code, message: refusal.message })
  }

  /** Runs once: by now the same file may be open again. */
  #letGo(): void {
    if (this.#closed) return
    this.#closed = true
    this.#unserved?.close()
    this.#setup.closed?.()
  }

  readonly #enqueue: Enqueue = async (plain) => {
    const { intake } = this.#setup
    this.checks.assert({ op: 'enqueue', jobs: plain })
    this.#unserved?.note(plain)
    const jobs = this.#codec?.encodeJobs(plain) ?? plain
    const created = await (intake === undefined ? this.#mailbox.call<'enqueue'>({ op: 'enqueue', jobs }) : intake.append(jobs))
    if (ENQUEUED.hasSubscribers) tellEnqueued(plain, created)
    return created
  }

  /** Returns the handle of a job that no journal takes. */
  readonly #handleOf = (key: Enqueued): JobHandle => new JobHandle(key, this.#mailbox, this.#setup.clock, undefined, this.#codec)

  #handle<Output, Messages = unknown>(key: Enqueued): JobHandle<Output, Messages> {
    const { clock, intake } = this.#setup
    return new JobHandle<Output, Messages>(key, this.#mailbox, clock, intake && (() => intake.settled(key)), this.#codec)
  }

  #assertOpen(): void {
    const over = this.#stopping === undefined ? this.#end : STOPPED
    if (over !== undefined) throw errorFrom(over)
  }
}
