/** The counter of a job that waits for others. */

import { SCHEDULED, WAITING } from '../../lifecycle.ts'
import { enterLine } from '../queues/line.ts'
import { type COUNTER_FAILED, COUNTER_OPEN, type COUNTER_PENDING, type DependencyCounter, NOTIFY } from '../records/flowState.ts'
import type { Job } from '../records/job.ts'
import { setDue } from '../state/due.ts'
import type { TurnContext } from '../state/turnContext.ts'

/**
 * Opens the counter if it lets the job through as far as the job has heard. If a parent may be live again, the job is notified first: also one
 * that runs at a failure, as it may be the failed parent that lives again.
 */
export function openOncePropagated(turn: TurnContext, job: Job, counter: DependencyCounter): void {
  const { tables, facts, effects } = turn
  if (facts.flowBack || effects.flows.back) {
    effects.flows.note({ seq: counter.parent }, NOTIFY)
    tables.flowWork = true
  } else release(turn, job, counter)
}

/** Lets a job through; there is no other place that does. Its `delay` counts from here. */
function release(turn: TurnContext, job: Job, counter: DependencyCounter): void {
  const { tables, facts, effects, now } = turn
  setDependencies(turn, counter, COUNTER_OPEN)
  setDue(turn, job, Math.max(job.runAt, now.wall + (job.extras?.flow?.delay ?? 0)))
  const later = job.runAt > now.wall
  effects.move(job, 'release', later ? SCHEDULED : WAITING)
  effects.event('released', job, later ? job.runAt : undefined)
  facts.addArrival(job)
  if (later) tables.noteDue(job.runAt)
  else enterLine(turn, job)
}

export function setDependencies(
  { effects }: TurnContext,
  counter: DependencyCounter,
  state: typeof COUNTER_PENDING | typeof COUNTER_OPEN | typeof COUNTER_FAILED,
): void {
  counter.state = state
  effects.flows.changed.add(counter)
}
