/** The context of a handler: one object per run, whose costly parts are created when they are asked for. */
import {
  CancelJobError,
  choiceOption,
  DiscardedError,
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
  type RunKey,
  type StepsChangedError,
  validateSnoozeOptions,
  type WorkerStoppedError,
} from '@millrace/core'
import type { Context, Mistake, Parent, Progress } from './handlerContext.ts'
import { infoOf, type JobInfo } from './jobInfo.ts'
import type { JobOrName, JobRequest, JobType } from './jobType.ts'
import { assertJoinable, type JobsToJoin, JoinSignal, jobsToJoin } from './join.ts'
import { checkSchema } from './schema.ts'
import type { Settlement } from './settlement.ts'
import { shownJson } from './shownJson.ts'
import { SnoozeSignal } from './snoozeSignal.ts'
import type { ReplayHooks } from './steps/hooks.ts'
import type { StepsLink } from './steps/replay.ts'
import { RunSteps } from './steps/runSteps.ts'
import type { WaitSignal } from './steps/waitSignal.ts'

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
  setTimer(ms: number, call: () => void): () => void
  /** Calls back in a macrotask of its own; by default one of this process. */
  readonly afterTurn?: ((call: () => void) => void) | undefined
  /** The durable calls of a run. */
  steps(run: RunContext): StepsLink
  readonly replay?: ReplayHooks | undefined
}

/** Passes jobs through middleware to `send`. */
export type AroundEnqueue = (
  requests: readonly JobRequest[],
  send: (requests: readonly JobRequest[]) => void | Promise<void>,
) => Promise<void>

/** The end of a run that counts whatever its handler throws or returns. */
type Ending = SnoozeSignal | JoinSignal | NonRetryableError | CancelJobError | WaitSignal | StepsChangedError | WorkerStoppedError

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
  #steps: RunSteps | undefined
  #hasRecorded = false
  #suspension: Error | undefined
  /** True if its jobs run with others, and have no durable calls. */
  isInBatch = false
  /** True if the run is given back at its next durable call. */
  isLeaving = false
  /** Called with the end of the run; set before its handler begins. */
  settled: (settlement: Settlement) => void = ignore
  /** Called with the error by which a durable call ends the run: its handler may never settle. */
  failed: (error: unknown) => void = ignore

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
      const reason = this.#abortReason ?? this.#suspension
      if (reason !== undefined) this.#controller.abort(reason)
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

  get step(): Context['step'] {
    return ((name, fn) => unbothered(this.#durable.step(name, fn))) as Context['step']
  }

  get sleep(): Context['sleep'] {
    return (name, until) => unbothered(this.#durable.sleep(name, until))
  }

  get waitFor(): Context['waitFor'] {
    return ((message: string, options?: object) => unbothered(this.#durable.waitFor(message, options))) as Context['waitFor']
  }

  get changed(): Context['changed'] {
    return (name) => unbothered(this.#durable.changed(name))
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
      const progress: Progress = {
        fraction,
        ...(note !== undefined && { note: String(note).slice(0, LIMITS.logMessageLength) }),
        ...(given !== undefined && { value: encodeProgress(given) }),
      }
      this.#fraction = fraction
      if (!this.#isHeld(progress)) this.report(progress)
    } catch (error) {
      this.complain('value', `${(error as Error).message}; the report is ignored`)
    }
  }

  #addLine(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    choiceOption('level', level, LEVELS)
    const text = String(message).slice(0, LIMITS.logMessageLength)
    const line: LogLine = { at: this.#link.now(), level, message: text, ...(fields !== undefined && { fields: fieldsText(fields) }) }
    if (!this.#isHeld(line)) this.addLines([line])
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

  /** The number of the attempt: the attempts begin again with each recorded result. */
  get attempt(): number {
    return this.#hasRecorded ? 1 : this.grant.attempt
  }

  noteResult(): void {
    this.#hasRecorded = true
  }

  get #durable(): RunSteps {
    if (this.isInBatch)
      throw new OptionTypeError('handler', 'a handler of batches has no step, sleep, waitFor or changed: take one job at a time')
    this.#steps ??= new RunSteps(this, this.#link, () => this.#link.steps(this))
    return this.#steps
  }

  /** True for a report that is not stored, or not yet. A first run repeats nothing. */
  #isHeld(report: LogLine | Progress): boolean {
    return this.grant.run > 1 && !this.isInBatch && this.#durable.holds(report)
  }

  /** Gives the job back at the handler's next durable call. */
  leave(): void {
    this.isLeaving = true
    this.#steps?.leave()
  }

  /** Looks for a message that has come for the run's open waits. */
  messaged(): void {
    this.#steps?.messaged()
  }

  /** Aborts the signal of a handler that does not continue, since its run is over. */
  suspend(reason: Error): void {
    this.#suspension ??= reason
    this.#controller?.abort(reason)
  }

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

  set ending(ending: Ending) {
    this.#ending = ending
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
  promise.catch(ignore)
  return promise
}

function ignore(): void {}

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
