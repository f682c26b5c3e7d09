/** Calls that change jobs by their ids or by a filter. */
import {
  type CancelManyOptions,
  type CancelOptions,
  type ManyFilter,
  type ManyOptions,
  type ManyResult,
  type RedriveOptions,
  type TreeOptions,
  type UpdateManyChanges,
  validateCancelManyOptions,
  validateCancelOptions,
  validateTreeOptions,
  validateUpdateManyChanges,
} from '@millrace/core'
import { keyOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { runMany } from './many.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { Reading, type ReadingParts } from './reading.ts'
import { runRedrive } from './redrive.ts'

/** Calls on one job throw JobNotFoundError if the job does not exist, and JobActiveError or JobFinishedError if it is too late. */
export abstract class Changes extends Reading {
  readonly #mailbox: Mailbox
  readonly #codec: PayloadCodec | undefined

  constructor(parts: ReadingParts) {
    super(parts)
    this.#mailbox = parts.mailbox
    this.#codec = parts.codec
  }

  /** Cancels a job at once if it has not started. If it is running, its signal aborts and it ends as cancelled. */
  async cancel(id: string, options?: Omit<CancelOptions, 'descendants'>): Promise<'cancelled' | 'cancelling'>
  /** Also cancels all jobs of its flow that wait for it if `descendants` is set, in bounded steps, even if it is already `finished`. */
  async cancel(id: string, options?: CancelOptions): Promise<'cancelled' | 'cancelling' | 'finished'>
  async cancel(id: string, options?: CancelOptions): Promise<'cancelled' | 'cancelling' | 'finished'> {
    const { descendants, cancellation } = validateCancelOptions(options)
    const op = descendants ? 'cancelTree' : 'cancel'
    return this.#mailbox.call<typeof op>({ op, id: keyOf(id), ...cancellation })
  }

  /**
   * Runs a failed or cancelled job again from its first attempt, and a job that waits for its retry at once. Jobs of its
   * flow that failed because of it wait for it again. With `descendants`, so do all jobs that wait for it and failed on
   * their own or were cancelled.
   *
   * @throws ParentFailedError if a job that it waits for has failed: retry that job; JobScheduledError if no attempt
   * failed: use `runNow`
   */
  async retry(id: string, options?: TreeOptions): Promise<void> {
    const op = validateTreeOptions('retry', options) ? 'retryTree' : 'retry'
    await this.#mailbox.call<typeof op>({ op, id: keyOf(id) })
  }

  /** Retries failed jobs, the oldest failure first. Returns the number of jobs retried. */
  redrive(options?: RedriveOptions): Promise<{ readonly count: number }> {
    return runRedrive(this.#mailbox, options)
  }

  /** Makes a scheduled job due now. A job that is already waiting stays as it is. */
  async runNow(id: string): Promise<void> {
    await this.#mailbox.call<'runNow'>({ op: 'runNow', id: keyOf(id) })
  }

  /** Removes a job that is not running, and everything stored with it. */
  async delete(id: string): Promise<void> {
    await this.#mailbox.call<'delete'>({ op: 'delete', id: keyOf(id) })
  }

  // Bulk calls: newest jobs first, at most 500 in each transaction. Jobs that are created meanwhile are not affected.

  /** Cancels all jobs that match the filter: those that have not started at once, running ones by aborting their signal. */
  async cancelMany(filter: ManyFilter, options?: CancelManyOptions): Promise<ManyResult> {
    const { cancellation, rest } = validateCancelManyOptions(options)
    return runMany(this.#mailbox, { op: 'cancelMany', ...cancellation }, filter, rest, this.#codec)
  }

  /** Retries all jobs that match the filter and that failed, were cancelled or wait for a retry. */
  retryMany(filter: ManyFilter, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, { op: 'retryMany' }, filter, options, this.#codec)
  }

  /**
   * Removes all jobs that match the filter, with runs, logs, tags and keys. Idempotency keys are removed too, so a
   * repeated call creates a new job. Running jobs are kept and counted: cancel them first. docs/privacy.md says what
   * remains in the log and in backups, and until when.
   */
  deleteMany(filter: ManyFilter, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, { op: 'deleteMany' }, filter, options, this.#codec)
  }

  /** Makes all scheduled jobs that match the filter due now, also those that wait for a retry. */
  runNowMany(filter: ManyFilter, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, { op: 'runNowMany' }, filter, options, this.#codec)
  }

  /**
   * Changes time, priority or weight of all jobs that match the filter and have not started.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async updateMany(filter: ManyFilter, changes: UpdateManyChanges, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, { op: 'updateMany', changes: validateUpdateManyChanges(changes) }, filter, options, this.#codec)
  }
}
