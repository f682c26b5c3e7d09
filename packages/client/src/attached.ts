/** What `workers` tells, as callers see it. */
import type { AttachedWorker } from '@millrace/core'
import { allWorkers } from './all.ts'
import type { Mailbox } from './mailbox.ts'
import { dateOf } from './view.ts'

export interface WorkerView extends Omit<AttachedWorker, 'session' | 'attachedAt' | 'lastSeenAt'> {
  /** By the engine's clock, anew after each break; undefined where it has yet to come back to an engine that was opened since. */
  readonly attachedAt: Date | undefined
  /**
   * When the engine last heard that it lives, by its clock: a worker of another process says so at least every 15 s, one of the engine's
   * own is seen now. Undefined as above.
   */
  readonly lastSeenAt: Date | undefined
}

function workerOf({ session: _, attachedAt, lastSeenAt, ...worker }: AttachedWorker): WorkerView {
  // An older server tells neither.
  return { ...worker, attachedAt: dateOf(attachedAt ?? 0), lastSeenAt: dateOf(lastSeenAt ?? 0) }
}

export async function workersOf(calls: Pick<Mailbox, 'call'>): Promise<readonly WorkerView[]> {
  return (await allWorkers(calls)).map(workerOf)
}
