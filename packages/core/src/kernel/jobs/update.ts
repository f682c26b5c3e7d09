/** Changes a job: its tags and meta in any state, all else before it has started. */
import type { LabelChanges, PlaceChanges, UpdateCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { ACTIVE, isFinal, STATES } from '../../lifecycle.ts'
import { resolvePolicy } from '../../policy.ts'
import { DIRTY_DATA, DIRTY_PLACE, hasBegun, isAsleep, type Job } from '../records/job.ts'
import { setDue } from '../state/due.ts'
import { active, begun, finished, notFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { addExplicit } from './explicitFields.ts'
import { reschedule } from './reschedule.ts'

export function update(turn: TurnContext, { id, changes }: UpdateCommand): Decision<'update'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  if (isOfLabels(changes)) {
    changeLabels(turn, job, changes)
    return true
  }
  if (job.state === ACTIVE) return active(id, 'it can be updated before it starts or once it waits again')
  if (isAsleep(job)) return begun(id, 'its tags and meta can be updated until its wait is over')
  if (changes.data !== undefined && hasBegun(job))
    return begun(id, 'its results were made of the data that it has; retry it from its start, or cancel it and enqueue another')
  if (isFinal(job.state)) return finished(id, STATES[job.state], 'it can no longer be updated')
  change(turn, job, changes, () => {
    if (changes.checkpoint !== undefined) job.checkpoint = changes.checkpoint
    if (changes.data !== undefined) {
      job.data = changes.data
      turn.effects.touch(job, DIRTY_DATA)
    }
  })
  return true
}

/** Changes a job that has not started. @param also changes what is neither of its place nor of its labels */
export function change(turn: TurnContext, job: Job, changes: PlaceChanges & LabelChanges, also: () => void = () => {}): void {
  const { runAt, priority, weight, maxAttempts, timeout, backoff } = changes
  changeLabels(turn, job, changes)
  reschedule(turn, job, () => {
    if (priority !== undefined) job.priority = priority
    if (weight !== undefined) job.weight = weight
    if ((maxAttempts ?? timeout ?? backoff) !== undefined) {
      job.policy = resolvePolicy(changes, job.policy)
      turn.effects.touch(job, DIRTY_PLACE)
    }
    addExplicit(turn, job, changes)
    if (runAt !== undefined) setDue(turn, job, Math.max(runAt, turn.now.wall))
    also()
  })
}

/** True if nothing else changes. Then the job may be in any state, keeps its place, and no event says that it has moved. */
export function isOfLabels({ tags, meta, ...others }: LabelChanges): boolean {
  return (tags !== undefined || meta !== undefined) && Object.values(others).every((value) => value === undefined)
}

export function changeLabels({ effects }: TurnContext, job: Job, { tags, meta }: LabelChanges): void {
  if (tags === undefined && meta === undefined) return
  const { tags: before, meta: told, ...others } = job.extras ?? {}
  if (tags !== undefined) effects.retag(job, before ?? [])
  const [kept, noted] = [tags ?? before ?? [], meta ?? told]
  effects.changeExtras(job, { ...(kept.length > 0 && { tags: kept }), ...(noted !== undefined && { meta: noted }), ...others })
}
