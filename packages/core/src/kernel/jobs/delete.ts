/** Removes a job and its content. */
import type { DeleteCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { ACTIVE, isLive } from '../../lifecycle.ts'
import { leaveLine } from '../queues/line.ts'
import { DIRTY_DELETE, type Job } from '../records/job.ts'
import { active, notFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { onDelete } from './hooks.ts'
import { settle } from './transitions.ts'

export function deleteJob(turn: TurnContext, { id }: DeleteCommand): Decision<'delete'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (job.state === ACTIVE) return active(id, 'cancel it first')
  removeJob(turn, job)
  return true
}

/** Removes a job that is not running. */
export function removeJob(turn: TurnContext, job: Job): void {
  const { effects } = turn
  leaveLine(turn, job)
  if (isLive(job.state)) settle(turn, job)
  onDelete(turn, job)
  effects.countJob(job, -1)
  effects.event('deleted', job)
  effects.touch(job, DIRTY_DELETE)
}
