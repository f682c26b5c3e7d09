/** Maps the replies of `history` and `failures` to the views that callers get. */
import {
  type FailureGroup,
  type FailuresOptions,
  formatId,
  type HistoryColumns,
  type HistoryOfQueues,
  type HistoryPoint,
  type HistoryStep,
  type ReplyOf,
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

/** The throughput of all queues, in columns: place 0 of each is the first minute or hour, and the last place the last one. */
export interface QueuesHistory {
  /** The time at which the first minute or hour began. */
  readonly from: Date
  readonly step: HistoryStep
  /** The sum of all queues. */
  readonly total: HistoryColumns
  /** The busiest queues of that time, by their names. */
  readonly queues: Readonly<Record<string, HistoryColumns>>
  /** The number of queues that `total` leaves out; undefined if there are none. It counts the 1,000 busiest. */
  readonly queuesLeftOut: number | undefined
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
  /**
   * The failed runs of each of the last 24 hours, oldest first; the last place is the current hour. Undefined unless `trend` asks for it.
   */
  readonly trend: readonly number[] | undefined
}

export async function readHistory(calls: Pick<Mailbox, 'call'>, options?: unknown): Promise<readonly Throughput[] | QueuesHistory> {
  const command = validateHistoryOptions(options)
  const reply = await calls.call<'history'>(command)
  if (!isOfQueues(reply)) return reply.map(throughputOf)
  const { from, step, total, queues, queuesLeftOut } = reply
  return { from: new Date(from), step, total, queues: Object.fromEntries(queues.map(columnsOf)), queuesLeftOut }
}

export async function readFailures(calls: Pick<Mailbox, 'call'>, options?: FailuresOptions): Promise<readonly Failures[]> {
  return (await calls.call<'failures'>(validateFailuresOptions(options))).map(failuresOf)
}

function isOfQueues(reply: ReplyOf['history']): reply is HistoryOfQueues {
  return !Array.isArray(reply)
}

function columnsOf({ name, ...columns }: HistoryOfQueues['queues'][number]): [string, HistoryColumns] {
  return [name, columns]
}

function throughputOf({ at, enqueued, completed, failed, cancelled }: HistoryPoint): Throughput {
  return { at: new Date(at), enqueued, completed, failed, cancelled }
}

function failuresOf({ fingerprint, queue, name, error, count, firstAt, lastAt, job, message, trend }: FailureGroup): Failures {
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
    trend,
  }
}
