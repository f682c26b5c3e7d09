/** Handles what time alone causes: lost workers, deadlines, leases, due jobs, expired jobs, timed pauses, and jobs kept long enough. */

import { ACTIVE, FAILED, isFinal, mayMove, SCHEDULED } from '../../lifecycle.ts'
import { outlive } from '../flows/flowEnds.ts'
import { abort } from '../jobs/abort.ts'
import { endAborted, endLost } from '../jobs/end.ts'
import { expireJob } from '../jobs/expire.ts'
import { promote } from '../jobs/promote.ts'
import { settleSlice } from '../jobs/settle.ts'
import { erase } from '../jobs/transitions.ts'
import { noteZombie } from '../jobs/zombies.ts'
import { endPauses } from '../queues/pause.ts'
import type { Job } from '../records/job.ts'
import type { PrunableRow } from '../records/rows.ts'
import { fireSchedules } from '../schedules/fire.ts'
import { lapse } from '../sessions/renew.ts'
import { isDeleted } from '../state/facts.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Runs after the turn's commands, so that timely messages precede any expiry. If more mail waits, time counts up to its arrival. */
export function fireTimers(turn: TurnContext): void {
  const { tables, facts, now, heardMono } = turn
  if (tables.abandoned.length > 0) recover(turn)
  if (facts.settling !== undefined) settleSlice(turn, facts.settling)
  for (let job = tables.deadlines.peek(); job !== undefined && job.deadlineMono <= heardMono; job = tables.deadlines.peek())
    overrun(turn, job)
  if (tables.leaseMono <= heardMono) lapse(turn)
  for (const job of facts.due) if (job.state === SCHEDULED && job.runAt <= now.wall && !isDeleted(job)) promote(turn, job)
  for (const job of facts.expired) {
    if (isDeleted(job)) continue
    if (mayMove('expire', job.state, FAILED) && job.expiresAt !== 0 && job.expiresAt <= now.wall) expireJob(turn, job)
  }
  const { nextAt } = tables.dispatchable.pauseEnds
  if (nextAt !== 0 && nextAt <= now.wall) endPauses(turn)
  if (facts.freedSchedules.length > 0 || facts.dueSchedules.length > 0) fireSchedules(turn)
  for (const { rows, token, own } of facts.prunable) {
    turn.effects.pruneTokens.push(token)
    for (const row of rows) prune(turn, row, own)
  }
}

/** Removes a finished job. If a command of this turn has touched it, its one record decides: it may be live, or have another end. */
function prune(turn: TurnContext, { seq, laneId, state, extras }: PrunableRow, own: boolean): void {
  const { tables, facts, effects } = turn
  const known = facts.job(seq)
  if (known !== undefined) {
    if (isFinal(known.state) && !isDeleted(known) && !effects.settled.includes(known)) erase(turn, known)
    return
  }
  const lane = tables.laneOf(laneId)
  outlive(turn, { seq, extras })
  if (own) effects.kept(lane.queue, state, -1)
  effects.count(lane, state, -1)
  effects.pruned.push({ seq, lane, extras })
}

/** Recovers jobs whose process was gone when the file was opened. */
function recover(turn: TurnContext): void {
  for (const job of turn.tables.abandoned) if (job.state === ACTIVE) endLost(turn, job)
  turn.tables.abandoned.length = 0
}

/** Handles the deadline of a run, or of the grace period after its abort. */
function overrun(turn: TurnContext, job: Job): void {
  if (job.abort === undefined && job.session !== undefined && job.session.intro.abortGrace > 0) {
    abort(turn, job, 'timeout')
    return
  }
  if (job.abort === undefined && job.session === undefined) {
    // The run's session never came back for it.
    endLost(turn, job)
    return
  }
  if (job.abort === undefined) job.abort = 'timeout'
  if (job.session !== undefined) turn.effects.notices.push({ session: job.session, job, run: job.run, note: { kind: 'lost' } })
  noteZombie(turn.tables, job)
  endAborted(turn, job)
}
