/** Calls that change jobs by their ids or by a filter. */
import {
  type CancelManyOptions,
  type CancelOptions,
  checkNone,
  type EnqueueOptions,
  heldKeyOption,
  type JobOfKey,
  type JobRef,
  type ManyFilter,
  type ManyOptions,
  type ManyResult,
  type RedriveOptions,
  type RetryOptions,
  type SendOptions,
  type Sent,
  type UpdateManyChanges,
  validateCancelManyOptions,
  validateCancelOptions,
  validateRetryOptions,
  validateUpdateManyChanges,
} from '@millrace/core'
import type { JobType, MessageData, MessageName, MessagesOf } from '@millrace/worker'
import { copyOf } from './copy.ts'
import type { JobHandle } from './handle.ts'
import { callAbout, noJob } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { runMany } from './many.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { Reading, type ReadingParts } from './reading.ts'
import { runRedrive } from './redrive.ts'
import { addresseeOf, type SendArguments, sendMessage } from './send.ts'

/**
 * Calls on one job take its id, or its name and a key: the engine finds the job of the key in the turn that decides the call.
 * They throw JobNotFoundError if there is no such job, and JobActiveError or JobFinishedError if it is too late.
 */
export abstract class Changes extends Reading {
  readonly #mailbox: Mailbox
  readonly #codec: PayloadCodec | undefined

  constructor(parts: ReadingParts) {
    super(parts)
    this.#mailbox = parts.mailbox
    this.#codec = parts.codec
  }

  /** Cancels a job at once if it has not started. If it is running, its signal aborts and it ends as cancelled. */
  async cancel(job: JobRef, options?: Omit<CancelOptions, 'descendants'>): Promise<'cancelled' | 'cancelling'>
  /** Also cancels all jobs of its flow that wait for it if `descendants` is set, in bounded steps, even if it is already `finished`. */
  async cancel(job: JobRef, options?: CancelOptions): Promise<'cancelled' | 'cancelling' | 'finished'>
  async cancel(job: JobRef, options?: CancelOptions): Promise<'cancelled' | 'cancelling' | 'finished'> {
    const { descendants, cancellation } = validateCancelOptions(options)
    return callAbout(this.#mailbox, descendants ? 'cancelTree' : 'cancel', job, cancellation)
  }

  /**
   * Runs a failed or cancelled job again from its first attempt, and a job that waits for its retry at once. Jobs of its
   * flow that failed because of it wait for it again. With `descendants`, so do all jobs that wait for it and failed on
   * their own or were cancelled. A job with recorded steps resumes at those that have failed, or at `from`.
   *
   * @throws ParentFailedError if a job that it waits for has failed: retry that job; JobScheduledError if no attempt
   * failed: use `runNow`; AmbiguousRetryError if the handler continued after a step had failed: give `from`; StepNotFoundError
   * if it has recorded nothing of that name
   */
  async retry(job: JobRef, options?: RetryOptions): Promise<void> {
    const { descendants, ...from } = validateRetryOptions(options)
    await callAbout(this.#mailbox, descendants ? 'retryTree' : 'retry', job, from)
  }

  /**
   * Sends a message to a job, by its id or a key that it holds. Its handler takes the messages of a name in their order, by `waitFor`: a
   * message that comes before is kept, and one that comes to a job that sleeps until it wakes the job. Resolves once it is committed: to
   * `taken` if it has woken the job, `kept` if it is stored for a later `waitFor`, and `known` if a message with that `idempotencyKey` was
   * sent to the job before. A job keeps at most 1,000 messages and 16 MiB. `send<typeof order>(id, 'approved', { by })` checks the types.
   *
   * @throws JobNotFoundError, JobFinishedError, MessagesFullError; OptionTypeError, OptionRangeError; CommitUnknownError, after which the
   * same call with the same `idempotencyKey` sends it once
   */
  send<Job extends JobType = JobType, Name extends MessageName<MessagesOf<Job>> = MessageName<MessagesOf<Job>>>(
    job: JobRef,
    message: Name,
    ...[data, options]: SendArguments<MessageData<MessagesOf<Job>, NoInfer<Name>>>
  ): Promise<Sent>
  async send(job: JobRef, message: string, data?: unknown, options?: SendOptions): Promise<Sent> {
    return sendMessage(this.#codec?.around(this.#mailbox) ?? this.#mailbox, addresseeOf(job), message, data, options)
  }

  /** Creates a job: the engine's `enqueue`. */
  abstract enqueue(job: string, data: unknown, options?: EnqueueOptions): Promise<JobHandle>

  /**
   * Creates a copy of a job in any state: with its data, its tags and the options in force for it, but without its keys, its `ttl` and its
   * place in a flow. The copy is due at once, and its `meta.copyOf` is the id of the job. Each call creates another one.
   *
   * @throws JobNotFoundError; CodecError if its data cannot be decoded here; what `enqueue` throws
   */
  async enqueueAgain(job: JobRef): Promise<JobHandle>
  async enqueueAgain(job: JobRef, ...given: unknown[]): Promise<JobHandle> {
    checkNone('engine.enqueueAgain', given, 'engine.enqueue(name, data, options) creates a job with others')
    const found = await this.get(job)
    if (found === undefined) throw noJob(job)
    const copy = copyOf(found)
    return this.enqueue(copy.job as string, copy.data, copy.options)
  }

  /** Retries failed jobs, the oldest failure first. Returns the number of jobs retried. */
  redrive(options?: RedriveOptions): Promise<{ readonly count: number }> {
    return runRedrive(this.#mailbox, options)
  }

  /** Makes a scheduled job due now. A job that is already waiting stays as it is. */
  async runNow(job: JobRef): Promise<void>
  async runNow(job: JobRef, ...given: unknown[]): Promise<void> {
    checkNone('engine.runNow', given, 'engine.update(job, { runAt }) sets a time')
    await callAbout(this.#mailbox, 'runNow', job)
  }

  /** Removes a job that is not running, and everything stored with it. */
  async delete(job: JobRef): Promise<void>
  async delete(job: JobRef, ...given: unknown[]): Promise<void> {
    checkNone('engine.delete', given, 'engine.deleteMany(filter, { dryRun: true }) counts the jobs that it would delete')
    await callAbout(this.#mailbox, 'delete', job)
  }

  /**
   * Takes a key from the job that holds it, so that another call may use it. The job continues, and is not found by the key
   * any more. Resolves to false if no job holds the key.
   */
  async releaseKey(of: JobOfKey): Promise<boolean>
  async releaseKey(of: JobOfKey, ...given: unknown[]): Promise<boolean> {
    checkNone('engine.releaseKey', given, 'engine.get(job) shows the job that holds the key')
    return (await this.#mailbox.call<'byKey'>({ op: 'byKey', of: heldKeyOption(of), call: 'release' })) === true
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
   * Changes all jobs that match the filter: tags and meta in any state, all else before they have started.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async updateMany(filter: ManyFilter, changes: UpdateManyChanges, options?: ManyOptions): Promise<ManyResult> {
    return runMany(this.#mailbox, { op: 'updateMany', changes: validateUpdateManyChanges(changes) }, filter, options, this.#codec)
  }
}
