/** Calls that change jobs by their ids or by a filter. */
import {
  type ManyFilter,
  type ManyOptions,
  type ManyResult,
  type RedriveOptions,
  type TreeOptions,
  validateTreeOptions,
} from '@millrace/core'
import { keyOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { runMany } from './many.ts'
import { runRedrive } from './redrive.ts'

/** Those of one job throw JobNotFoundError if there is none, and JobActiveError or JobFinishedError if it is too late. */
export abstract class Changes {
  readonly #mailbox: Mailbox

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox
  }

  /** A job that has not started is cancelled at once; one that runs has its signal aborted, and ends as cancelled. */
  async cancel(id: string): Promise<'cancelled' | 'cancelling'>
  /** With `descendants`, all that waits for the job in its flow is cancelled too, in bounded steps: also where it is `finished` itself. */
  async cancel(id: string, options?: TreeOptions): Promise<'cancelled' | 'cancelling' | 'finished'>
  async cancel(id: string, options?: TreeOptions): Promise<'cancelled' | 'cancelling' | 'finished'> {
    const op = validateTreeOptions('cancel', options) ? 'cancelTree' : 'cancel'
    return this.#mailbox.call<typeof op>({ op, id: keyOf(id) })
  }

  /**
   * Runs a failed or cancelled job again from its first attempt, and one that waits for its retry at once. What has failed because of it
   * in its flow waits for it again; with `descendants`, so does all that waits for it and failed of itself or was cancelled.
   *
   * @throws ParentFailedError where one that it waits for has failed: retry that one; JobScheduledError if no attempt failed: `runNow`
   */
  async retry(id: string, options?: TreeOptions): Promise<void> {
    const op = validateTreeOptions('retry', options) ? 'retryTree' : 'retry'
    await this.#mailbox.call<typeof op>({ op, id: keyOf(id) })
  }

  /** Retries failed jobs, the oldest failure first; answers how many. */
  redrive(options?: RedriveOptions): Promise<{ readonly count: number }> {
    return runRedrive(this.#mailbox, options)
  }

  /** Makes a scheduled job due now; one that waits already stays as it is. */
  async runNow(id: string): Promise<void> {
    await this.#mailbox.call<'runNow'>({ op: 'runNow', id: keyOf(id) })
  }

  /** Removes a job that is not running, with all that it has left. */
  async delete(id: string): Promise<void> {
    await this.#mailbox.call<'delete'>({ op: 'delete', id: keyOf(id) })
  }

  // Many at once, a slice of at most 500 in each transaction, newest first. Jobs that are created meanwhile are not met.

  /** Cancels all that the filter matches: what has not started at once, what runs by aborting its signal. */
  cancelMany(filter: ManyFilter, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, 'cancelMany', filter, options)
  }

  /** Retries all that the filter matches and that failed, was cancelled, or waits for a retry. */
  retryMany(filter: ManyFilter, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, 'retryMany', filter, options)
  }

  /**
   * Removes all that the filter matches, with runs, logs, tags and keys (the idempotency keys too: a repeat creates a new job). Jobs
   * that run are left, and counted: cancel them first. What stays in the log and in backups, and until when: docs/privacy.md.
   */
  deleteMany(filter: ManyFilter, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, 'deleteMany', filter, options)
  }
}
