/** Calls that read, and change nothing. */
import {
  type FailuresOptions,
  type GetOptions,
  type HistoryOptions,
  type JobRef,
  type ListOptions,
  type LogsOptions,
  type PayloadName,
  type Percentiles,
  type Port,
  type QueuesHistoryOptions,
  type Stats,
  type StatsOptions,
  type StepsOptions,
  validateGetOptions,
  validateListOptions,
  validateLogsOptions,
  validateStatsOptions,
  validateStepsOptions,
} from '@millrace/core'
import type { JobType } from '@millrace/worker'
import { type WorkerView, workersOf } from './attached.ts'
import { explainJob, type JobExplanation } from './explain.ts'
import { type JobLogs, readLogs } from './logs.ts'
import type { Mailbox } from './mailbox.ts'
import { type Failures, type QueuesHistory, readFailures, readHistory, type Throughput } from './observed.ts'
import { assertOffered } from './offered.ts'
import { type JobPage, readJob, readPage, readPayload } from './page.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { type JobSteps, readSteps } from './steps.ts'
import type { Job, JobOf } from './view.ts'

/** The parts of an engine that reading calls need. */
export interface ReadingParts {
  readonly mailbox: Mailbox
  readonly codec: PayloadCodec | undefined
  readonly port: Pick<Port, 'capabilities'>
}

export abstract class Reading {
  readonly #parts: ReadingParts

  constructor(parts: ReadingParts) {
    this.#parts = parts
  }

  /**
   * Returns the job with that id, or the one that holds that key; undefined if there is none. `get<typeof resize>(id)` gives
   * the types of its data and output; nothing checks them at run time. With `payload`, you get the job without its payloads,
   * or with their beginnings.
   */
  get<Type extends JobType = JobType>(job: JobRef): Promise<JobOf<Type> | undefined>
  get(job: JobRef, options?: GetOptions): Promise<Job | undefined>
  async get(job: JobRef, options?: GetOptions): Promise<Job | undefined> {
    return readJob(this.#parts.mailbox, job, validateGetOptions(options), this.#parts.codec)
  }

  /**
   * Returns one payload of a job as it is stored: JSON as a string, or bytes. Undefined if the job has none. Nothing else of
   * the job is read.
   *
   * @throws JobNotFoundError; CodecError if the codec cannot decode it
   */
  async payload(id: string, name: PayloadName): Promise<string | Uint8Array | undefined> {
    return readPayload(this.#parts.mailbox, id, name, this.#parts.codec)
  }

  /**
   * Returns a page of the log lines of one run, of its last one by default, with all lines that the run keeps (`logLines`).
   *
   * @throws JobNotFoundError, OptionTypeError, OptionRangeError
   */
  async logs(id: string, options?: LogsOptions): Promise<JobLogs> {
    return readLogs(this.#parts.mailbox, id, validateLogsOptions(options))
  }

  /**
   * Returns a page of the results that the durable calls of a job's handler have recorded, with the waits that are open. Both are
   * empty if the handler has made no such calls.
   *
   * @throws JobNotFoundError, OptionTypeError, OptionRangeError
   */
  async steps(id: string, options?: StepsOptions): Promise<JobSteps> {
    return readSteps(this.#parts.mailbox, id, validateStepsOptions(options), this.#parts.codec)
  }

  /**
   * Returns why a job has not ended: each pause, limit, missing worker or other job that keeps it from its start now. Undefined
   * if there is no job with that id.
   *
   * @example
   * ```ts
   * console.log((await engine.explain(id))?.message)   // waits, because queue 'mail' is paused
   * ```
   */
  async explain(id: string): Promise<JobExplanation | undefined> {
    return explainJob(this.#parts.mailbox, id)
  }

  /**
   * Returns a page of jobs, newest first. With `search`, which looks inside jobs, a page may be short or empty and still
   * have a `next`.
   */
  async list(options?: ListOptions): Promise<JobPage> {
    const settings = validateListOptions(options)
    assertOffered(this.#parts.port, 'list')
    return readPage(this.#parts.mailbox, settings, this.#parts.codec)
  }

  /** Returns counts by state and queue, in time that does not depend on the number of jobs. */
  stats(options: StatsOptions & { readonly names?: 'histograms' }): Promise<Stats>
  stats(options: StatsOptions): Promise<Stats<Percentiles>>
  stats(): Promise<Stats>
  async stats(options?: StatsOptions): Promise<Stats<Percentiles>> {
    return this.#parts.mailbox.call<'stats'>(validateStatsOptions(options))
  }

  /**
   * Returns what a queue has done in each minute of the last 6 hours, or in each hour of the last 14 days, across
   * restarts. Minutes or hours in which nothing happened are left out.
   */
  history(options?: HistoryOptions): Promise<readonly Throughput[]>
  /**
   * With `queues: '*'`, returns what all queues have done, added up, and the busiest of them one by one: an array for each
   * count, in which minutes or hours without any are 0.
   */
  history(options: QueuesHistoryOptions): Promise<QueuesHistory>
  history(options?: HistoryOptions | QueuesHistoryOptions): Promise<readonly Throughput[] | QueuesHistory> {
    return readHistory(this.#parts.mailbox, options)
  }

  /**
   * Returns failed runs grouped by kind, the most recent first. The last 1,000 kinds of the last 30 days are kept. The
   * message of a kind's last job is available for as long as that job is kept.
   */
  failures(options?: FailuresOptions): Promise<readonly Failures[]> {
    return readFailures(this.#parts.mailbox, options)
  }

  /** Returns all attached workers. */
  workers(): Promise<readonly WorkerView[]> {
    return workersOf(this.#parts.mailbox)
  }
}
