/** Changes a job that has not started. */
import type { PlaceChanges, UpdateCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { ACTIVE, isFinal, STATES } from '../../lifecycle.ts'
import { active, finished, notFound } from '../refuse.ts'
import type { TurnContext } from '../turn.ts'
import { DIRTY_DATA, type Job } from './job.ts'
import { reschedule } from './reschedule.ts'
import { sayMore } from './said.ts'

export function update(turn: TurnContext, { id, changes }: UpdateCommand): Decision<'update'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (job.state === ACTIVE) return active(id, 'it can be updated before it starts or once it waits again')
  if (isFinal(job.state)) return finished(id, STATES[job.state], 'it can no longer be updated')
  changePlace(turn, job, changes, () => {
    if (changes.checkpoint !== undefined) job.checkpoint = changes.checkpoint
    if (changes.data !== undefined) {
      job.data = changes.data
      turn.effects.touch(job, DIRTY_DATA)
    }
  })
  return true
}

/** Takes the job out of its place and puts it where the changes lead. @param also changes what is not of the place */
export function changePlace(turn: TurnContext, job: Job, { runAt, priority, weight }: PlaceChanges, also: () => void = () => {}): void {
  reschedule(turn, job, () => {
    if (priority !== undefined) job.priority = priority
    if (weight !== undefined) job.weight = weight
    sayMore(turn, job, { priority, weight })
    if (runAt !== undefined) job.runAt = Math.max(runAt, turn.now.wall)
    also()
  })
}
