/** Cancels a job: at once if it has not started. A running job is asked to stop, and ends as cancelled whatever it does. */
import type { CancelCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Cancellation } from '../../job.ts'
import { ACTIVE, isFinal, STATES } from '../../lifecycle.ts'
import { leaveLine } from '../queues/line.ts'
import type { Job } from '../records/job.ts'
import { finished, notFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { abort } from './abort.ts'
import * as transition from './transitions.ts'

export function cancel(turn: TurnContext, { id, ...said }: CancelCommand): Decision<'cancel'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (isFinal(job.state)) return finished(id, STATES[job.state], 'it can no longer be cancelled')
  return cancelJob(turn, job, said)
}

/** Cancels a job that is not final. If it is being cancelled already, what was said first stays. */
export function cancelJob(turn: TurnContext, job: Job, said: Cancellation = {}): 'cancelled' | 'cancelling' {
  if (job.state === ACTIVE) {
    if (!job.cancelRequested) {
      job.cancelRequested = true
      turn.effects.touch(job)
      noteCancellation(turn, job, said)
      abort(turn, job, 'cancel')
    }
    return 'cancelling'
  }
  leaveLine(turn, job)
  noteCancellation(turn, job, said)
  transition.cancel(turn, job)
  return 'cancelled'
}

export function forgetCancellation(turn: TurnContext, job: Job): void {
  if (job.extras?.cancel === undefined) return
  const { cancel: _cancel, ...extras } = job.extras
  turn.effects.changeExtras(job, extras)
}

/** Stores what was said of a job's cancel. Nothing is written if nothing was said. */
export function noteCancellation(turn: TurnContext, job: Job, { reason, by }: Cancellation): void {
  if (!reason && !by) return
  turn.effects.changeExtras(job, { ...job.extras, cancel: { ...(reason && { reason }), ...(by && { by }) } })
}
