/** Changes a job that has not started. */
import type { UpdateCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { ACTIVE, isFinal, STATES } from '../../lifecycle.ts'
import { active, finished, notFound } from '../refuse.ts'
import type { TurnContext } from '../turn.ts'
import { DIRTY_DATA } from './job.ts'
import { reschedule } from './reschedule.ts'
import { sayMore } from './said.ts'

export function update(turn: TurnContext, { id, changes }: UpdateCommand): Decision<'update'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (job.state === ACTIVE) return active(id, 'it can be updated before it starts or once it waits again')
  if (isFinal(job.state)) return finished(id, STATES[job.state], 'it can no longer be updated')
  reschedule(turn, job, () => {
    if (changes.priority !== undefined) job.priority = changes.priority
    if (changes.weight !== undefined) job.weight = changes.weight
    sayMore(turn, job, { priority: changes.priority, weight: changes.weight })
    if (changes.runAt !== undefined) job.runAt = Math.max(changes.runAt, turn.now.wall)
    if (changes.checkpoint !== undefined) job.checkpoint = changes.checkpoint
    if (changes.data !== undefined) {
      job.data = changes.data
      turn.effects.touch(job, DIRTY_DATA)
    }
  })
  return true
}
