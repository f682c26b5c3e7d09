/** The context of a handler: one object per run, whose costly parts are created when they are asked for. */
import {
  CancelJobError,
  type CommandOf,
  choiceOption,
  DiscardedError,
  type Duration,
  decodeData,
  describe,
  durationOption,
  type EnqueueOptions,
  encodeData,
  encodeProgress,
  formatId,
  type Grant,
  isError,
  LIMITS,
  type LogLevel,
  type LogLine,
  type NewJob,
  NonRetryableError,
  nameOption,
  newJobFrom,
  OptionRangeError,
  OptionTypeError,
  type ParentsPage,
  type PausePart,
  type RunError,
  type RunKey,
  type SnoozeOptions,
  type State,
  validateSnoozeOptions,
} from '@millrace/core'
import { infoOf, type JobInfo } from './jobInfo.ts'
import type { EnqueueArguments, JobOrName, JobRequest, JobType, OutputOf } from './jobType.ts'
import { assertJoinable, type JobsToJoin, JoinSignal, jobsToJoin } from './join.ts'
import { checkSchema } from './schema.ts'
import { shownJson } from './shownJson.ts'

/** A job that this job has waited for: of the same flow, or one that it has joined. */
export interface Parent<Output = unknown> {
  readonly id: string
  readonly ref: string
  /** The state of the job; `deleted` if it was deleted before it ended. */
  readonly state: State | 'deleted'
  /** The output of a completed job; undefined if the job did not complete, or was deleted since. */
  readonly output: Output | undefined
  /** The error of its last run that failed. */
  readonly error?: RunError
}

/** The job that a handler runs, and what it can report while it runs. */
export interface Context<Data = unknown> {
  readonly data: Data
  readonly job: JobInfo
  /** Aborts on timeout, cancel, a lost lease and stop; the reason is a typed error. */
  readonly signal: AbortSignal
  /**
   * Reports the job's progress: a fraction of 0 to 1, and beside it a note and a JSON value of at most 16 KiB. Another
   * fraction or value is ignored, with a warning. A report replaces the one before it. Cheap: only the last report of a
   * tick is sent, or the last one before the previous report is answered.
   */
  progress(fraction: number, note?: string, value?: unknown): void
  /** Reports an object or an array alone. The fraction stays as this run reported it last, 0 at first. */
  progress(value: object): void
  /** Moves the deadline to at least now + `heartbeatTimeout`. Rejects with StaleRunError if this run is no longer the current one. */
  heartbeat(): Promise<void>
  /** Stores a value durably for the next attempt. It is also a heartbeat. */
  checkpoint(value: unknown): Promise<void>
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
  /**
   * Iterates over the jobs of its flow that this job has waited for, in the order of `dependsOn`. They are read on
   * demand, with one page of them in memory at a time. Failed jobs are included under `onParentFailure: 'continue'`, and
   * left out under `'ignore'`. `parents<typeof resize>()` gives the type of their outputs; nothing checks it at run time.
   */
  parents<Job extends JobType = JobType>(): AsyncIterable<Parent<OutputOf<Job>>>
  /**
   * Returns the parent with that ref; undefined if this job has not waited for such a job, or if it is left out.
   * `parent<typeof resize>('thumb')` gives the type of its output.
   */
  parent<Job extends JobType = JobType>(ref: string): Promise<Parent<OutputOf<Job>> | undefined>
  /**
   * Waits for jobs that this job creates, without holding its place. The first time, the jobs are created and the run ends, in one
   * commit: the job is `blocked` until all of them have ended, in any state. Then its handler runs again from the beginning,
   * without using an attempt, and the same call resolves to them, in their order. `name` distinguishes several joins of one
   * handler. The function is called the first time only. No jobs: nothing is awaited.
   *
   * @throws OptionTypeError, OptionRangeError: over 10,000 jobs or 16 MiB in one join, 100 joins or 50,000 jobs in one job
   */
  join<Job extends JobOrName>(name: string, jobs: JobsToJoin<Job>): Promise<AsyncIterable<Parent<OutputOf<Job>>>>
  /** Creates a job in the same commit as this job's completion, or not at all. */
  enqueue<Input>(job: JobType<Input> | string, ...rest: EnqueueArguments<Input>): void
  /**
   * Ends the run: the job runs again later, without using an attempt. With `pause`, no other job of its queue, name or key starts before
   * then either. An HTTP 429 asks for that: `snooze(retryAfterMs, { pause: 'queue' })`.
   */
  snooze(duration: Duration, options?: SnoozeOptions): never
  /** Ends the run: the job fails permanently. */
  discard(reason: string): never
  /** Ends the run: the job is cancelled. `throw new CancelJobError(reason)` does the same. */
  cancel(reason: string): never
}

