/** Lets a scheduled job wait, now that it is due. */
import { WAITING } from '../../lifecycle.ts'
import { enterLine } from '../queues/line.ts'
import type { Job } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { wake } from './results.ts'

export function promote(turn: TurnContext, job: Job): void {
  if (job.extras !== undefined) wake(turn, job)
  turn.effects.move(job, 'promote', WAITING)
  turn.effects.event('promoted', job)
  enterLine(turn, job)
}
