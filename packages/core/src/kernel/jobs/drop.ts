/**
 * Makes room in queues that drop their oldest jobs. If as many jobs are yet to start as `maxLength` allows, each new job replaces
 * the oldest by arrival that is scheduled or waiting. Jobs that come back for a retry replace none.
 */

import { leaveLine } from '../queues/line.ts'
import type { Job } from '../records/job.ts'
import { lengthOf, type Queue } from '../records/lane.ts'
import type { TurnContext } from '../state/turnContext.ts'
import * as transition from './transitions.ts'

/** True if `wanted` new jobs of one call find room, or jobs to replace. */
export function mayMakeRoom({ facts }: TurnContext, queue: Queue, maxLength: number, wanted: number): boolean {
  const surplus = Math.min(wanted, lengthOf(queue) + wanted - maxLength)
  return surplus <= 0 || (wanted <= maxLength && facts.arrivals(queue).has(surplus))
}

/** Drops jobs after a call has created its own. Jobs from row `first` on stay. */
export function makeRoom(turn: TurnContext, first: number): void {
  const { fresh } = turn.facts
  for (const [queue, count] of fresh) {
    const { maxLength = Number.POSITIVE_INFINITY } = queue.settings
    for (let surplus = Math.min(count, lengthOf(queue) - maxLength); surplus > 0; surplus--) {
      const job = turn.facts.arrivals(queue).first(first)
      // A schedule's tick is not refused, so there may be no job to replace.
      if (job === undefined) break
      drop(turn, job)
    }
  }
  fresh.clear()
}

function drop(turn: TurnContext, job: Job): void {
  leaveLine(turn, job)
  job.dropped = true
  transition.cancel(turn, job, DROPPED.name)
}

/** The error of a dropped job. */
export const DROPPED = {
  name: 'JobDroppedError',
  message: 'the job was the oldest of a full queue, and gave its place to a new one',
} as const
