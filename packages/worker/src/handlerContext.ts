/** The context of a handler as users see it, and its reports. */
import type { CommandOf, Duration, LogLevel, RunError, SnoozeOptions, State, WaitForOptions } from '@millrace/core'
import type { JobInfo } from './jobInfo.ts'
import type { EnqueueArguments, JobOrName, JobType, MessageData, MessageName, OutputOf, Stored } from './jobType.ts'
import type { JobsToJoin } from './join.ts'
import type { StepContext } from './steps/replay.ts'

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

/** The data of a message as its handler gets it: what JSON gives back, and null if it was sent without data. */
export type Received<Value> = unknown extends Value
  ? Value
  : undefined extends Value
    ? Stored<Exclude<Value, undefined>> | null
    : Stored<Value>

/** The job that a handler runs, and what it can report while it runs. */
export interface Context<Data = unknown, Messages = unknown> {
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
  /**
   * Calls the function, stores what it returns, and resolves to the stored value: now, and in every later run.
   * Until the value is stored, a crash or a retry calls the function again: give its `key` to the other side. A name occurs once in a job,
   * and has 1 to 512 characters. The promise of a durable call never settles once its run is over: when the handler has returned, the job
   * sleeps, or another step has failed.
   *
   * @throws StepFailedError if it fails at the last attempt of the job, or with NonRetryableError. Before, a failure ends the run
   * @throws OptionTypeError, OptionRangeError: a name that the handler has asked for before, or a call within a step
   */
  step<Value>(name: string, fn: (context: StepContext) => Value | Promise<Value>): Promise<Stored<Value>>
  /**
   * Resolves after that long, or then. Meanwhile the job sleeps: this run ends, without using an attempt, and a later run comes to the same
   * place. 0 to 100 years.
   */
  sleep(name: string, until: Duration | Date): Promise<void>
  /**
   * Takes the oldest message of that name that was sent to the job, or waits for one. Meanwhile the job sleeps, as with `sleep`. With a
   * `timeout` it resolves to undefined once that has passed; a message without data is null.
   */
  waitFor<Name extends MessageName<Messages>>(
    message: Name,
    options?: WaitForOptions & { readonly timeout?: never },
  ): Promise<Received<MessageData<Messages, Name>>>
  waitFor<Name extends MessageName<Messages>>(
    message: Name,
    options: WaitForOptions,
  ): Promise<Received<MessageData<Messages, Name>> | undefined>
  /** Resolves to false for a job that has passed this place before the call was in the code, and to true for all others. */
  changed(name: string): Promise<boolean>
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
