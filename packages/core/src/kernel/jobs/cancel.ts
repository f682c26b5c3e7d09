/** Cancels a job: at once if it has not started. A running job is asked to stop, and ends as cancelled whatever it does. */
import type { CancelCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { ACTIVE, isFinal, STATES } from '../../lifecycle.ts'
import { leaveLine } from '../queues/line.ts'
import { finished, notFound } from '../refuse.ts'
import type { TurnContext } from '../turn.ts'
import { abort } from './abort.ts'
import type { Job } from './job.ts'
import * as transition from './transitions.ts'

export function cancel(turn: TurnContext, { id }: CancelCommand): Decision<'cancel'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (isFinal(job.state)) return finished(id, STATES[job.state], 'it can no longer be cancelled')
  return cancelJob(turn, job)
}

/** Cancels a job that is not final. */
export function cancelJob(turn: TurnContext, job: Job): 'cancelled' | 'cancelling' {
  if (job.state === ACTIVE) {
    if (!job.cancelRequested) {
      job.cancelRequested = true
      turn.effects.touch(job)
      abort(turn, job, 'cancel')
    }
    return 'cancelling'
  }
  leaveLine(turn, job)
  transition.cancel(turn, job)
  return 'cancelled'
}
