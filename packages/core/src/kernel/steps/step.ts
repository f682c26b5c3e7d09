/** Records what a durable call of a run has returned. */
import { type Decision, Refused } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import type { StepCommand } from '../../stepCommands.ts'
import { runOf } from '../jobs/end.ts'
import { noteResult } from '../jobs/results.ts'
import { attemptOf, type Job } from '../records/job.ts'
import { stale } from '../state/refuse.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'

export function step(turn: TurnContext, command: StepCommand, sender: Sender): Decision<'step'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return stale(command.seq, command.run)
  const { number, asked, name, kind, startedAt, value, error } = command
  if (number > LIMITS.stepsPerJob) return tooMany()
  turn.effects.steps.push({
    ...{ seq: job.seq, number, asked, name, kind, run: job.run, startedAt, endedAt: turn.now.wall, value },
    ...(error && { error }),
  })
  beginAnew(turn, job)
  return true
}

/** After a result its run has its whole time again, and the job all its attempts. */
export function beginAnew(turn: TurnContext, job: Job): void {
  const { tables, effects, now } = turn
  const { timeout } = job.policy
  if (job.deadlinePlace >= 0 && job.abort === undefined && now.mono + timeout > job.deadlineMono)
    tables.setDeadline(job, now.mono + timeout)
  if (attemptOf(job) > 1) {
    job.uncounted = job.run - 1
    effects.touch(job)
  }
  noteResult(turn, job)
}

export function tooMany(): Refused {
  const limit = LIMITS.stepsPerJob
  const message = `a job records at most ${limit} results: let it end, and enqueue its successor in its completion`
  return new Refused({ code: 'OPTION_RANGE', message, details: { option: 'step', limit } })
}
