/** Fails a run, or cancels its job at the wish of its handler. */
import type { FailCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { noteCancellation } from './cancel.ts'
import { staleRun } from './complete.ts'
import { endAborted, endCancelled, endChanged, endFailed, runOf } from './end.ts'

export function fail(turn: TurnContext, command: FailCommand, sender: Sender): Decision<'fail'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return staleRun(turn, command, sender)
  const { error, retry, cancel, atLeast, changed } = command
  if (job.abort !== undefined) endAborted(turn, job, { error })
  else if (cancel === true) {
    noteCancellation(turn, job, { reason: error.message.slice(0, LIMITS.reasonLength), by: job.session?.intro.worker ?? job.worker })
    endCancelled(turn, job, error)
  } else if (changed === true && !job.cancelRequested) endChanged(turn, job, error)
  else if (atLeast === true && typeof retry === 'number') endFailed(turn, job, error, undefined, retry)
  else endFailed(turn, job, error, retry)
  return true
}
