/** Makes a scheduled job due now. */
import type { RunNowCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { ACTIVE, BLOCKED, isFinal, SCHEDULED, STATES } from '../../lifecycle.ts'
import { awaitsMessage } from '../records/job.ts'
import { active, blocked, finished, messageAwaited, notFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { makeDue } from './retry.ts'

export function runNow(turn: TurnContext, { id }: RunNowCommand): Decision<'runNow'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (job.state === ACTIVE) return active(id, 'it has started already')
  if (isFinal(job.state)) return finished(id, STATES[job.state], 'use retry to run it again')
  if (job.state === BLOCKED) return blocked(id, 'it runs once they have ended; cancel or delete it, or change what they are')
  if (awaitsMessage(job)) return messageAwaited(job)
  if (job.state === SCHEDULED) makeDue(turn, job)
  return true
}
