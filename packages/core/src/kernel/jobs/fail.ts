/** Fails a run. */
import type { FailCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Sender, TurnContext } from '../turn.ts'
import { staleRun } from './complete.ts'
import { endAborted, endFailed, runOf } from './end.ts'

export function fail(turn: TurnContext, command: FailCommand, sender: Sender): Decision<'fail'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return staleRun(turn, command, sender)
  if (job.abort === undefined) endFailed(turn, job, command.error, command.retry)
  else endAborted(turn, job, command.error)
  return true
}
