/** Calls that read what the engine reports of itself, and the one that stops a worker of that report. */
import {
  type FailuresOptions,
  type HistoryOptions,
  nameOption,
  type Percentiles,
  type QueuesHistoryOptions,
  type Stats,
  type StatsOptions,
  type StopOptions,
  validateStatsOptions,
  validateStopOptions,
} from '@millrace/core'
import { type WorkerView, workersOf } from './attached.ts'
import { Changes } from './changes.ts'
import type { Mailbox } from './mailbox.ts'
import { type Failures, type QueuesHistory, readFailures, readHistory, type Throughput } from './observed.ts'

export abstract class Reports extends Changes {
  readonly #mailbox: Mailbox

  constructor(mailbox: Mailbox) {
    super(mailbox)
    this.#mailbox = mailbox
  }

  /** Returns counts by state and queue, in time that does not depend on the number of jobs. */
  stats(options: StatsOptions & { readonly names?: 'histograms' }): Promise<Stats>
  stats(options: StatsOptions): Promise<Stats<Percentiles>>
  stats(): Promise<Stats>
  async stats(options?: StatsOptions): Promise<Stats<Percentiles>> {
    return this.#mailbox.call<'stats'>(validateStatsOptions(options))
  }

  /**
   * Returns what a queue has done in each minute of the last 6 hours, or in each hour of the last 14 days, across
   * restarts. Minutes or hours in which nothing happened are left out.
   */
  history(options?: HistoryOptions): Promise<readonly Throughput[]>
  /**
   * With `queues: '*'`, returns what all queues have done, added up, and the busiest of them one by one: an array for each
   * count, in which minutes or hours without any are 0.
   *
   * @throws UnsupportedError if the engine is of a version before this one
   */
  history(options: QueuesHistoryOptions): Promise<QueuesHistory>
  history(options?: HistoryOptions | QueuesHistoryOptions): Promise<readonly Throughput[] | QueuesHistory> {
    return readHistory(this.#mailbox, options)
  }

  /**
   * Returns failed runs grouped by kind, the most recent first. The last 1,000 kinds of the last 30 days are kept. The
   * message of a kind's last job is available for as long as that job is kept.
   */
  failures(options?: FailuresOptions): Promise<readonly Failures[]> {
    return readFailures(this.#mailbox, options)
  }

  /** Returns all attached workers. */
  workers(): Promise<readonly WorkerView[]> {
    return workersOf(this.#mailbox)
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
}
