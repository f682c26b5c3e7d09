/** Cancels or retries a job and all that waits for it: itself at once, the others in slices by the turns that follow. */
import type { CancelTreeCommand, RetryTreeCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Cancellation } from '../../job.ts'
import { CANCELLED, FAILED, isFinal } from '../../lifecycle.ts'
import { cancelJob, forgetCancellation, noteCancellation } from '../jobs/cancel.ts'
import { retry, revive } from '../jobs/retry.ts'
import { CANCEL, isParent, RETRY } from '../records/flowState.ts'
import type { Job } from '../records/job.ts'
import { notFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { notifyLater } from './flowEnds.ts'

export function cancelTree(turn: TurnContext, { id, ...said }: CancelTreeCommand): Decision<'cancelTree'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  notifyLater(turn, job, CANCEL)
  if (!isFinal(job.state)) return cancelJob(turn, job, said)
  passOn(turn, job, said)
  return 'finished'
}

/**
 * Stores what was said of the cancel with a job that has ended, for those that wait for it, in place of what was said before. A
 * cancelled job keeps its own.
 */
export function passOn(turn: TurnContext, job: Job, said: Cancellation): void {
  if (!isParent(job) || job.state === CANCELLED) return
  forgetCancellation(turn, job)
  noteCancellation(turn, job, said)
}

export function retryTree(turn: TurnContext, { id }: RetryTreeCommand): Decision<'retryTree'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (!isParent(job)) return retry(turn, { op: 'retry', id })
  if (job.state === FAILED || job.state === CANCELLED) {
    const refused = revive(turn, job)
    if (refused !== undefined) return refused
  }
  notifyLater(turn, job, RETRY)
  return true
}
