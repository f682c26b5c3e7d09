/** Creates a schedule's job by hand, beside its ticks. If its last job is not final, `overlap` says whether to return it, to cancel it, or to create another. */

import type { NewJob } from '../../commands.ts'
import { type Decision, Refused } from '../../decision.ts'
import type { TriggerScheduleCommand } from '../../scheduleCommands.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { drained } from '../jobs/enqueue.ts'
import { findTooMany } from '../queues/newQueues.ts'
import { runsLeft } from '../records/ticks.ts'
import { noSchedule, queueDraining } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { create, liveJob, moveTo } from './fire.ts'
import { whatIsWrong } from './upsert.ts'

export function triggerSchedule(turn: TurnContext, { id, meta }: TriggerScheduleCommand): Decision<'triggerSchedule'> {
  const schedule = turn.facts.schedule(id)
  if (schedule === undefined) return noSchedule(id)
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const running = schedule.spec.overlap === 'allow' ? undefined : liveJob(turn, schedule)
  if (running !== undefined) {
    if (schedule.spec.overlap !== 'cancel') {
      const { seq, node, enqueuedAt } = running
      return [{ seq, node, enqueuedAt, created: false }]
    }
  }
  const job = meta === undefined ? schedule.job : withMeta(schedule.job, meta)
  const wrong = job === schedule.job ? undefined : job === undefined ? 'meta is an object' : whatIsWrong(turn, { spec: schedule.spec, job })
  if (job === undefined || wrong !== undefined) return new Refused({ code: 'INVALID_SCHEDULE', message: `schedule '${id}': ${wrong}` })
  const queue = drained(turn, schedule.job)
  const refused = queue === undefined ? findTooMany(turn, [job]) : queueDraining(queue)
  if (refused !== undefined) return refused
  if (running !== undefined) cancelJob(turn, running)
  const created = create(turn, schedule, job, turn.now.wall, 'schedule.triggered')
  if (runsLeft(schedule) === 0) moveTo(turn, schedule, 0)
  return [created]
}

/** Returns the job with that meta, or undefined if another library has sent one that is not JSON. */
function withMeta(job: NewJob, meta: string): NewJob | undefined {
  try {
    return { ...job, meta: JSON.stringify({ ...JSON.parse(job.meta ?? '{}'), ...JSON.parse(meta) }) }
  } catch {
    return undefined
  }
}
