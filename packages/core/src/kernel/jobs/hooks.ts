/**
 * The hooks of a job's life: what its end, its return and its removal mean to the features, all in
 * one list. They are plain calls, because every job ends. A job without extras belongs to no
 * feature, so its end calls none of them.
 *
 * Flows are a floor above jobs. This is the one file of the kernel that imports from above.
 */
import { notifyLater, outlive, vanish } from '../flows/flowEnds.ts'
import { endTurn } from '../keys/strict.ts'
import { exclusiveKey } from '../records/exclusiveKey.ts'
import { REVERT } from '../records/flowState.ts'
import type { Job, JobExtras } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'

/**
 * Runs when a job with extras becomes final, or is deleted before. Its keys are free then, and its
 * schedule and the jobs that wait for it are notified.
 */
export function onEnd(turn: TurnContext, job: Job, { schedule }: JobExtras): void {
  const held = exclusiveKey(job)
  if (held !== undefined) {
    turn.effects.uniqueFreed.push({ ...held, seq: job.seq })
    turn.facts.freeUnique(held, job)
  }
  endTurn(turn, job)
  if (schedule !== undefined) turn.tables.freed.add(schedule)
  notifyLater(turn, job)
}

/** Runs when a job that was final lives again. */
export function onRevive(turn: TurnContext, job: Job): void {
  notifyLater(turn, job, REVERT)
}

/** Runs when the row of a finished job with extras goes. */
export function onErase(turn: TurnContext, job: Job): void {
  outlive(turn, job, job)
}

/** Runs when a caller deletes a job. */
export function onDelete(turn: TurnContext, job: Job): void {
  vanish(turn, job)
}
