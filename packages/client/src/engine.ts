/** The public interface of a queue: the same whatever stands behind the Port. */
import {
  type Capability,
  type Clock,
  type Delivery,
  type Enqueued,
  errorFrom,
  type FlowOptions,
  formatCursor,
  formatId,
  type JobKey,
  JobNotFoundError,
  type ListOptions,
  type Logger,
  type Notice,
  OptionTypeError,
  type Port,
  parseId,
  type RedriveOptions,
  type Refusal,
  type Stats,
  type StopOptions,
  type TreeOptions,
  UnsupportedError,
  type UpdateOptions,
  validateListOptions,
  validateStopOptions,
  validateTreeOptions,
  validateUpdateOptions,
  validateWorkOptions,
  type WorkerView,
  type WorkOptions,
} from '@millrace/core'
import { type EnqueueArguments, type Handler, type JobType, Worker } from '@millrace/worker'
import { type Enqueue, enqueueMany, type JobRequests } from './enqueueMany.ts'
import { type Batch, batchNodes, CALLBACK_REF, type Flow, type FlowNodeRequest, flowCommand } from './flow.ts'
import { JobHandle } from './handle.ts'
import type { Intake } from './intake.ts'
import { type EventListener, type EventName, type GapListener, Listeners } from './listeners.ts'
import { Mailbox } from './mailbox.ts'
import { type JobRequest, newJobOf } from './newJobs.ts'
import { redrive } from './redrive.ts'
import { type Job, jobOf } from './view.ts'

/** How the package that opens an engine sets it up. */
export interface EngineSetup {
  readonly maxDataBytes: number
  readonly clock: Clock
  readonly host: string
  readonly pid: number
  /** Its workers live in the engine's own process, and so need no lease. */
  readonly local: boolean
  readonly logger?: Logger | undefined
  /** A further way to the same engine, for another thread. */
  readonly openChannel?: () => unknown
  /** The same for this thread: what a server hands to a connection. */
  readonly openPort?: () => Port
  /** Tells the engine which worker sessions of a server's clients are dead for certain. */
  readonly bury?: (sessions: readonly string[]) => void
  /** Takes new jobs in the engine's place. */
  readonly intake?: Intake
  /** Asked by each `stop`: false where another part of the process still uses the engine, and it goes on. */
  readonly leave?: () => boolean
  /** Called once, when the Port is closed. */
  readonly closed?: () => void
}

export interface JobPage {
  readonly jobs: readonly Job[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
}

/** Requests are numbered from 1. */
const NO_REQUEST = 0
const STOPPED: Refusal = { code: 'ENGINE_STOPPED', message: 'the engine was stopped: open it again to go on' }

export class Engine {
  readonly #port: Port
  readonly #setup: EngineSetup
  readonly #mailbox: Mailbox
  readonly #listeners: Listeners
  /** By session. */
  readonly #workers = new Map<string, Worker>()
  #stopping: Promise<void> | undefined
  #leave = () => {}
  /** Resolves when the engine is out of reach, or has ended. */
  #gone = this.#untilGone()
  /** Why the Port has ended. */
  #end: Refusal | undefined
  #closed = false

