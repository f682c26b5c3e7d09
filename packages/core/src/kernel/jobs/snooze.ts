/** Puts a job off at its handler's request, without using an attempt. */
import type { SnoozeCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Sender, TurnContext } from '../turn.ts'
import { staleRun } from './complete.ts'
import { endAborted, endSnoozed, runOf } from './end.ts'

export function snooze(turn: TurnContext, command: SnoozeCommand, sender: Sender): Decision<'snooze'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return staleRun(turn, command, sender)
  if (job.abort === undefined) endSnoozed(turn, job, command.delay)
  else endAborted(turn, job)
  return true
}
