/** A schedule's job by hand, beside its ticks. One that is not final yet is answered instead, or cancelled, as `overlap` says. */

import { type Decision, Refused } from '../../replies.ts'
import type { TriggerScheduleCommand } from '../../scheduleCommands.ts'
import { cancelJob } from '../cancel.ts'
import { drained } from '../enqueue.ts'
import { noSchedule, queueDraining } from '../refuse.ts'
import type { TurnContext } from '../turn.ts'
import { create, liveJob } from './fire.ts'

export function triggerSchedule(turn: TurnContext, { id }: TriggerScheduleCommand): Decision<'triggerSchedule'> {
  const schedule = turn.facts.schedule(id)
  if (schedule === undefined) return noSchedule(id)
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const running = liveJob(turn, schedule)
  if (running !== undefined) {
    if (schedule.spec.overlap !== 'cancel') {
      const { seq, node, enqueuedAt } = running
      return [{ seq, node, enqueuedAt, created: false }]
    }
  }
  const queue = drained(turn, schedule.job)
  if (queue !== undefined) return queueDraining(queue)
  if (running !== undefined) cancelJob(turn, running)
  return [create(turn, schedule, turn.now.wall, 'schedule.triggered')]
}
