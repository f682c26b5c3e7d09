/**
 * Applies limits on keys before jobs are handed out. A key has no more jobs of one name in line than may run; the rest are
 * parked. A job that is let go lines up behind the jobs that wait by then. So keys take turns, in rounds of as many jobs as may
 * run, however many jobs one of them has.
 */

import { LIMITS } from '../../limits.ts'
import { letGo, shelve, standInLine } from '../queues/line.ts'
import type { Job } from '../records/job.ts'
import { isStrict, type KeyBacklog, keyTokensFor, mayLine, roomOf, tokensInLine } from '../records/keyBacklog.ts'
import type { Lane } from '../records/lane.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { passTurns } from './strict.ts'

export function settleBacklogs(turn: TurnContext): void {
  const { overfilled, releasable } = turn.tables.keys
  fillBuckets(turn)
  if (overfilled.size > 0) {
    for (const lane of overfilled) thin(turn, lane)
    overfilled.clear()
  }
  if (releasable.size > 0) letMoreGo(turn)
  passTurns(turn)
}

/** Handles keys whose buckets have a token again or are full: a slice in this turn, the others in the next. */
function fillBuckets({ tables: { keys }, effects, now }: TurnContext): void {
  for (let left: number = LIMITS.sliceRows; left > 0; left--) {
    const key = keys.buckets.due(now.mono)
    if (key === undefined) return
    keys.lookAt(key)
    if (key.fullMono > now.mono) keys.buckets.later(key)
    else {
      effects.noteBucket(key)
      keys.forgetBucket(key)
    }
  }
}

/** Parks jobs from the disk if there are more of one key than may stand in line. */
function thin(turn: TurnContext, { window }: Lane): void {
  const { tables, now } = turn
  const seen = new Map<KeyBacklog, number>()
  const surplus: [Job, KeyBacklog][] = []
  for (let index = 0; index < window.size; index++) {
    const job = window.at(index) as Job
    const backlog = tables.keys.backlogOf(job)
    if (backlog === undefined) continue
    const before = (seen.get(backlog) ?? 0) + 1
    seen.set(backlog, before)
    if (before > roomOf(backlog.key, now.mono)) surplus.push([job, backlog])
  }
  for (const [job, backlog] of surplus) shelve(turn, job, backlog)
}

function letMoreGo(turn: TurnContext): void {
  const { tables, now } = turn
  let left: number = LIMITS.jobsPerTurn
  for (const backlog of tables.keys.releasable) {
    if (isStrict(backlog)) {
      tables.keys.turns.add(backlog.key)
      tables.keys.releasable.delete(backlog)
      continue
    }
    while (left > 0 && backlog.parked > 0 && mayLine(backlog, now.mono, backlog.window.first)) {
      const job = backlog.window.first
      if (job === undefined) {
        tables.keys.needRefill.add(backlog)
        break
      }
      left--
      letGo(turn, job)
      standInLine(turn, job)
    }
    // The next turn handles the rest.
    if (left === 0) return
    const { first } = backlog.window
    const tokens = first === undefined ? 1 : keyTokensFor(backlog.key, first)
    if (backlog.parked > 0) tables.keys.awaitToken(backlog.key, now.mono, tokensInLine(backlog) + tokens)
    tables.keys.releasable.delete(backlog)
  }
}
