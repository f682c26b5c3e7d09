/** Maps the replies of `history` and `failures` to the views that callers get. */
import {
  type FailureGroup,
  type FailuresOptions,
  formatId,
  type HistoryOptions,
  type HistoryPoint,
  type Totals,
  validateFailuresOptions,
  validateHistoryOptions,
} from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

/** The throughput of a queue in one minute or hour. */
export interface Throughput extends Totals {
  /** The time at which the minute or hour began. */
  readonly at: Date
}

/** Failed runs with the same class of error and, except for the parts that differ from job to job, the same message. */
export interface Failures {
  /** Identifies the kind of failure, the same in every queue and file. */
  readonly fingerprint: string
  readonly queue: string
  readonly name: string
  /** The name of the error's class. */
  readonly error: string
  readonly count: number
  readonly firstAt: Date
  readonly lastAt: Date
  /** The last job that failed this way and, below, the message of its run; undefined once the job is gone. */
  readonly jobId: string | undefined
  readonly message: string | undefined
}

export async function readHistory(calls: Pick<Mailbox, 'call'>, options?: HistoryOptions): Promise<readonly Throughput[]> {
  return (await calls.call<'history'>(validateHistoryOptions(options))).map(throughputOf)
}

export async function readFailures(calls: Pick<Mailbox, 'call'>, options?: FailuresOptions): Promise<readonly Failures[]> {
  return (await calls.call<'failures'>(validateFailuresOptions(options))).map(failuresOf)
}

function throughputOf({ at, enqueued, completed, failed, cancelled }: HistoryPoint): Throughput {
  return { at: new Date(at), enqueued, completed, failed, cancelled }
}

function failuresOf({ fingerprint, queue, name, error, count, firstAt, lastAt, job, message }: FailureGroup): Failures {
  return {
    fingerprint,
    queue,
    name,
    error,
    count,
    firstAt: new Date(firstAt),
    lastAt: new Date(lastAt),
    jobId: job === null ? undefined : formatId(job),
    message: message ?? undefined,
  }
}
