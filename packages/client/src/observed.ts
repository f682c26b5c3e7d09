/** What `history` and `failures` tell, as callers see it. */
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

/** What a queue has done in a minute, or an hour. */
export interface Throughput extends Totals {
  /** When it began. */
  readonly at: Date
}

/** Failed runs of one class of error and, but for what differs from job to job, of one message. */
export interface Failures {
  /** The same for the same kind of failure, in every queue and file. */
  readonly fingerprint: string
  readonly queue: string
  readonly name: string
  /** The class's name. */
  readonly error: string
  readonly count: number
  readonly firstAt: Date
  readonly lastAt: Date
  /** The job that failed last so, and what its run said; undefined once it is gone. */
  readonly jobId: string | undefined
  readonly message: string | undefined
}

export async function readHistory(mailbox: Mailbox, options?: HistoryOptions): Promise<readonly Throughput[]> {
  return (await mailbox.call<'history'>(validateHistoryOptions(options))).map(throughputOf)
}

export async function readFailures(mailbox: Mailbox, options?: FailuresOptions): Promise<readonly Failures[]> {
  return (await mailbox.call<'failures'>(validateFailuresOptions(options))).map(failuresOf)
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
