/** Jobs that failed or were cancelled run again from their first attempt; one that waits for its retry, at once. */
import type { FailedPlace, RedriveCommand, RetryCommand } from '../commands.ts'
import { BACK, CLOSED, OPEN } from '../flow.ts'
import { attemptOf, type Job } from '../job.ts'
import { ACTIVE, BLOCKED, CANCELLED, COMPLETED, FAILED, SCHEDULED, STATES, WAITING } from '../lifecycle.ts'
import type { Decision, Refused } from '../replies.ts'
import { holdUnique } from './enqueue.ts'
import { type Facts, isDeleted } from './facts.ts'
import { tellLater } from './flowEnds.ts'
import { openOnceTold, setGate } from './flowGate.ts'
import { failedLanes } from './gather.ts'
import { enterLine } from './line.ts'
import { active, finished, notFound, parentFailed, scheduled, uniqueConflict } from './refuse.ts'
import { reorder } from './reorder.ts'
import { sayMore } from './said.ts'
import { settleRevived } from './settle.ts'
import { exclusiveKey } from './shaping.ts'
import type { TurnContext } from './turn.ts'

export function retry(turn: TurnContext, { id }: RetryCommand): Decision<'retry'> {
  const job = turn.facts.find(id)
  if (job === undefined) return notFound(id)
  switch (job.state) {
    case FAILED:
    case CANCELLED:
      return revive(turn, job) ?? true
    case SCHEDULED:
      if (!waitsForRetry(job)) return scheduled(id)
      makeDue(turn, job)
      return true
    case WAITING:
    case BLOCKED:
      return true
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

/** False for a job that is scheduled because somebody wanted so: no attempt of it has failed. */
export function waitsForRetry(job: Job): boolean {
  return job.state === SCHEDULED && attemptOf(job) > 0
}

export function makeDue(turn: TurnContext, job: Job): void {
  reorder(turn, job, () => {
    job.runAt = turn.now.wall
  })
}

/**
 * From the first attempt: every hand-out so far is uncounted. Refused where another live job has its unique key by now, or where one
 * that it waits for has failed; where one lives, it waits again.
 */
export function revive(turn: TurnContext, job: Job): Refused | undefined {
  const { effects, facts, now } = turn
  const gate = facts.gate(job.seq)
  if (isHeldByParents(facts, job)) return parentFailed(job)
  const held = exclusiveKey(job)
  if (held !== undefined) {
    const holder = facts.unique(held.name, held.key)
    if (holder !== undefined && holder.seq !== job.seq) return uniqueConflict(held.key, holder)
    holdUnique(turn, job, held)
  }
  // Final within this turn alone: its watchers wait on.
  if (job.touched !== 0) effects.unsettle(job)
  job.uncounted = job.run
  job.runAt = now.wall
  job.finishedAt = 0
  job.cancelRequested = false
  job.dropped = false
  job.progress = null
  settleRevived(turn, job)
  // A ttl is for the first start alone: no definition that is yet to come gives it one.
  job.expiresAt = 0
  sayMore(turn, job, { ttl: 0 })
  // Of a job that was let through before, its parents may have come back too.
  const waits = gate !== undefined && (gate.pending > 0 || gate.state !== OPEN)
  effects.move(job, 'revive', waits ? BLOCKED : WAITING)
  effects.event('updated', job, waits ? undefined : job.runAt)
  tellLater(turn, job, BACK)
  if (waits) {
    setGate(turn, gate, CLOSED)
    if (gate.pending === 0) openOnceTold(turn, job, gate)
    return undefined
  }
  facts.addArrival(job)
  enterLine(turn, job)
  return undefined
}

/** A job that failed because one that it waits for has: it comes back with that one. */
export function isHeldByParents(facts: Facts, { seq, extras }: Job): boolean {
  return extras?.flow?.onFailure === 'fail' && (facts.gate(seq)?.failed ?? 0) > 0
}
