/** Handles messages of a running handler: that it is alive, its progress, its log lines, and what it wants to keep. */
import type { CheckpointCommand, HeartbeatCommand, LogCommand, ProgressCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Job } from '../records/job.ts'
import { stale } from '../state/refuse.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { runOf } from './end.ts'

export function heartbeat(turn: TurnContext, command: HeartbeatCommand, sender: Sender): Decision<'heartbeat'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return stale(command.seq, command.run)
  extend(turn, job)
  return true
}

export function checkpoint(turn: TurnContext, command: CheckpointCommand, sender: Sender): Decision<'checkpoint'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return stale(command.seq, command.run)
  extend(turn, job)
  job.checkpoint = command.value
  turn.effects.touch(job)
  return true
}

export function progress(turn: TurnContext, command: ProgressCommand, sender: Sender): Decision<'progress'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return stale(command.seq, command.run)
  job.progress = progressText(command)
  turn.effects.touch(job)
  turn.effects.event('progress', job, command.fraction)
  return true
}

/** Writes a report as it is stored. A value stays the string that it came as: one that is no JSON spoils nothing beside it. */
function progressText({ fraction, note, value }: ProgressCommand): string {
  if (value !== undefined) return JSON.stringify([fraction, note ?? null, value])
  return JSON.stringify(note === undefined ? [fraction] : [fraction, note])
}

export function log(turn: TurnContext, command: LogCommand, sender: Sender): Decision<'log'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return stale(command.seq, command.run)
  const { logLines: kept } = job.policy
  if (kept === 0) return true
  for (const line of command.lines) {
    const number = job.logLines++
    turn.effects.logs.push({ seq: job.seq, run: job.run, number, gone: number - kept, line })
  }
  return true
}

/** Moves the deadline to max(deadline, now + heartbeatTimeout); a timeout of 0 does not. An aborted run's grace period stays. */
function extend({ tables, now }: TurnContext, job: Job): void {
  const { heartbeatTimeout } = job.policy
  if (job.deadlinePlace < 0 || job.abort !== undefined || heartbeatTimeout === 0) return
  if (now.mono + heartbeatTimeout > job.deadlineMono) tables.setDeadline(job, now.mono + heartbeatTimeout)
}