  /** @internal Engines are opened by `openEngine`. */
  constructor(port: Port, setup: EngineSetup) {
    this.#port = port
    this.#setup = setup
    this.#mailbox = new Mailbox(port)
    this.#listeners = new Listeners(this.#mailbox, setup.logger)
    port.listen({
      deliver: (delivery) => this.#deliver(delivery),
      broken: (refusal) => {
        // A server may be back in a second, or never: to stop is not to wait for it.
        if (!setup.local) this.#leave()
        this.#mailbox.break(refusal)
      },
      reopened: () => {
        this.#gone = this.#untilGone()
        this.#mailbox.mend(() => {
          for (const worker of this.#workers.values()) worker.attach()
          this.#listeners.renew()
        })
      },
      lapsed: (ms) => {
        for (const worker of this.#workers.values()) worker.lapsed(ms)
      },
      ended: (refusal) => this.#ended(refusal),
    })
    port.hold(false)
    setup.intake?.start((command) => this.#mailbox.call<'forward'>(command))
  }

  // Producing.

  /**
   * Creates a job; resolves when it is committed (synced, under durability 'full').
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError; BusyError, DiskFullError (retryable); UniqueConflictError,
   * JobActiveError by `unique.onConflict`; CommitUnknownError where the outcome is unknown
   */
  async enqueue<Input>(job: JobType<Input> | string, ...[data, options]: EnqueueArguments<Input>): Promise<JobHandle> {
    const wanted = newJobOf(job, data, options, this.#setup.maxDataBytes)
    const created = await this.#enqueue([wanted instanceof Promise ? await wanted : wanted])
    return this.#handle(created[0] as Enqueued)
  }

  /**
   * Creates many jobs. An array is all or nothing: up to 10,000 jobs and 16 MiB. Iterables and async iterables go in chunks of
   * 1,000, each all or nothing; the error of a failed one has `committed`, the number of jobs that were created before it.
   */
  async enqueueMany(jobs: JobRequests): Promise<readonly JobHandle[]> {
    const created = await enqueueMany(this.#enqueue, jobs, this.#setup.maxDataBytes)
    return created.map((key) => this.#handle(key))
  }

  /**
   * Creates jobs that wait for one another, all or nothing: up to 10,000, 16 MiB, and 50,000 times one that waits for another.
   *
   * @throws OptionTypeError, OptionRangeError: a cycle, a ref that is unknown or given twice, a node with keys of its own; else as enqueue
   */
  async flow<const Ref extends string>(nodes: readonly FlowNodeRequest<Ref>[], options?: FlowOptions): Promise<Flow<Ref>> {
    const { command, refs } = await flowCommand(nodes, options, this.#setup.maxDataBytes)
    const first = await this.#mailbox.call<'flow'>(command)
    const handles = refs.map((_, place) => this.#handleOf({ ...first, seq: first.seq + place }))
    const jobs = Object.fromEntries(refs.map((ref, place) => [ref, handles[place]]))
    return { id: formatId(first), jobs: jobs as Flow<Ref>['jobs'] }
  }

  /**
   * Creates jobs, and one that runs once they all have ended, however: a flow in which it waits for them, and sees which have failed.
   * Up to 9,999 jobs.
   */
  async batch(jobs: readonly JobRequest[], callback: JobRequest, options?: FlowOptions): Promise<Batch> {
    const { id, jobs: handles } = await this.flow(batchNodes(jobs, callback), options)
    return { id, jobs: jobs.map((_, index) => handles[index] as JobHandle), callback: handles[CALLBACK_REF] as JobHandle }
  }

  // Working.

  /**
   * Starts a worker for the handlers' jobs, in every queue unless `queues` names some. A known `id` drains and replaces that
   * worker.
   */
  work(handlers: readonly Handler[] | Handler, options?: WorkOptions): Worker {
    this.#needs('work')
    const { maxDataBytes, clock, host, pid, local, logger } = this.#setup
    const list = Array.isArray(handlers) ? (handlers as readonly Handler[]) : [handlers as Handler]
    if (list.length === 0 || list.some((handler) => handler?.kind !== 'inline' && handler?.kind !== 'thread')) {
      throw new OptionTypeError('handlers', 'work takes handlers, made by definition.handler(function) or definition.thread(url)')
    }
    this.#assertOpen()
    const settings = validateWorkOptions(options)
    const worker = new Worker({
      calls: this.#mailbox,
      handlers: list,
      settings,
      host,
      pid,
      local,
      maxDataBytes,
      clock,
      logger,
      stopped: ({ session }) => {
        if (this.#workers.delete(session)) this.#mailbox.countWorkers(-1)
      },
    })
    for (const former of this.#workers.values()) if (former.id === worker.id) void former.stop()
    this.#workers.set(worker.session, worker)
    this.#mailbox.countWorkers(1)
    worker.attach()
    return worker
  }

  // Asking.

  /** The job, or undefined where there is none of that id. */
  async get(id: string): Promise<Job | undefined> {
    const key = parseId(textOf(id))
    const view = key && (await this.#mailbox.call<'get'>({ op: 'get', id: key }))
    return view ? jobOf(view) : undefined
  }

  /** A page of jobs, newest first. */
  async list(options?: ListOptions): Promise<JobPage> {
    const { filter, limit, before } = validateListOptions(options)
    this.#needs('list')
    const { jobs, next } = await this.#mailbox.call<'list'>({ op: 'list', filter, limit, ...(before !== undefined && { before }) })
    return { jobs: jobs.map(jobOf), next: next === null ? undefined : formatCursor(next) }
  }

  /** Counts by state and queue, in time that does not depend on how many jobs there are. */
  stats(): Promise<Stats> {
    return this.#mailbox.call<'stats'>({ op: 'stats' })
  }

  /** All attached workers. */
  workers(): Promise<readonly WorkerView[]> {
    return this.#mailbox.call<'workers'>({ op: 'workers' })
  }

  // Changing. All throw JobNotFoundError; where it is too late, JobActiveError or JobFinishedError.

  /** A job that has not started is cancelled at once; one that runs has its signal aborted, and ends as cancelled. */
  async cancel(id: string): Promise<'cancelled' | 'cancelling'>
  /** With `descendants`, all that waits for the job in its flow is cancelled too, in bounded steps: also where it is `finished` itself. */
  async cancel(id: string, options?: TreeOptions): Promise<'cancelled' | 'cancelling' | 'finished'>
  async cancel(id: string, options?: TreeOptions): Promise<'cancelled' | 'cancelling' | 'finished'> {
    const op = validateTreeOptions('cancel', options) ? 'cancelTree' : 'cancel'
    return this.#mailbox.call<typeof op>({ op, id: keyOf(id) })
  }

  /** Changes a job that is not running. */
  async update(id: string, changes: UpdateOptions): Promise<void> {
    await this.#mailbox.call<'update'>({ op: 'update', id: keyOf(id), changes: validateUpdateOptions(changes, this.#setup.maxDataBytes) })
  }

  /**
   * Runs a failed or cancelled job again from its first attempt, and one that waits for its retry at once. What has failed because of it
   * in its flow waits for it again; with `descendants`, so does all that waits for it and failed of itself or was cancelled.
   *
   * @throws ParentFailedError where one that it waits for has failed: retry that one
   */
  async retry(id: string, options?: TreeOptions): Promise<void> {
    const op = validateTreeOptions('retry', options) ? 'retryTree' : 'retry'
    await this.#mailbox.call<typeof op>({ op, id: keyOf(id) })
  }

  /** Retries failed jobs, the oldest failure first; answers how many. */
  redrive(options?: RedriveOptions): Promise<{ readonly count: number }> {
    return redrive(this.#mailbox, options)
  }

  /** Makes a scheduled job due now. */
  async runNow(id: string): Promise<void> {
    await this.#mailbox.call<'runNow'>({ op: 'runNow', id: keyOf(id) })
  }

  /** Removes a job that is not running, with all that it has left. */
  async delete(id: string): Promise<void> {
    await this.#mailbox.call<'delete'>({ op: 'delete', id: keyOf(id) })
  }

  // Listening.

  /**
   * Calls `listener` for each event of that type ('*' for all), after its commit. One that falls 20,000 events behind misses some:
   * 'gap' tells which.
   */
  on(event: EventName, listener: EventListener): this
  on(event: 'gap', listener: GapListener): this
  on(event: EventName | 'gap', listener: EventListener | GapListener): this {
    this.#needs('events')
    this.#listeners.add(event, listener, false)
    return this
  }

  once(event: EventName, listener: EventListener): this
  once(event: 'gap', listener: GapListener): this
  once(event: EventName | 'gap', listener: EventListener | GapListener): this {
    this.#needs('events')
    this.#listeners.add(event, listener, true)
    return this
  }

  off(event: EventName, listener: EventListener): this
  off(event: 'gap', listener: GapListener): this
  off(event: EventName | 'gap', listener: EventListener | GapListener): this {
    this.#listeners.remove(event, listener)
    return this
  }

  // The whole.

  /** Writes a copy of the database to a new file, while everything goes on. */
  backup(file: string): Promise<{ readonly bytes: number }> {
    this.#needs('backup')
    return this.#mailbox.call<'backup'>({ op: 'backup', file: textOf(file, 'file') })
  }

  /** A MessagePort for another thread, which hands it to `attach`. */
  port(): unknown {
    if (this.#setup.openChannel === undefined) throw new UnsupportedError('port() is not offered by this kind of connection')
    this.#assertOpen()
    return this.#setup.openChannel()
  }

  /** @internal What a server knows of the processes that were its clients. */
  bury(sessions: readonly string[]): void {
    this.#setup.bury?.(sessions)
  }

  /** @internal A further Port of this thread to the same engine: what a server hands to a connection. */
  openPort(): Port {
    if (this.#setup.openPort === undefined) throw new UnsupportedError('this kind of connection cannot be shared further')
    this.#assertOpen()
    return this.#setup.openPort()
  }

  /**
   * Stops its workers (as `worker.stop`, with the same `timeout`), lets open calls be answered, and closes. Jobs that wait stay.
   * Later calls throw EngineStoppedError.
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
    await Promise.allSettled([...this.#workers.values()].map((worker) => worker.stop(options)))
    await Promise.race([this.#answered(), this.#gone])
    // First, so that what it has under way is not said again.
    const closed = this.#setup.intake?.close()
    this.#mailbox.end({ code: 'COMMIT_UNKNOWN', message: 'the engine was stopped before it answered' }, STOPPED)
    await Promise.all([this.#port.close(), closed])
    this.#letGo()
  }

  async #answered(): Promise<void> {
    await this.#setup.intake?.forwarded()
    // A question after all that was called before: when it is answered, so is everything else that the writer answers.
    await this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: NO_REQUEST }).catch(() => {})
    // Lists come from other threads, and backups take their time.
    await this.#mailbox.answered()
  }

  #deliver({ replies, grants, notices, events }: Delivery): void {
    for (const reply of replies) this.#mailbox.answer(reply)
    // Of runs from before this turn: a job that is lost here may be granted anew below.
    for (const notice of notices) {
      // After what was answered before it has been heard.
      if (notice.kind === 'reattach') queueMicrotask(() => this.#reattach(notice))
      else if (notice.kind === 'gap') this.#listeners.missed(notice)
      else this.#workers.get(notice.session)?.notice(notice)
    }
    for (const grant of grants) {
      const worker = this.#workers.get(grant.session)
      if (worker === undefined) void this.#mailbox.call<'giveBack'>({ op: 'giveBack', seq: grant.seq, run: grant.run }).catch(() => {})
      else worker.take(grant)
    }
    if (events.length > 0) this.#listeners.tell(events)
    this.#mailbox.settle()
  }

  #reattach(notice: Notice & { readonly kind: 'reattach' }): void {
    for (const worker of this.#workers.values()) worker.notice(notice)
  }

  #untilGone(): Promise<void> {
    return new Promise((resolve) => {
      this.#leave = resolve
    })
  }

  #ended(refusal: Refusal): void {
    this.#end = refusal
    this.#leave()
    // Whoever stops the engine hears how that went.
    this.#setup.intake?.close(refusal).catch(() => {})
    this.#mailbox.end({ code: 'COMMIT_UNKNOWN', message: refusal.message }, refusal)
    const reason = errorFrom(refusal)
    for (const worker of this.#workers.values()) worker.abandon(reason)
    this.#letGo()
    if (this.#stopping === undefined) this.#setup.logger?.error('the engine has ended', { code: refusal.code, message: refusal.message })
  }

  /** Once: by now the same file may be open again. */
  #letGo(): void {
    if (this.#closed) return
    this.#closed = true
    this.#setup.closed?.()
  }

  readonly #enqueue: Enqueue = (jobs) => {
    const { intake } = this.#setup
    return intake === undefined ? this.#mailbox.call<'enqueue'>({ op: 'enqueue', jobs }) : intake.append(jobs)
  }

  /** Of jobs that no journal takes. */
  #handleOf(key: Enqueued): JobHandle {
    return new JobHandle(key, this.#mailbox, this.#setup.clock)
  }

  #handle(key: Enqueued): JobHandle {
    const { clock, intake } = this.#setup
    return new JobHandle(key, this.#mailbox, clock, intake && (() => intake.settled(key)))
  }

  #assertOpen(): void {
    const over = this.#stopping === undefined ? this.#end : STOPPED
    if (over !== undefined) throw errorFrom(over)
  }

  #needs(capability: Capability): void {
    if (!this.#port.capabilities.has(capability)) throw new UnsupportedError(`this kind of connection does not offer '${capability}'`)
  }
}

function keyOf(id: string): JobKey {
  const key = parseId(textOf(id))
  if (key === undefined) throw new JobNotFoundError(`there is no job ${id}: that is no id of a job`, { jobId: id })
  return key
}

function textOf(value: string, option = 'id'): string {
  if (typeof value !== 'string' || value.length === 0) throw new OptionTypeError(option, `${option} takes a text, not ${typeof value}`)
  return value
}
