/** The handle by which a producer holds an enqueued job. */
import {
  type Cancellation,
  type Clock,
  decodeData,
  type Enqueued,
  type ErrorCode,
  formatId,
  handlerErrorOf,
  InternalError,
  isErrorOf,
  JobCancelledError,
  JobFailedError,
  type JobKey,
  JobNotFoundError,
  type Outcome,
  type ResultOptions,
  ResultTimeoutError,
  type Sent,
  validateResultOptions,
} from '@millrace/core'
import type { JobType, MessageData, MessageName, MessagesOf, OutputOf } from '@millrace/worker'
import { whyLate } from './explain.ts'
import { inTime } from './inTime.ts'
import type { Mailbox } from './mailbox.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { type SendArguments, sendMessage } from './send.ts'

type Signal = ReturnType<typeof validateResultOptions>['signal']

/** Errors after which a question is asked again, once there is an engine to ask: questions are safe to repeat. */
export const ASKED_AGAIN: ReadonlySet<string> = new Set(['COMMIT_UNKNOWN', 'CONNECTION_LOST'] satisfies ErrorCode[])

/** The settings of a call without options. */
const PATIENT = { timeoutMs: Number.POSITIVE_INFINITY, signal: undefined } as const

/** The output type for an argument of `handle`: that of a definition or a handler, or the given type itself. */
export type HandleOutput<Type> = Type extends JobType | { readonly definition: JobType } ? OutputOf<Type> : Type

/** The messages of a definition or a handler; unknown for a type that is an output alone. */
export type HandleMessages<Type> = Type extends JobType | { readonly definition: JobType } ? MessagesOf<Type> : unknown

/** A job that was enqueued: its id, and its result once there is one. */
export class JobHandle<Output = unknown, Messages = unknown> {
  readonly #key: Enqueued
  readonly #mailbox: Mailbox
  readonly #clock: Clock
  readonly #settled: (() => Promise<JobKey>) | undefined
  readonly #codec: PayloadCodec | undefined
  #id: string | undefined

  /** `settled` resolves to the job as the engine knows it, if that is not known yet. */
  constructor(key: Enqueued, mailbox: Mailbox, clock: Clock, settled?: () => Promise<JobKey>, codec?: PayloadCodec) {
    this.#codec = codec
    this.#key = key
    this.#settled = settled
    this.#mailbox = mailbox
    this.#clock = clock
  }

  /** The job's id, a UUIDv7. */
  get id(): string {
    this.#id ??= formatId(this.#key)
    return this.#id
  }

  /** False if a key matched an earlier job, which this handle then stands for. */
  get created(): boolean {
    return this.#key.created
  }

  /**
   * Resolves to the job's output once it has completed. You can call it at any time without a race; it survives restarts
   * of the engine and lost connections.
   *
   * @throws JobFailedError, whose `cause` is the last attempt's error, with its `code` and `cause`; JobCancelledError,
   * with a `cause` named JobDroppedError if the job was dropped as the oldest of a full queue; JobNotFoundError if the
   * job was deleted; ResultTimeoutError after `timeout` (default: none), while the job continues; the signal's reason if
   * `signal` aborts
   */
  async result(options?: ResultOptions): Promise<Output> {
    const { timeoutMs, signal } = options === undefined ? PATIENT : validateResultOptions(options)
    const until = this.#clock.read().mono + timeoutMs
    if (signal?.aborted) throw signal.reason
    const job = this.#settled === undefined ? this.#key : await this.#inTime(this.#settled(), until, signal, () => {})
    for (;;) {
      if (signal?.aborted) throw signal.reason
      try {
        return this.#read(await this.#watch(job, until, signal))
      } catch (error) {
        if (isErrorOf(error, 'ResultTimeoutError') && timeoutMs > 0) throw await this.#explained(error, job)
        // The engine, or the connection to it, was lost meanwhile: ask for the outcome again.
        if (!isErrorOf(error, 'MillraceError') || !ASKED_AGAIN.has(error.code)) throw error
      }
    }
  }

  /**
   * Sends a message to the job. Its handler takes it by `waitFor`, now or later: see `engine.send`.
   *
   * @throws JobFinishedError, MessagesFullError, JobNotFoundError
   */
  async send<Name extends MessageName<Messages>>(
    message: Name,
    ...[data, options]: SendArguments<MessageData<Messages, Name>>
  ): Promise<Sent> {
    const job = this.#settled === undefined ? this.#key : await this.#settled()
    const { seq, node, enqueuedAt } = job
    return sendMessage(this.#codec?.around(this.#mailbox) ?? this.#mailbox, { id: { seq, node, enqueuedAt } }, message, data, options)
  }

  #watch(job: JobKey, until: number, signal: Signal): Promise<Outcome> {
    const { id, reply } = this.#mailbox.track<'watch'>({ op: 'watch', id: job })
    return this.#inTime(reply, until, signal, () => {
      if (this.#mailbox.forget(id)) this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: id }).catch(() => {})
    })
  }

  #inTime<Reply>(reply: Promise<Reply>, until: number, signal: Signal, forget: () => void): Promise<Reply> {
    if (until === Number.POSITIVE_INFINITY && signal === undefined) return reply
    return inTime(reply, { clock: this.#clock, until, signal, late: () => this.#late() }, forget)
  }

  #decode(output: Parameters<typeof decodeData>[0]): unknown {
    try {
      return decodeData(this.#codec?.decode('output', output) ?? output)
    } catch (cause) {
      if (isErrorOf(cause, 'CodecError')) throw Object.assign(cause, { jobId: this.id })
      throw new InternalError(`the stored output of job ${this.id} is not JSON`, { jobId: this.id }, { cause })
    }
  }

  #late(why = 'goes on'): ResultTimeoutError {
    return new ResultTimeoutError(`job ${this.id} has not ended in time: it ${why}`, { jobId: this.id })
  }

  async #explained(error: ResultTimeoutError, job: JobKey): Promise<ResultTimeoutError> {
    const why = await whyLate(this.#mailbox, this.#clock, job)
    return why === undefined ? error : this.#late(why)
  }

  #cancelled({ reason, by }: Cancellation): JobCancelledError {
    const said = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) }
    return new JobCancelledError(`job ${this.id} was cancelled${reason === undefined ? '' : `: ${reason}`}`, { jobId: this.id, ...said })
  }

  #read(outcome: Outcome): Output {
    if (outcome.state === 'completed') return this.#decode(outcome.output) as Output
    const details = { jobId: this.id }
    switch (outcome.state) {
      case 'failed':
        throw new JobFailedError(
          `job ${this.id} failed at attempt ${outcome.attempt}: ${outcome.error.message}`,
          { ...details, attempt: outcome.attempt },
          { cause: handlerErrorOf(outcome.error) },
        )
      case 'cancelled':
        if (outcome.error === undefined) throw this.#cancelled(outcome)
        throw new JobCancelledError(`job ${this.id} was cancelled: ${outcome.error.message}`, details, {
          cause: handlerErrorOf(outcome.error),
        })
      case 'deleted':
        throw new JobNotFoundError(`job ${this.id} was deleted before it ended`, details)
    }
  }
}