/** The mistakes that need not fail a job: a wrong fraction or value of progress, and a wrong answer of a backoff function. */
export type Mistake = 'fraction' | 'value' | 'backoff'

/** A report of progress as it leaves the worker. */
export type Progress = Pick<CommandOf<'progress'>, 'fraction' | 'note' | 'value'>

/** Thrown by `snooze` to end the handler. */
export class SnoozeSignal extends Error {
  override readonly name = 'SnoozeSignal'
  readonly delayMs: number
  readonly pause: PausePart | undefined
  constructor(delayMs: number, pause?: PausePart) {
    super(`snoozed for ${delayMs} ms`)
    this.delayMs = delayMs
    this.pause = pause
  }
}

/** The part of a session that a run's context needs. */
export interface RunLink {
  readonly maxDataBytes: number
  heartbeat(run: RunContext): Promise<void>
  checkpoint(run: RunContext, value: NewJob['data']): Promise<void>
  /** A page of the parents behind a place, up to another; without that, of those that the job has from its flow. */
  parents(run: RunContext, after: number, until?: number): Promise<ParentsPage>
  /** Called when there is progress, or log lines, to take at the end of the tick. */
  dirty(run: RunContext): void
  /** Called when the handler, or a function of its definition, makes a mistake that need not fail the job. */
  complained(run: RunContext, mistake: Mistake, message: string): void
  now(): number
}

/** Passes jobs through middleware to `send`. */
export type AroundEnqueue = (
  requests: readonly JobRequest[],
  send: (requests: readonly JobRequest[]) => void | Promise<void>,
) => Promise<void>

