/** Gives back a job that the worker did not run, or stopped before its end: it waits again. */
import type { GiveBackCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { staleRun } from './complete.ts'
import { endAborted, runOf } from './end.ts'

export function giveBack(turn: TurnContext, command: GiveBackCommand, sender: Sender): Decision<'giveBack'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return staleRun(turn, command, sender)
  if (command.started === true) job.expiresAt = 0
  // Without an abort by the engine this is `endGivenBack`.
  endAborted(turn, job, { interrupted: command.started === true })
  return true
}
