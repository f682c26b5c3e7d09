/** Writes which jobs a turn has finished: one row for each of its lanes and final states, so that a job costs a fraction of a byte. */
import type { StateCode } from '@millrace/core'
import { DIRTY_DELETE, type Job, type PrunedJob } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import type { PruneToken } from '../read/prunable.ts'
import { packRanges, rangesOf } from '../seqs.ts'

export interface WriteFinished {
  /** `turn` is the number of an event of this turn, and of no other. */
  note(settled: readonly Job[], at: number, turn: number): void
  /** Forgets the batches that retention has taken. */
  forget(tokens: readonly unknown[]): void
}

export interface FinishedBatch {
  readonly lane: PrunedJob['lane']
  readonly state: StateCode
  readonly seqs: number[]
}

/** More than the number of states. */
const STATES = 8

export function prepareFinished(db: Database): WriteFinished {
  const insert = db.prepare('INSERT INTO finished (queue, state, turn, lane, at, seqs) VALUES (?, ?, ?, ?, ?, ?)')
  const forget = db.prepare('DELETE FROM finished WHERE queue = ? AND state = ? AND (turn, lane) <= (?, ?)')
  const forgetBefore = db.prepare('DELETE FROM finished WHERE queue = ? AND state = ? AND (turn, lane) < (?, ?)')
  const keep = db.prepare('UPDATE finished SET seqs = ? WHERE queue = ? AND state = ? AND turn = ? AND lane = ?')

  return {
    note(settled, at, turn) {
      for (const { lane, state, seqs } of batchesOf(settled, at))
        insert.run(lane.queue.id, state, turn, lane.id, at, packRanges(rangesOf(seqs)))
    },
    forget(tokens) {
      for (const { queueId, state, turn, laneId, rest } of tokens as readonly PruneToken[]) {
        if (rest === undefined) forget.run(queueId, state, turn, laneId)
        else {
          forgetBefore.run(queueId, state, turn, laneId)
          keep.run(rest, queueId, state, turn, laneId)
        }
      }
    },
  }
}

/** Returns the jobs that a turn has finished and left there, by lane and state. */
export function batchesOf(settled: readonly Job[], at: number): Iterable<FinishedBatch> {
  const batches = new Map<number, FinishedBatch>()
  for (const { seq, lane, state, finishedAt, dirty } of settled) {
    // The turn that finished this job also brought it back or deleted it.
    if (finishedAt !== at || dirty & DIRTY_DELETE) continue
    const key = lane.id * STATES + state
    const batch = batches.get(key)
    if (batch === undefined) batches.set(key, { lane, state, seqs: [seq] })
    else batch.seqs.push(seq)
  }
  return batches.values()
}