type Ending = SnoozeSignal | JoinSignal | NonRetryableError | CancelJobError

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export class RunContext implements Context {
  readonly grant: Grant
  readonly #link: RunLink
  #data: unknown
  #job: JobInfo | undefined
  #controller: AbortController | undefined
  #abortReason: Error | undefined
  #enqueues: NewJob[] | undefined
  #around: AroundEnqueue | undefined
  #adding: Promise<void>[] | undefined
  /** The name of a join that the handler has begun and not awaited yet. */
  #joining: string | undefined
  #enqueuedBytes = 0
  #progress: Progress | undefined
  #fraction = 0
  #lines: LogLine[] | undefined
  #complaints: Set<Mistake> | undefined
  /** Set if the handler asked to snooze, discard or cancel, whatever it throws or returns in the end. */
  #ending: Ending | undefined

  constructor(grant: Grant, link: RunLink) {
    this.grant = grant
    this.#link = link
  }

  get data(): unknown {
    return this.#data
  }

  get job(): JobInfo {
    this.#job ??= infoOf(this.grant)
    return this.#job
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  // Handlers destructure these, so each is bound. They are created when asked for, since most runs use none.

  get progress(): Context['progress'] {
    return (reported: unknown, note?: string, value?: unknown) => this.#setProgress(reported, note, value)
  }

  get heartbeat(): Context['heartbeat'] {
    return () => unbothered(this.#link.heartbeat(this))
  }

  get checkpoint(): Context['checkpoint'] {
    return (value) => unbothered(this.#link.checkpoint(this, encodeData('checkpoint', value, this.#link.maxDataBytes)))
  }

  get log(): Context['log'] {
    return (level, message, fields) => this.#addLine(level, message, fields)
  }

  get parents(): Context['parents'] {
    return (() => this.#parents()) as Context['parents']
  }

  get parent(): Context['parent'] {
    const read = async (ref: string) => {
      for await (const parent of this.#parents()) if (parent.ref === ref) return parent
      return undefined
    }
    return read as Context['parent']
  }

  get enqueue(): Context['enqueue'] {
    return (job, ...[data, options]) => this.#enqueue(job as JobType | string, data, options)
  }

  get snooze(): Context['snooze'] {
    return (duration, options) => {
      this.#ending = new SnoozeSignal(durationOption('snooze', duration), validateSnoozeOptions(options).pause)
      throw this.#ending
    }
  }

  get join(): Context['join'] {
    const join = (name: string, jobs: JobsToJoin<JobOrName>) => unbothered(this.#join(name, jobs))
    return join as Context['join']
  }

  get discard(): Context['discard'] {
    return (reason) => {
      this.#ending = new NonRetryableError(String(reason), { cause: new DiscardedError(String(reason)) })
      throw this.#ending
    }
  }

  get cancel(): Context['cancel'] {
    return (reason) => {
      this.#ending = new CancelJobError(String(reason))
      throw this.#ending
    }
  }

  // A wrong report is no reason to fail a job that is otherwise well.
  #setProgress(reported: unknown, note: string | undefined, value: unknown): void {
    const isAlone = typeof reported === 'object' && reported !== null
    const fraction = isAlone ? this.#fraction : reported
    if (!(typeof fraction === 'number' && fraction >= 0 && fraction <= 1)) {
      const other = typeof reported === 'number' ? '' : ' or an object'
      this.complain(
        'fraction',
        `progress must be a number from 0 to 1${other}, got ${describe(reported)}; the value is ignored${percentHint(reported)}`,
      )
      return
    }
    const given = isAlone ? reported : value
    try {
      this.report({
        fraction,
        ...(note !== undefined && { note: String(note).slice(0, LIMITS.logMessageLength) }),
        ...(given !== undefined && { value: encodeProgress(given) }),
      })
    } catch (error) {
      this.complain('value', `${(error as Error).message}; the report is ignored`)
    }
  }

  #addLine(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    choiceOption('level', level, LEVELS)
    const text = String(message).slice(0, LIMITS.logMessageLength)
    this.addLines([{ at: this.#link.now(), level, message: text, ...(fields !== undefined && { fields: fieldsText(fields) }) }])
  }

  async #join(name: string, given: JobsToJoin<JobOrName>): Promise<AsyncIterable<Parent>> {
    const group = nameOption('join', name)
    const { joined = [] } = this.grant
    const known = joined.find((each) => each.name === group)
    if (known !== undefined) return this.#parents(known.place - 1, known.place + known.jobs - 1)
    this.#joining = name
    try {
      const requests = typeof given === 'function' ? await given() : given
      assertJoinable(requests, joined)
      if (requests.length > 0) await this.#end(name, requests)
      return this.#parents(0, 0)
    } finally {
      this.#joining = undefined
    }
  }

  /** Ends the run with jobs to wait for. If it has another end already, that one counts. */
  async #end(name: string, requests: readonly JobRequest[]): Promise<never> {
    const take = async (passed: readonly JobRequest[]) => {
      const jobs = await jobsToJoin(passed, this.#link.maxDataBytes)
      this.#ending ??= new JoinSignal(name, jobs)
    }
    await (this.#around === undefined ? take(requests) : this.#around(requests, take))
    throw this.#ending
  }

  async *#parents(from = 0, until?: number): AsyncGenerator<Parent> {
    for (let after: number | null = until === from ? null : from; after !== null; ) {
      const { parents, next }: ParentsPage = await this.#link.parents(this, after, until)
      for (const { ref, state, output, error, ...key } of parents)
        yield { id: formatId(key), ref, state, output: decodeData(output), ...(error !== undefined && { error }) }
      after = next
    }
  }

  #enqueue(job: JobType | string, data: unknown, options: EnqueueOptions | undefined): void {
    if (this.#around === undefined) {
      this.#addJob(job, data, options)
      return
    }
    const added = this.#around([{ job, data, ...(options && { options }) }], ([request]) =>
      request === undefined ? undefined : this.#addJob(request.job, request.data, request.options),
    )
    // The end of the run awaits it.
    added.catch(() => {})
    this.#adding ??= []
    this.#adding.push(added)
  }

  #addJob(job: JobType | string, data: unknown, options: EnqueueOptions | undefined): void {
    const definition = typeof job === 'string' ? undefined : job
    const name = definition?.name ?? nameOption('name', job)
    const checked = definition?.schema === undefined ? undefined : checkSchema(definition.schema, name, data)
    if (checked instanceof Promise) {
      checked.catch(() => {})
      throw new OptionTypeError('schema', `the schema of job '${name}' is asynchronous: await engine.enqueue instead`)
    }
    const added = newJobFrom(name, encodeData('data', data, this.#link.maxDataBytes), options, definition?.defaults)
    this.#enqueues ??= []
    const bytes = this.#enqueuedBytes + (added.data?.length ?? 0)
    if (this.#enqueues.length >= LIMITS.jobsPerCommand || bytes > LIMITS.bytesPerCommand) {
      const message = `one run enqueues up to ${LIMITS.jobsPerCommand} jobs and ${LIMITS.bytesPerCommand} bytes with its completion: split the work into several jobs`
      throw new OptionRangeError('enqueue', LIMITS.jobsPerCommand, message)
    }
    this.#enqueuedBytes = bytes
    this.#enqueues.push(added)
  }

  // For the session alone.

  /** Passes the jobs that the handler enqueues through middleware. */
  set around(around: AroundEnqueue) {
    this.#around = around
  }

  /** Resolves when all jobs that the handler has enqueued have come through; rejects if one was refused. */
  async added(): Promise<void> {
    for (let adding = this.#adding; adding !== undefined; adding = this.#adding) {
      this.#adding = undefined
      await Promise.all(adding)
    }
  }

  set payload(value: unknown) {
    this.#data = value
  }

  get ending(): Ending | undefined {
    return this.#ending
  }

  /** The name of a join that the handler has not awaited. */
  get joining(): string | undefined {
    return this.#joining
  }

  get aborted(): Error | undefined {
    return this.#abortReason
  }

  get enqueues(): readonly NewJob[] | undefined {
    return this.#enqueues
  }

  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }

  /** Reports a mistake once in a run: a loop repeats it, often with other values. */
  complain(mistake: Mistake, message: string): void {
    if (this.#complaints?.has(mistake)) return
    this.#complaints ??= new Set()
    this.#complaints.add(mistake)
    this.#link.complained(this, mistake, message)
  }

  addLines(lines: readonly LogLine[]): void {
    const { logLines: kept = LIMITS.logLinesPerRun } = this.grant
    if (kept === 0) return
    this.#lines ??= []
    this.#lines.push(...lines)
    // Lines beyond those that are kept need not be sent. Cutting them takes as long as there are lines, so it waits for as many again.
    if (this.#lines.length >= 2 * kept) this.#lines = this.#lines.slice(-kept)
    this.#link.dirty(this)
  }

  report(progress: Progress): void {
    this.#fraction = progress.fraction
    this.#progress = progress
    this.#link.dirty(this)
  }

  takeProgress(): Progress | undefined {
    const progress = this.#progress
    this.#progress = undefined
    return progress
  }

  takeLines(): readonly LogLine[] | undefined {
    const { logLines: kept = LIMITS.logLinesPerRun } = this.grant
    const lines = this.#lines
    this.#lines = undefined
    return lines !== undefined && lines.length > kept ? lines.slice(-kept) : lines
  }
}

/** Returns the promise, which rejects for callers that await it. A handler that does not is no reason to end the process. */
function unbothered<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {})
  return promise
}

/** Returns the fields as JSON. Fields that cannot be encoded are no reason to fail a job. */
function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  try {
    return (shownJson(fields) as string).slice(0, LIMITS.logMessageLength)
  } catch (error) {
    return JSON.stringify({ unreadable: isError(error) ? error.message : String(error) })
  }
}

function percentHint(fraction: unknown): string {
  return typeof fraction === 'number' && fraction > 1 && fraction <= 100 ? `: of a percentage give a hundredth, ${fraction / 100}` : ''
}

export function keyOf({ grant: { seq, run } }: RunContext): RunKey {
  return { seq, run }
}
