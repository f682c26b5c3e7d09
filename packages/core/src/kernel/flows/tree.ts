/** Cancels or retries a job and all that waits for it: itself at once, the others in slices by the turns that follow. */
import type { CancelTreeCommand, RetryTreeCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { CANCELLED, FAILED, isFinal } from '../../lifecycle.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { retry, revive } from '../jobs/retry.ts'
import { notFound } from '../refuse.ts'
import type { TurnContext } from '../turn.ts'
import { tellLater } from './flowEnds.ts'
import { CANCEL, isParent, RETRY } from './state.ts'

export function cancelTree(turn: TurnContext, { id }: CancelTreeCommand): Decision<'cancelTree'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  tellLater(turn, job, CANCEL)
  return isFinal(job.state) ? 'finished' : cancelJob(turn, job)
}

export function retryTree(turn: TurnContext, { id }: RetryTreeCommand): Decision<'retryTree'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (!isParent(job)) return retry(turn, { op: 'retry', id })
  if (job.state === FAILED || job.state === CANCELLED) {
    const refused = revive(turn, job)
    if (refused !== undefined) return refused
  }
  tellLater(turn, job, RETRY)
  return true
}
