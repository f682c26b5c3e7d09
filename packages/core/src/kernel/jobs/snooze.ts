/** Puts a job off at its handler's request, without using an attempt, and pauses a part of its queue if the handler asks for that. */
import type { SnoozeCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { pauseAround } from '../queues/pause.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { staleRun } from './complete.ts'
import { endAborted, endSnoozed, runOf } from './end.ts'

export function snooze(turn: TurnContext, command: SnoozeCommand, sender: Sender): Decision<'snooze'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return staleRun(turn, command, sender)
  const { delay, pause } = command
  const held = pause !== undefined && pauseAround(turn, job, pause, Math.max(1, delay))
  if (held) job.expiresAt = 0
  if (held || job.abort !== undefined) endAborted(turn, job)
  else endSnoozed(turn, job, delay)
  return true
}
