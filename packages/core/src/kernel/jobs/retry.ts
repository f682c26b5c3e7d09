/** Runs failed or cancelled jobs again from their first attempt. A job that waits for its retry runs at once. */
import type { FailedPlace, RedriveCommand, RetryCommand } from '../../commands.ts'
import type { Decision, Refused } from '../../decision.ts'
import { ACTIVE, BLOCKED, CANCELLED, COMPLETED, FAILED, SCHEDULED, STATES, WAITING } from '../../lifecycle.ts'
import { enterLine } from '../queues/line.ts'
import { exclusiveKey } from '../records/exclusiveKey.ts'
import { COUNTER_OPEN, COUNTER_PENDING, endsWithParents, mayOpen } from '../records/flowState.ts'
import { awaitsMessage, isAsleep, type Job, waitsForRetry } from '../records/job.ts'
import { setDue } from '../state/due.ts'
import { type Facts, isDeleted } from '../state/facts.ts'
import { active, finished, messageAwaited, notFound, parentFailed, scheduled, uniqueConflict } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { forgetCancellation } from './cancel.ts'
import { openOncePropagated, setDependencies } from './dependencies.ts'
import { holdUnique } from './enqueue.ts'
import { addExplicit } from './explicitFields.ts'
import { failedLanes } from './gatherFailed.ts'
import { onRevive } from './hooks.ts'
import { reschedule } from './reschedule.ts'
import { forgetLost } from './results.ts'
import { rewind, rewindRefusal } from './rewind.ts'
import { settleRevived } from './settle.ts'

export function retry(turn: TurnContext, { id, from }: RetryCommand): Decision<'retry'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  switch (job.state) {
    case FAILED:
    case CANCELLED:
      return revive(turn, job, from) ?? true
    case SCHEDULED:
      if (awaitsMessage(job)) return messageAwaited(job)
      if (!mayResume(job)) return scheduled(id, isAsleep(job))
      return resume(turn, job, from, () => makeDue(turn, job))
    case WAITING:
    case BLOCKED:
      return resume(turn, job, from)
    case ACTIVE:
      return active(id, 'it can be retried once it has failed')
    case COMPLETED:
      return finished(id, STATES[job.state], 'there is nothing to retry; enqueue a new job')
  }
}

export function redrive(turn: TurnContext, command: RedriveCommand): Decision<'redrive'> {
  const failed = failedLanes(turn.tables, command).reduce((sum, { counts }) => sum + (counts[FAILED] as number), 0)
  let count = 0
  let next: FailedPlace | null = null
  for (const { job, finishedAt } of turn.facts.failed(command)) {
    next = { finishedAt, seq: job.seq }
    if (job.state === FAILED && !isDeleted(job) && revive(turn, job) === undefined) count++
  }
  return { count, next, failed }
}

/** Lets a job that will run anyway resume at an earlier place, if one is given. */
function resume(turn: TurnContext, job: Job, from: string | undefined, also: () => void = () => {}): Decision<'retry'> {
  const refused = from === undefined ? undefined : rewindRefusal(turn, job, from)
  if (refused !== undefined) return refused
  if (from !== undefined) rewind(turn, job, from)
  also()
  return true
}

/** True if a run of the job has failed, or has not fitted what it remembers, and it is tried again later. */
export function mayResume(job: Job): boolean {
  return waitsForRetry(job) || (job.state === SCHEDULED && job.extras?.steps?.changed !== undefined && !isAsleep(job))
}

export function makeDue(turn: TurnContext, job: Job): void {
  reschedule(turn, job, () => {
    setDue(turn, job, turn.now.wall)
  })
}

/**
 * Revives a job from its first attempt: every hand-out so far is uncounted. It is refused if another live job has its unique key
 * by now, if a job that it waits for has failed, or if it has several places to resume at. If one of those jobs is live, it waits
 * again. It resumes at its failed steps, or at `from`.
 */
export function revive(turn: TurnContext, job: Job, from?: string): Refused | undefined {
  const { effects, facts, now } = turn
  const counter = facts.dependencies(job.seq)
  if (isHeldByParents(facts, job)) return parentFailed(job)
  const nowhere = rewindRefusal(turn, job, from)
  if (nowhere !== undefined) return nowhere
  const held = exclusiveKey(job)
  if (held !== undefined) {
    const holder = facts.unique(held.name, held.key)
    if (holder !== undefined && holder.seq !== job.seq) return uniqueConflict(held.key, holder)
    holdUnique(turn, job, held)
  }
  // The job was final only within this turn, so its watchers keep waiting.
  if (job.dirty !== 0) effects.unsettle(job)
  job.uncounted = job.run
  setDue(turn, job, now.wall)
  job.finishedAt = 0
  job.cancelRequested = false
  job.dropped = false
  job.progress = null
  forgetCancellation(turn, job)
  forgetLost(turn, job)
  rewind(turn, job, from)
  settleRevived(turn, job)
  // A ttl applies only to the first start: no later definition gives the job one.
  job.expiresAt = 0
  addExplicit(turn, job, { ttl: 0 })
  // If the job was let through before, its parents may have come back too.
  const waits = counter !== undefined && (counter.pending > 0 || counter.state !== COUNTER_OPEN)
  effects.move(job, 'revive', waits ? BLOCKED : WAITING)
  effects.event('updated', job, waits ? undefined : job.runAt)
  onRevive(turn, job)
  if (waits) {
    setDependencies(turn, counter, COUNTER_PENDING)
    if (counter.pending === 0 || mayOpen(job, counter)) openOncePropagated(turn, job, counter)
    return undefined
  }
  facts.addArrival(job)
  enterLine(turn, job)
  return undefined
}

/** True if the job failed because one that it waits for failed. It comes back with that one. */
export function isHeldByParents(facts: Facts, job: Job): boolean {
  return endsWithParents(job) && (facts.dependencies(job.seq)?.failed ?? 0) > 0
}
