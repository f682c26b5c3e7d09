/** Puts a waiting job in its place and takes it out: in its lane, or parked behind the backlog of its key. */

import type { Job } from '../records/job.ts'
import { isStrict, type KeyBacklog, keyTokensFor, mayEnter, tokensInLine } from '../records/keyBacklog.ts'
import { setDue } from '../state/due.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Lines up a job that has become waiting or has changed its place. This turn writes its row. */
export function enterLine(turn: TurnContext, job: Job): void {
  const { keys } = turn.tables
  const backlog = job.lane.queue.keys === undefined ? undefined : keys.backlogFor(job)
  const mayStand = backlog === undefined || (!isStrict(backlog) && mayEnter(backlog, turn.now.mono, job))
  if (backlog === undefined || (mayStand && backlog.parked === 0)) {
    standInLine(turn, job)
    return
  }
  turn.tables.park(job, backlog)
  noteParked(turn, job, backlog)
  // Jobs that were held back before it are let go before it.
  if (mayStand) keys.releasable.add(backlog)
}

/** Lets a parked job go: it lines up behind the jobs that wait by now. */
export function letGo(turn: TurnContext, job: Job): void {
  const { tables, effects, now } = turn
  effects.noteBacklog(job.parked as KeyBacklog)
  tables.unpark(job)
  setDue(turn, job, Math.max(job.runAt, now.wall))
  effects.touch(job)
}

export function standInLine({ tables }: TurnContext, job: Job): void {
  if (job.data === undefined) tables.lineFromDisk(job)
  else tables.line(job)
}

/** Takes a waiting job out of its place. Any other job is left as it is. */
export function leaveLine({ tables, effects }: TurnContext, job: Job): void {
  const { parked } = job
  if (parked === undefined) {
    tables.unline(job)
    return
  }
  tables.unpark(job)
  effects.noteBacklog(parked)
}

/** Parks a job that is in its lane's window and has to wait for its key. */
export function shelve(turn: TurnContext, job: Job, backlog: KeyBacklog): void {
  turn.tables.shelve(job, backlog)
  noteParked(turn, job, backlog)
}

function noteParked({ tables, effects, facts, now }: TurnContext, job: Job, backlog: KeyBacklog): void {
  if (isStrict(backlog)) tables.keys.turns.add(backlog.key)
  else tables.keys.awaitToken(backlog.key, now.mono, tokensInLine(backlog) + keyTokensFor(backlog.key, job))
  effects.touch(job)
  effects.noteBacklog(backlog)
  // The job has left the tables, but this is still the turn's one record of it.
  facts.add(job)
}
