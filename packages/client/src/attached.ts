/** What `workers` tells, as callers see it. */
import type { AttachedWorker } from '@millrace/core'
import { dateOf } from './view.ts'

export interface WorkerView extends Omit<AttachedWorker, 'attachedAt' | 'lastSeenAt'> {
  /** By the engine's clock, anew after each break; undefined where it has yet to come back to an engine that was opened since. */
  readonly attachedAt: Date | undefined
  /**
   * When the engine last heard that it lives, by its clock: a worker of another process says so at least every 15 s, one of the engine's
   * own is seen now. Undefined as above.
   */
  readonly lastSeenAt: Date | undefined
}

export function workerOf({ attachedAt, lastSeenAt, ...worker }: AttachedWorker): WorkerView {
  // An older server tells neither.
  return { ...worker, attachedAt: dateOf(attachedAt ?? 0), lastSeenAt: dateOf(lastSeenAt ?? 0) }
}
