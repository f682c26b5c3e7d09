/** Maps the reply of `workers` to the views that callers get. */
import type { AttachedWorker } from '@millrace/core'
import { allWorkers } from './all.ts'
import type { Mailbox } from './mailbox.ts'
import { dateOf } from './view.ts'

/** A worker that is attached to the engine, as `engine.workers()` returns it. */
export interface WorkerView extends Omit<AttachedWorker, 'session' | 'attachedAt' | 'lastSeenAt' | 'nextDeadlineAt'> {
  /**
   * The time at which the worker attached, by the engine's clock; each reconnect renews it. Undefined if the engine was
   * reopened and the worker has not come back yet.
   */
  readonly attachedAt: Date | undefined
  /**
   * The time at which the engine last heard from the worker, by the engine's clock. A worker of another process reports
   * at least every 15 s. A worker of the engine's own process counts as heard now. Undefined under the same condition as
   * `attachedAt`.
   */
  readonly lastSeenAt: Date | undefined
  /** The earliest `deadlineAt` of its running jobs; undefined if none has a deadline. */
  readonly nextDeadlineAt: Date | undefined
}

function workerOf({ session: _, attachedAt, lastSeenAt, nextDeadlineAt, ...worker }: AttachedWorker): WorkerView {
  return { ...worker, attachedAt: dateOf(attachedAt), lastSeenAt: dateOf(lastSeenAt), nextDeadlineAt: dateOf(nextDeadlineAt ?? 0) }
}

export async function workersOf(calls: Pick<Mailbox, 'call'>): Promise<readonly WorkerView[]> {
  return (await allWorkers(calls)).map(workerOf)
}
