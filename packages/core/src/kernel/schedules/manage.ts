/** Removes, pauses and resumes schedules. */

import { type Decision, Refused } from '../../decision.ts'
import type { DeleteScheduleCommand, PauseScheduleCommand, ResumeScheduleCommand } from '../../scheduleCommands.ts'
import { removeJob } from '../jobs/delete.ts'
import { noSchedule } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { hasStarted, liveJob } from './fire.ts'
import { pause, resume, whatIsWrong } from './upsert.ts'

export function deleteSchedule(turn: TurnContext, { id }: DeleteScheduleCommand): Decision<'deleteSchedule'> {
  const schedule = turn.facts.schedule(id)
  if (schedule === undefined) return noSchedule(id)
  const job = liveJob(turn, schedule)
  if (job !== undefined && !hasStarted(job)) removeJob(turn, job)
  turn.effects.schedule(schedule, 'delete')
  turn.effects.systemEvent({ type: 'schedule.deleted', schedule: id })
  turn.facts.forgetSchedule(id)
  return true
}

export function pauseSchedule(turn: TurnContext, { id }: PauseScheduleCommand): Decision<'pauseSchedule'> {
  const schedule = turn.facts.schedule(id)
  if (schedule === undefined) return noSchedule(id)
  pause(turn, schedule)
  return true
}

export function resumeSchedule(turn: TurnContext, { id }: ResumeScheduleCommand): Decision<'resumeSchedule'> {
  const schedule = turn.facts.schedule(id)
  if (schedule === undefined) return noSchedule(id)
  const wrong = schedule.paused ? whatIsWrong(turn, schedule) : undefined
  if (wrong !== undefined) return new Refused({ code: 'INVALID_SCHEDULE', message: `schedule '${id}': ${wrong}` })
  resume(turn, schedule)
  return true
}
