/** Changes a job that has not started, and puts it where it then belongs: in line, or among the jobs that are not yet due. */

import { BLOCKED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { endTurn } from '../keys/strict.ts'
import { enterLine, leaveLine } from '../queues/line.ts'
import { DIRTY_OTHER, type Job } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { wake } from './results.ts'

export function reschedule(turn: TurnContext, job: Job, change: () => void): void {
  const { tables, effects, now } = turn
  leaveLine(turn, job)
  change()
  if (job.state === BLOCKED) {
    effects.touch(job, DIRTY_OTHER)
    return
  }
  if (job.extras !== undefined && job.runAt <= now.wall) wake(turn, job)
  effects.move(job, 'reschedule', job.runAt > now.wall ? SCHEDULED : WAITING)
  effects.event('updated', job, job.runAt)
  if (job.state === WAITING) enterLine(turn, job)
  else {
    tables.noteDue(job.runAt)
    if (job.run === 0) endTurn(turn, job)
  }
  // The job has left the tables, but this is still the turn's one record of it.
  turn.facts.add(job)
}
